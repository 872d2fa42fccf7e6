"""Read questions, draw a random sample, and estimate rates from grades."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.traffic.sampling import (
    ServedQuestion,
    draw_sample,
    estimate_failures,
    read_served,
    verdict,
)

TIMES = {f"q{i}": 1 + i % 5 for i in range(200)}


def test_intervals_hold_the_rate_of_what_was_asked():
    rng = np.random.default_rng(0)
    failed = {id_: float(rng.random() < 0.3) for id_ in TIMES}
    log = [ServedQuestion(id_, "?", ("d",), times=n) for id_, n in TIMES.items()]
    truth = sum(failed[q.id] * q.times for q in log) / sum(q.times for q in log)
    inside = 0
    for seed in range(300):
        sample = draw_sample(TIMES, 50, seed)
        verdicts = {id_: (failed[id_], 0.0) for id_ in sample.questions}
        rate = estimate_failures(log, sample, verdicts)[0]
        inside += rate["low"] <= truth <= rate["high"]
    assert inside / 300 > 0.92


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.integers(1, 8), min_size=1, max_size=15),
    st.integers(1, 20),
)
def test_the_budget_is_kept_and_all_asks_of_a_small_log_are_drawn(times, budget):
    sample = draw_sample(times, budget, 0)
    assert len(sample.questions) == min(budget, len(times))
    if budget >= len(times):
        assert {id_: sample.asks.count(id_) for id_ in times} == times


def test_a_verdict_by_hand():
    """Grades 0, 2: DCG = 2/log2(3); ideal 2."""
    assert verdict([0, 2], 1) == (0.0, pytest.approx(1 / math.log2(3)))
    assert verdict([0, 1], 2) == (1.0, 0.0)
    assert verdict([3, 1, 0], 1) == (0.0, 1.0)


def jsonl(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_table_of_questions(tmp_path):
    path = jsonl(
        tmp_path / "log.jsonl",
        {"id": "a", "question": "what?", "documents": ["d2", "d1", "d2"], "count": 3},
        {"id": "b", "question": "who?", "documents": ["d1"], "scores": [2.5]},
        {"id": "c", "question": "never", "documents": []},
        {"id": "d", "question": "not known", "documents": None},
    )
    (a, b, c), unknown = read_served(path)
    assert (a.documents, a.scores, a.times) == (("d2", "d1"), (), 3)
    assert (b.documents, b.scores) == (("d1",), (2.5,))
    assert c.documents == () and unknown == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": "a", "text": "x"}, "no what was served field"),
        ({"id": "a", "text": " ", "documents": []}, "has no text"),
        ({"id": "", "text": "x", "documents": []}, "no id"),
        ({"id": "a", "text": "x", "documents": [3]}, "3 in a list of documents"),
        ({"id": "a", "text": "x", "documents": [], "count": 0}, "1 or more"),
        ({"id": "a", "text": "x", "documents": [], "count": 10**400}, "1 or more"),
    ],
)
def test_bad_rows_are_refused(tmp_path, row, problem):
    with pytest.raises(InputError, match=problem):
        read_served(jsonl(tmp_path / "q.jsonl", row))
