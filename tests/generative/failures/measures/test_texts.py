import pytest

from argus.generative.failures.measures.texts import texts
from tests.generative.failures.measures.making import found, made


def figures(question, positives, answers=()):
    row = texts(made(question=question, positives=positives, answers=answers))
    return tuple(row[name] for name in ("gold_holds_answer", "gold_terms", "gold_adjacent"))


def test_terms_are_those_of_the_positive_that_has_most():
    # Content words: river, flows, rome. First text: rome; second: river, rome; never all three.
    found = figures("Which river flows in Rome?", ["Rome, Rome.", "The river at Rome"], ["tiber"])
    assert found == (0, 2, 1)  # "at" stands between and is a stop word


def test_terms_that_are_never_neighbours_fail_contiguity():
    assert figures("river of Rome", ["The river near old Rome"]) == (None, 2, 0)


def test_neighbours_must_be_two_different_terms():
    assert figures("river of Rome", ["Rome! Rome, a long river"]) == (None, 2, 0)


def test_neighbours_may_be_in_another_positive():
    question = "long river of Rome"
    assert figures(question, ["rome x long x river", "x river rome"]) == (None, 3, 1)


def test_terms_of_a_title_are_terms_of_its_positive():
    lothair = ("Lothair II", "He was buried at Piacenza.")
    assert figures("where is Lothair buried", [lothair]) == (None, 2, 0)
    assert figures("who was Lothair", [("Lothair II", "He was a king.")]) == (None, 1, None)
    assert figures("who was Lothair the king", [("Lothair II", "He was a king.")]) == (None, 2, 0)


def test_neighbours_in_a_title_are_neighbours():
    assert figures("river of Rome", [("The river of Rome", "The Tiber.")]) == (None, 2, 1)


def test_the_ends_of_title_and_text_are_no_neighbours():
    assert figures("river of Rome", [("The river", "Rome has one.")]) == (None, 2, 0)


def test_an_answer_in_a_title_is_not_in_the_text():
    assert figures("river of Rome", [("Tiber", "A river.")], ["tiber"]) == (0, 1, None)


def test_a_title_alone_is_no_positive_whose_text_is_known():
    assert figures("river of Rome", [("Rome", None)], ["rome"]) == (None, None, None)


def test_below_two_terms_nothing_can_be_adjacent():
    assert figures("river of Rome", ["Rome", "the river"]) == (None, 1, None)
    assert figures("river of Rome", ["nothing"]) == (None, 0, None)


def test_a_question_of_stop_words_has_no_terms():
    assert figures("who was it", ["it was who"], ["who"]) == (1, None, None)


def test_any_answer_in_any_positive_counts():
    assert figures("q", ["x", "On the river Tiber"], ["y", "TIBER"])[0] == 1


@pytest.mark.parametrize("positives", [None, 0, [None, None]])
def test_without_texts_of_positives_nothing_applies(positives):
    assert figures("river of Rome", positives, ["tiber"]) == (None, None, None)


def test_positives_whose_text_is_not_known_are_passed_over():
    assert figures("river of Rome", [None, "Tiber, river of Rome"], ["tiber"]) == (1, 2, 1)


def test_texts_of_passages_are_not_those_of_positives():
    case = made(found(True, text="river Rome"), question="river of Rome", positives=1)
    assert set(texts(case).values()) == {None}
