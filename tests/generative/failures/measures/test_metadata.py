import pytest

from argus.generative.failures.measures.metadata import metadata
from tests.generative.failures.measures.making import found, made

SCORES = ("score_all", "score_title", "score_query")
CORRECT = ("score_correct", "score_title_correct", "score_query_correct")
GAINS = ("answer_title_gain", "answer_title_gain_correct")
TITLES = ("title_score_correct", "title_score_wrong")


def figures(case, names):
    row = metadata(case)
    return [row[name] for name in names]


def test_scores_are_summed_over_all_passages_whatever_k():
    # all: 4 + 1 + 2 + 3 + 5 = 15; titles 4 + 3 = 7; queries 2. Correct: the second, 3 + 5.
    case = made(
        found(False, {"</s> rome": 4, "tiber": 1, "|| who": 2}),
        found(True, {"</s> rome": 3, "tiber": 5}),
        found(False, None),
        found(False, {}),
        positives=1,
    )
    assert figures(case, SCORES) == [15, 7, 2]
    assert figures(case, CORRECT) == [8, 3, 0]


def test_without_a_correct_passage_scores_over_all_apply():
    wrong = made(found(False, {"</s> rome": 4}), positives=1)
    unjudged = made(found(None, {"</s> rome": 4}))
    assert figures(wrong, SCORES) == figures(unjudged, SCORES) == [4, 4, 0]
    assert figures(wrong, CORRECT) == figures(unjudged, CORRECT) == [None] * 3


def test_a_correct_passage_without_n_grams_has_no_score():
    case = made(found(True, None), found(True, {}), found(False, {"a": 1}), positives=1)
    assert figures(case, CORRECT) == [None] * 3


@pytest.mark.parametrize("passages", [[], [found(True)], [found(True, {})]])
def test_without_n_grams_nothing_applies(passages):
    row = metadata(made(*passages, positives=1, answers=["rome"]))
    assert len(row) == 10
    assert set(row.values()) == {None}


def test_weights_of_nothing_are_a_score_of_0():
    assert figures(made(found(True, {"</s> a": 0, "b": 0}), positives=1), SCORES) == [0, 0, 0]


def test_the_gain_of_an_answer_as_title_by_hand():
    # First: 12 / 3 - 1 = 3. Second (correct): 4 / 2 - 1 = 1. Mean 2; over correct ones 1.
    case = made(
        found(False, {"</s> Rome": 12, "rome": 3, "tiber": 9}),
        found(True, {"</s> Rome": 4, "|| rome": 2}),
        found(True, {"</s> Rome": 4, "tiber": 2}),
        positives=1,
        answers=["ROME"],
    )
    assert figures(case, GAINS) == [2, 1]


def test_only_an_n_gram_that_is_the_whole_answer_gains():
    case = made(found(True, {"</s> rome": 8, "in rome": 2}), positives=1, answers=["rome"])
    assert figures(case, GAINS) == [None, None]


def test_title_and_other_must_be_the_same_answer():
    case = made(
        found(True, {"</s> paul": 8, "apostle": 2}), positives=1, answers=["paul", "apostle"]
    )
    assert figures(case, GAINS) == [None, None]


def test_of_several_n_grams_of_an_answer_the_heaviest_count():
    # "Rome", "rome." and "rome!" are one answer: 10 / 5 - 1 = 1.
    keys = {"</s> Rome": 6, "</s> rome.": 10, "rome": 1, "rome!": 5, "|| rome": 2}
    assert figures(made(found(None, keys), answers=["rome"]), GAINS) == [1, None]


def test_of_several_answers_the_heaviest_title_counts():
    # rome: 4 / 1; paris: 6 / 2 - 1 = 2, and 6 > 4.
    keys = {"</s> rome": 4, "rome": 1, "</s> paris": 6, "paris": 2}
    assert figures(made(found(None, keys), answers=["rome", "paris"]), GAINS) == [2, None]


def test_where_the_other_weighs_nothing_there_is_no_ratio():
    rome = {"</s> rome": 9, "rome": 0}
    assert figures(made(found(None, rome), answers=["rome"]), GAINS) == [None, None]
    # Of two answers, the one that has a ratio: 2 / 2 - 1 = 0.
    both = rome | {"</s> paris": 2, "paris": 2}
    assert figures(made(found(None, both), answers=["rome", "paris"]), GAINS) == [0, None]


def test_there_is_no_ratio_to_a_negligible_weight():
    rome = {"</s> rome": 1e90, "rome": 1e-300}
    assert figures(made(found(None, rome), answers=["rome"]), GAINS) == [None, None]
    least = {"</s> rome": 1e12, "rome": 1.0}
    assert figures(made(found(None, least), answers=["rome"]), GAINS) == [1e12 - 1, None]
    below = {"</s> rome": 1e12, "rome": 0.99, "</s> paris": 3.0, "paris": 1.0}
    assert figures(made(found(None, below), answers=["rome", "paris"]), GAINS) == [2, None]


def test_a_title_that_weighs_nothing_gains_minus_1():
    case = made(found(None, {"</s> rome": 0, "rome": 2}), answers=["rome"])
    assert figures(case, GAINS) == [-1, None]


@pytest.mark.parametrize("keys", [{"</s> rome": -0.5, "rome": 2}, {"</s> rome": 2, "rome": -0.5}])
def test_a_weight_below_0_gains_nothing(keys):
    assert figures(made(found(None, keys), answers=["rome"]), GAINS) == [None, None]


def test_title_scores_are_means_over_passages_with_a_title():
    # Correct: (2 + 4) and 8 make 7; wrong: 3; the one without a title counts nowhere.
    case = made(
        found(True, {"</s> rome": 2, "</s> rome city": 4, "a": 9}),
        found(True, {"</s> rome": 8}),
        found(False, {"</s> paris": 3}),
        found(False, {"a": 9}),
        positives=2,
    )
    assert figures(case, TITLES) == [7, 3]


def test_title_scores_need_titles_and_judgements():
    assert figures(made(found(None, {"</s> rome": 2})), TITLES) == [None, None]
    assert figures(made(found(False, {"a": 2}), positives=1), TITLES) == [None, None]
    assert figures(made(found(False, {"</s> a": 2}), positives=1), TITLES) == [None, 2]
