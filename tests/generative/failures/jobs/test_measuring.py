"""Records are measured the same by one process and by several."""

import pytest

from argus.generative.failures.measures import BLOCK, Setup, measure_output
from argus.generative.failures.reading import Output, Problem
from tests.support.failures import two_of_three, write_output


@pytest.mark.slow
def test_two_processes_measure_what_one_does_in_the_same_order(tmp_path):
    records = [{**one, "id": f"{one['id']}{i}"} for i in range(BLOCK) for one in two_of_three()]
    file = write_output(tmp_path / "a.json", [*records, {"no": "question"}])
    setup = Setup(k=10, correct="annotated")
    alone, shared = (measure_output(Output("a", file), setup, workers) for workers in (1, 2))
    assert len(alone.rows) == BLOCK * 3
    assert alone.rows == shared.rows
    assert alone.problems.listed() == shared.problems.listed()
    assert alone.problems.counts[Problem.RECORDS] == 1
