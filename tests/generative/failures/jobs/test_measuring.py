"""Records are measured the same by one process and by several, in any order of questions."""

from __future__ import annotations

import random

import pytest

from argus.generative.failures.measuring import BLOCK, Setup, measure_output
from argus.generative.failures.outputs import Output
from argus.generative.failures.reading import Problem
from tests.support.failures import passage, record, write_output

SETUP = Setup(k=10, correct="annotated")


def many(n):
    """Return n questions whose passages and n-grams differ."""
    chosen = random.Random(0)
    found = []
    for i in range(n):
        keys = [[f" w{chosen.randrange(9)} x", chosen.randrange(1, 99), 0.5 + j] for j in range(4)]
        passages = [passage(f"p{j}", *keys[j:], title=f"T{j % 2}") for j in range(3)]
        found.append(record(f"q{i}", *passages, positives=(f"p{i % 4}",)))
    return found


@pytest.mark.slow
def test_two_processes_measure_what_one_does_in_the_same_order(tmp_path):
    file = write_output(tmp_path / "a.json", [*many(BLOCK * 2 + 3), {"no": "question"}])
    alone, shared = (measure_output(Output("a", file), SETUP, workers) for workers in (1, 2))
    assert len(alone.rows) == BLOCK * 2 + 3
    assert alone.rows == shared.rows
    assert alone.problems.listed() == shared.problems.listed()
    assert alone.problems.counts[Problem.RECORDS] == 1
