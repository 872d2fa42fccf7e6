import math

import pytest

from argus.generative.failures.measures.scoring import scoring
from tests.generative.failures.measures.making import found, made

SHARES = ("unigram_score_share", "title_score_share", "query_score_share")
KEYS = ("keys_correct", "keys_wrong", "keys_shared")
WEIGHTS = ("weight_correct", "weight_wrong", "weight_shared")
LENGTH = ("length_ngrams", "length_weight", "length_counted", "length_log_frequency")


def figures(case, names, k=10):
    row = scoring(case, k)
    return [row[name] for name in names]


def test_dominance_and_shares_of_the_first_passage_by_hand():
    # Sum 2 + 3 + 1 + 4 = 10; heaviest 4; unigram "a" 2, title 3, pseudo-query 1.
    keys = {"a": 2, "</s> rome": 3, "|| who": 1, "b c": 4}
    case = made(found(None, keys), found(None, {"a": 100}))
    assert figures(case, ("dominance", *SHARES)) == [0.4, 0.2, 0.3, 0.1]


def test_where_nothing_weighs_anything_there_are_no_shares():
    case = made(found(None, {"a": 0, "</s> b": 0}))
    assert figures(case, ("dominance", *SHARES)) == [None] * 4
    assert figures(case, ["ngrams_first"]) == [2]


def test_a_weight_below_0_leaves_no_shares():
    case = made(found(None, {"a": 3, "b": -1}))
    assert figures(case, ("dominance", *SHARES)) == [None] * 4


def test_n_grams_count_once_for_every_passage():
    case = made(
        found(None, {"a": 2, "</s> rome": 3, "|| who": 1, "|| what": 1}),
        found(None, {"a": 2, "|| who": 1}),
        found(None, None),
    )
    # 4 + 2 in all, one title, 2 + 1 pseudo-queries, whatever k.
    names = ["ngrams_all", "title_ngrams_all", "query_ngrams_all"]
    assert figures(case, names, k=1) == [6, 1, 3]
    assert figures(case, ["ngrams_first", "query_ngrams_first"]) == [4, 2]


def test_diversity_by_hand():
    # rome, rome, tiber, at, rome: 3 different of 5.
    case = made(found(None, {"</s> rome": 1, "rome tiber": 1, "at rome": 1}))
    assert figures(case, ["diversity"]) == [0.6]


def test_n_grams_without_tokens_have_no_diversity_and_no_length():
    case = made(found(None, {"...": 2}))
    assert figures(case, ["diversity", "length_ngrams"]) == [None, [0] * 11]


@pytest.mark.parametrize(
    "titles, k, most",
    [
        (["T", "U", "T", "T"], 10, 3),
        (["T", "U", "T", "T"], 2, 1),
        (["", "", "T"], 10, 1),
        (["", ""], 10, None),
        ([], 10, None),
    ],
)
def test_the_most_frequent_title_among_the_first_k(titles, k, most):
    case = made(*[found(None, title=title) for title in titles])
    assert figures(case, ["title_repetition"], k) == [most]


def test_table_17_by_hand():
    # First 2 passages: a only correct, b and d only wrong, c in both: 1/4, 2/4, 1/4.
    # Weights: a 4; b and d (2 + 6) / 2 = 4; c (1 + 3) / 2 = 2.
    case = made(
        found(True, {"a": 4, "c": 1}),
        found(False, {"b": 2, "c": 3, "d": 6}),
        found(True, {"b": 100}),
        positives=2,
    )
    assert figures(case, KEYS, 2) == [0.25, 0.5, 0.25]
    assert figures(case, WEIGHTS, 2) == [4, 4, 2]


def test_a_mean_weight_counts_an_ngram_in_every_passage():
    # a weighs 1 and 2, b weighs 6: (1 + 2 + 6) / 3 = 3; of n-grams alone it would be 3.75.
    case = made(found(False, {"a": 1}), found(False, {"a": 2, "b": 6}), positives=1)
    assert figures(case, KEYS) == [0, 1, 0]
    assert figures(case, WEIGHTS) == [None, 3, None]


def test_table_17_needs_judgements():
    assert figures(made(found(None, {"a": 1})), KEYS + WEIGHTS) == [None] * 6


def test_lengths_by_hand():
    # Lengths 1, 2, 11, 12, over two passages; "a b" is in both. log10: 2, 3 + 3, unknown, of 0.
    eleven, twelve = (" ".join("abcdefghijkl"[:n]) for n in (11, 12))
    case = made(
        found(None, {"a": 1, "a b": 2, eleven: 4}),
        found(None, {"a b": 8, twelve: 16}),
        found(None, {"a": 1000}),
        counts={"a": 100, "a b": 1000, eleven: None, twelve: 0},
    )
    nine = [0] * 8
    assert figures(case, LENGTH, 2) == [
        [1, 2, *nine, 2],
        [1, 10, *nine, 20],
        [1, 2, *nine, 0],
        [pytest.approx(2), pytest.approx(6), *nine, 0],
    ]


def test_lengths_are_plain_numbers_of_the_columns_kinds():
    row = scoring(made(found(None, {"a": 1}), counts={"a": 7}), 10)
    kinds = [type(row[name][0]) for name in LENGTH]
    assert kinds == [int, float, int, float]
    assert row["length_log_frequency"][0] == pytest.approx(math.log10(7))


@pytest.mark.parametrize("passages", [[], [found(True)], [found(True, {})]])
def test_without_n_grams_only_titles_apply(passages):
    row = scoring(made(*passages, positives=1), 10)
    assert len(row) == 21
    assert set(row.values()) == {None}


def test_passages_below_a_first_without_ngrams_count():
    case = made(found(True), found(False, {"a": 2}), positives=1)
    row = scoring(case, 10)
    assert (row["ngrams_all"], row["ngrams_first"], row["dominance"]) == (1, None, None)
    assert (row["keys_wrong"], row["weight_wrong"]) == (1, 2)
    assert figures(case, (*KEYS, *LENGTH), k=1) == [None] * 7
