import pytest

from argus.evaluation.implicitness import content_words, is_implicit, names_something, overlap


def test_content_words_split_names_and_leave_out_stop_words():
    assert content_words("What is the os.path.commonPrefix of these?") == {
        "os", "path", "common", "prefix",
    }  # fmt: skip


def test_words_of_other_alphabets_count():
    assert content_words("Über die Brücke nach Köln") == {"über", "die", "brücke", "nach", "köln"}
    assert not is_implicit("где находится Москва", ["Москва"])


@pytest.mark.parametrize(
    ("question", "names", "implicit"),
    [
        ("Who founded Lotharingia?", ["Teutberga"], True),
        ("When did Teutberga die?", ["Teutberga"], False),
        ("sorting numbers", ["sorted"], False),
        ("a car", ["carpet"], True),
        ("cart", ["cartoon"], False),
        ("the of", ["the of"], True),
    ],
)
def test_a_question_is_implicit_when_it_shares_no_content_word(question, names, implicit):
    assert is_implicit(question, names) is implicit


def test_a_title_without_words_names_nothing():
    assert not names_something(["1984", "The The"])
    assert names_something(["1984", "Brazil"])


def test_overlap_is_that_of_the_best_text_and_unknown_without_words_or_texts():
    assert overlap("red apple pie", ["a red car", "apple pie recipe"]) == pytest.approx(2 / 3)
    assert overlap("red", []) is None
    assert overlap("what is it", ["red"]) is None
