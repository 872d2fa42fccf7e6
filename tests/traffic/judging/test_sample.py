"""Read questions, draw a random sample, and estimate rates from grades."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.traffic.judging.estimates import QuestionVerdict, estimate_failures, verdict
from argus.traffic.judging.sample import ServedQuestion, digest, draw_sample, read_served

TIMES = {f"q{i}": 1 + i % 5 for i in range(200)}


def test_a_larger_budget_holds_the_smaller_one_and_a_seed_draws_another():
    small, large = draw_sample(TIMES, 30, 0), draw_sample(dict(reversed(TIMES.items())), 90, 0)
    assert large.questions[:30] == small.questions and len(large.questions) == 90
    assert draw_sample(TIMES, 30, 1).questions != small.questions


def test_a_question_is_drawn_as_often_as_it_was_asked():
    draws = [draw_sample({"often": 9, "once": 1}, 1, seed).questions[0] for seed in range(400)]
    assert 0.85 < draws.count("often") / 400 < 0.95


def test_what_is_passed_over_is_counted_and_its_asks_are_left_out():
    sample = draw_sample(TIMES, 10, 0)
    first, *rest = sample.questions
    judged = set(rest[:4])
    assert sample.skipped(judged) == 1 and first not in sample.judged_asks(judged)
    assert set(sample.judged_asks(judged)) == judged


def test_intervals_hold_the_rate_of_what_was_asked():
    rng = np.random.default_rng(0)
    failed = {id_: float(rng.random() < 0.3) for id_ in TIMES}
    log = [ServedQuestion(id_, "?", ("d",), times=n) for id_, n in TIMES.items()]
    truth = sum(failed[q.id] * q.times for q in log) / sum(q.times for q in log)
    inside = 0
    for seed in range(300):
        sample = draw_sample(TIMES, 50, seed)
        verdicts = {id_: QuestionVerdict(failed[id_], 0.0) for id_ in sample.questions}
        rate = estimate_failures(log, sample, verdicts)[0]
        inside += rate["low"] <= truth <= rate["high"]
    assert inside / 300 > 0.92


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.integers(1, 20), min_size=1, max_size=40),
    st.integers(1, 60),
)
def test_the_budget_is_kept_and_all_asks_of_a_small_log_are_drawn(times, budget):
    sample = draw_sample(times, budget, 0)
    assert len(sample.questions) == min(budget, len(times))
    if budget >= len(times):
        assert {id_: sample.asks.count(id_) for id_ in times} == times


def test_a_verdict_by_hand():
    """Grades 0, 2: DCG = 2/log2(3); ideal 2."""
    assert verdict([0, 2], 1) == QuestionVerdict(0.0, pytest.approx(1 / math.log2(3)))
    assert verdict([0, 1], 2) == QuestionVerdict(1.0, 0.0)
    assert verdict([3, 1, 0], 1) == QuestionVerdict(0.0, 1.0)


def log(n, empty=0):
    times = {f"q{i}": 1 for i in range(n)}
    questions = [ServedQuestion(id_, "?", ("d",)) for id_ in times]
    questions += [ServedQuestion(f"e{i}", "?", ()) for i in range(empty)]
    return questions, draw_sample(times, n, 0)


def test_all_judged_is_a_count():
    questions, sample = log(10)
    verdicts = {q.id: QuestionVerdict(float(i < 3), 1.0 - (i < 3)) for i, q in enumerate(questions)}
    failure, hits, ndcg = estimate_failures(questions, sample, verdicts)
    assert failure["mean"] == failure["low"] == failure["high"] == pytest.approx(0.3)
    assert failure["is_count"]
    assert hits["mean"] == ndcg["mean"] == pytest.approx(0.7)


def test_what_was_served_nothing_failed_without_a_judge():
    questions, sample = log(10, empty=10)
    verdicts = {f"q{i}": QuestionVerdict(0.0, 1.0) for i in range(10)}
    failure, hits, _ = estimate_failures(questions, sample, verdicts)
    assert failure["mean"] == pytest.approx(0.5) and hits["mean"] == pytest.approx(0.5)
    assert failure["questions"] == 20 and failure["judged"] == 10


def jsonl(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_table_of_questions(tmp_path):
    path = jsonl(
        tmp_path / "log.jsonl",
        {"id": "a", "question": "what?", "documents": ["d2", "d1", "d2"], "risk": 0.25, "count": 3},
        {"id": "b", "question": "who?", "documents": [{"id": "d1", "score": 2.5}], "risk": ""},
        {"id": "c", "question": "never", "documents": []},
        {"id": "d", "question": "not known", "documents": None},
    )
    (a, b, c), unknown = read_served(path)
    assert (a.documents, a.risk, a.times) == (("d2", "d1"), 0.25, 3)
    assert (b.documents, b.scores, b.risk) == (("d1",), (2.5,), None)
    assert c.documents == () and unknown == 1


def test_the_table_of_argus_traffic(tmp_path):
    """`question` is an id there; what nearly equals another is counted with it."""
    table = pa.table(
        {
            "question": ["q1", "q2", "q3"], "text": ["what is it", "what's it", "who"],
            "asks": [5, 2, 1], "alike": [None, "q1", None], "looked_at": [True, True, False],
            "documents": pa.array([["d1"], ["d2"], None], pa.list_(pa.string())),
            "risk": [0.5, None, None],
        }
    )  # fmt: skip
    pq.write_table(table, tmp_path / "questions.parquet")
    (one,), unknown = read_served(tmp_path)
    assert (one.id, one.text, one.times, one.risk) == ("q1", "what is it", 7, 0.5)
    assert unknown == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": "a", "text": "x"}, "no what was served field"),
        ({"id": "a", "text": " ", "documents": []}, "has no text"),
        ({"id": "", "text": "x", "documents": []}, "no id"),
        ({"id": "a", "text": "x", "documents": [3]}, "3 in a list of documents"),
        ({"id": "a", "text": "x", "documents": [], "risk": 1.5}, "a probability from 0 to 1"),
        ({"id": "a", "text": "x", "documents": [], "risk": "nan"}, "a probability from 0 to 1"),
        ({"id": "a", "text": "x", "documents": [], "count": 0}, "1 or more"),
        ({"id": "a", "text": "x", "documents": [], "count": "many"}, "1 or more"),
        ({"id": "a", "text": "x", "documents": [], "count": 10**400}, "1 or more"),
        ({"id": "a", "text": "x", "documents": [], "risk": 10**400}, "a probability from 0 to 1"),
        ({"id": "a", "text": "x", "documents": 5}, "5 in a list of documents"),
    ],
)
def test_bad_rows_are_refused(tmp_path, row, problem):
    with pytest.raises(InputError, match=problem):
        read_served(jsonl(tmp_path / "q.jsonl", row))


def test_logs_are_told_apart_by_what_was_served_and_not_by_risk(tmp_path):
    row = {"id": "a", "text": "x", "documents": ["d1", "d2"]}
    log = read_served(jsonl(tmp_path / "a.jsonl", row))[0]
    risky = read_served(jsonl(tmp_path / "b.jsonl", row | {"risk": 0.5}))[0]
    other = read_served(jsonl(tmp_path / "c.jsonl", row | {"documents": ["d1", "d3"]}))[0]
    assert digest(log, 2) == digest(risky, 2) != digest(other, 2)
    assert digest(log, 1) == digest(other, 1)
