import dataclasses

import pytest

from argus.generative.failures.measures.quality import quality
from tests.generative.failures.measures.making import found, made


def test_r_precision_and_hits_by_hand():
    # R = 3 positives; of the first 3 passages the second and third are correct: 2/3.
    # The first is wrong, one of the first 2 is correct; second correct: NP.
    case = made(*map(found, [False, True, True, True]), positives=3)
    assert quality(case, 2) == {
        "positives": 3,
        "r_precision": 2 / 3,
        "hit_1": 0,
        "hit_k": 1,
        "first_correct": 2,
        "outcome": "NP",
        "answer_hit_1": None,
        "answer_hit_k": None,
    }


def test_the_first_correct_passage_is_looked_for_beyond_k():
    figures = quality(made(*map(found, [False, False, False, True]), positives=1), 2)
    assert (figures["hit_k"], figures["first_correct"]) == (0, 4)


def test_fewer_passages_than_positives_cost_r_precision():
    # 2 correct passages of R = 8.
    figures = quality(made(found(True), found(True), positives=8), 10)
    assert figures["r_precision"] == 0.25


@pytest.mark.parametrize(
    "correct, outcome",
    [
        ([True, True, False], "PP"),
        ([True, False], "PN"),
        ([False, True], "NP"),
        ([False, False, True], "NN"),
        ([True], "PN"),
        ([False], "NN"),
        ([], "NN"),
    ],
)
def test_a_missing_passage_counts_as_wrong_in_the_outcome(correct, outcome):
    assert quality(made(*map(found, correct), positives=1), 10)["outcome"] == outcome


def test_a_search_that_finds_nothing_misses():
    figures = quality(made(positives=2, answers=["x"]), 10)
    assert [figures[name] for name in ("r_precision", "hit_1", "hit_k")] == [0, 0, 0]
    assert [figures[name] for name in ("answer_hit_1", "answer_hit_k")] == [0, 0]
    assert figures["first_correct"] is None


def test_an_empty_list_misses_where_answers_decide():
    nothing = dataclasses.replace(made(answers=["x"]), by_answer=True)
    figures = quality(nothing, 10)
    assert [figures[name] for name in ("hit_1", "hit_k", "outcome")] == [0, 0, "NN"]
    assert (figures["r_precision"], figures["first_correct"]) == (None, None)
    unknown = dataclasses.replace(made(), by_answer=True)
    assert quality(unknown, 10)["hit_1"] is None


@pytest.mark.parametrize("positives", [None, 0])
def test_without_positives_nothing_but_the_answer_applies(positives):
    case = made(found(None, text="It is Rome."), positives=positives, answers=["rome"])
    figures = quality(case, 10)
    assert (figures.pop("answer_hit_1"), figures.pop("answer_hit_k")) == (1, 1)
    assert set(figures.values()) == {None}


def test_correctness_by_answers_has_hits_but_no_r_precision():
    figures = quality(made(found(False), found(True)), 10)
    assert (figures["hit_1"], figures["hit_k"], figures["first_correct"]) == (0, 1, 2)
    assert (figures["positives"], figures["r_precision"]) == (None, None)


def test_an_answer_is_looked_for_in_the_first_k_texts_as_words():
    # "new york" stands in the second text whatever its case; "York, new" is another order.
    texts = ["York, new to me", "In NEW-YORK?", "new york"]
    case = made(*[found(None, text=text) for text in texts], answers=["New York"])
    assert [quality(case, k)["answer_hit_k"] for k in (1, 2)] == [0, 1]
    assert quality(case, 2)["answer_hit_1"] == 0


def test_the_title_of_a_passage_holds_no_answer():
    assert quality(made(found(None, title="Rome"), answers=["Rome"]), 1)["answer_hit_1"] == 0


@pytest.mark.parametrize("answers", [[], [""], ["?!"]])
def test_an_answer_without_a_word_is_none(answers):
    figures = quality(made(found(None, text="?!"), answers=answers), 10)
    assert (figures["answer_hit_1"], figures["answer_hit_k"]) == (None, None)
