"""What duplicate questions and equal gold texts allow, by hand and by trying every list."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.judging import ceilings
from argus.authority.records import Record


def benchmark(texts: str, *questions: tuple[str, str]) -> Benchmark:
    """Return documents d0, d1, ... of these texts, and questions of text and gold."""
    records = [Record(f"d{i}", "note", text=text) for i, text in enumerate(texts)]
    several = [
        Question(f"q{i}", text, (gold,), (gold,), (gold,))
        for i, (text, gold) in enumerate(questions)
    ]
    return Benchmark("tiny", records, several, ())


DOCUMENTS = st.text("abc", min_size=3, max_size=5)


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.data(), st.integers(1, 3))
def test_both_is_the_best_that_any_ranker_by_text_reaches(texts, data, k):
    golds = st.integers(0, len(texts) - 1).map(lambda i: f"d{i}")
    asked = data.draw(st.lists(st.tuples(st.sampled_from("xy"), golds), min_size=1, max_size=5))
    made = benchmark(texts, *asked)
    best = sum(_best(texts, [g for t, g in asked if t == text], k) for text in "xy")
    assert ceilings(made, k)[0]["both"] == pytest.approx(best / len(asked))


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
