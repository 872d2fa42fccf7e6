"""What must hold for every question, and the fast measures against plain ones."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.generative.failures.measures import measure
from argus.generative.failures.reading import Keys
from tests.generative.failures.measures import plain_measures
from tests.generative.failures.measures.making import cases

KS = st.integers(1, 7)
SHARES = (
    "r_precision", "hit_1", "hit_k", "answer_hit_1", "answer_hit_k", "unigram_share", "overlap",
    "answer_ngram_1", "answer_ngram_k", "dominance", "unigram_score_share", "title_score_share",
    "query_score_share", "diversity", "keys_correct", "keys_wrong", "keys_shared",
    "gold_holds_answer", "gold_adjacent",
)  # fmt: skip


def close(value):
    """Return what equals a figure up to rounding; what is no number must be the same."""
    if value is None or isinstance(value, str):
        return value
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def numbers(row):
    for value in row.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, int | float):
                yield one


@given(cases(), KS)
def test_figures_of_a_question_agree_with_each_other(case, k):
    row, more = measure(case, k), measure(case, k + 1)
    assert all(row[name] is None or 0 <= row[name] <= 1 for name in SHARES)
    assert all(math.isfinite(one) for one in numbers(row))
    shares = [row[name] for name in row if name.endswith("_score_share")]
    assert shares == [None] * 3 or sum(shares) <= 1 + 1e-12
    for name in ("hit", "answer_hit", "answer_ngram"):
        first, kth, next_ = row[f"{name}_1"], row[f"{name}_k"], more[f"{name}_k"]
        assert first is None or first <= kth
        assert kth is None or kth <= next_
    if not case.judged:
        assert {row[name] for name in ("hit_1", "hit_k", "first_correct", "outcome")} == {None}
        return
    rank = row["first_correct"]
    assert row["hit_1"] == (rank == 1) == (row["outcome"][0] == "P")
    assert row["hit_k"] == (rank is not None and rank <= k)
    if row["answer_outcome"] is not None:
        assert (row["answer_outcome"] == "hit") == row["hit_k"]
        found = not row["hit_k"] and row["answer_hit_k"]
        assert (row["answer_outcome"] == "unannotated") == bool(found)
        assert (row["answer_rank"] is not None) == bool(found)


@given(cases(), KS, st.randoms(use_true_random=False))
def test_the_order_of_n_grams_within_a_question_changes_nothing(case, k, random):
    order = random.sample(range(len(case.ngrams)), len(case.ngrams))  # new place -> old place
    place = np.argsort(order).astype(np.int64)
    passages = tuple(
        dataclasses.replace(p, keys=p.keys and Keys(place[p.keys.ngrams], p.keys.weights))
        for p in case.passages
    )
    ngrams = tuple(case.ngrams[old] for old in order)
    row = measure(case, k)
    again = measure(dataclasses.replace(case, passages=passages, ngrams=ngrams), k)
    for name, value in row.items():
        assert again[name] == close(value), name


@given(cases(), KS)
def test_scoring_and_metadata_agree_with_the_plain_reference(case, k):
    row = measure(case, k)
    plain = plain_measures.scores(case) | plain_measures.gains(case)
    plain |= plain_measures.title_scores(case) | plain_measures.table_17(case, k)
    for name, value in plain.items():
        assert row[name] == close(value), name
