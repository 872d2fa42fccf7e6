"""What duplicate questions and equal gold texts allow, by hand and by trying every list."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.benchmarks.ceilings import ceilings
from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.records import Record


def benchmark(texts: str, *questions: tuple[str, str]) -> Benchmark:
    """Return documents d0, d1, ... of these texts, and questions of text and gold."""
    records = [Record(f"d{i}", "note", text=text) for i, text in enumerate(texts)]
    several = [
        Question(f"q{i}", text, (gold,), (gold,), (gold,))
        for i, (text, gold) in enumerate(questions)
    ]
    return Benchmark("tiny", records, several, ())


def test_nothing_stands_against_distinct_questions_and_texts():
    limits = ceilings(benchmark("abc", ("x", "d0"), ("y", "d1")), 1)
    assert limits.figures["both"] == 1.0
    assert limits.decidable == {"q0", "q1"}


def test_duplicate_questions_share_one_list():
    asked = [("x", "d0"), ("x", "d1"), ("x", "d1"), ("y", "d2")]
    limits = ceilings(benchmark("abc", *asked), 1)
    assert limits.figures["duplicate_questions"] == limits.figures["both"] == 0.75
    assert limits.figures["equal_gold_texts"] == 1.0
    assert limits.figures["questions_with_duplicates"] == 3
    assert limits.decidable == {"q3"}
    assert ceilings(benchmark("abc", *asked), 2).figures["both"] == 1.0


def test_of_equal_texts_k_are_served_by_chance():
    asked = [("x", "d0"), ("y", "d1"), ("z", "d3")]
    limits = ceilings(benchmark("aaab", *asked), 2)
    assert limits.figures["equal_gold_texts"] == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert limits.figures["duplicate_questions"] == 1.0
    assert (limits.figures["questions_with_equal_gold"], limits.figures["decidable"]) == (2, 1)


DOCUMENTS = st.text("abc", min_size=3, max_size=5)


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.data(), st.integers(1, 3))
def test_both_is_the_best_that_any_ranker_by_text_reaches(texts, data, k):
    golds = st.integers(0, len(texts) - 1).map(lambda i: f"d{i}")
    asked = data.draw(st.lists(st.tuples(st.sampled_from("xy"), golds), min_size=1, max_size=5))
    made = benchmark(texts, *asked)
    best = sum(_best(texts, [g for t, g in asked if t == text], k) for text in "xy")
    assert ceilings(made, k).figures["both"] == pytest.approx(best / len(asked))


def _best(texts: str, golds: list[str], k: int) -> float:
    """The most hits of k places, over all choices of kinds and all ways to break their ties."""
    n, best = len(texts), 0.0
    kinds = {f"d{i}": text for i, text in enumerate(texts)}
    for places in {tuple(sorted(texts[i] for i in c)) for c in combinations(range(n), min(k, n))}:
        ways = [
            p for p in permutations(kinds, len(places)) if [kinds[d] for d in p] == list(places)
        ]
        best = max(best, sum(gold in way for way in ways for gold in golds) / len(ways))
    return best
