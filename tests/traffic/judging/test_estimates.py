"""From grades to rates."""

from __future__ import annotations

import math

import pytest

from argus.traffic.judging.estimates import QuestionVerdict, estimate_failures, verdict
from argus.traffic.judging.sample import ServedQuestion, draw_sample


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


def test_a_question_counts_as_often_as_it_was_asked():
    questions = [ServedQuestion("a", "?", ("d",), times=9), ServedQuestion("b", "?", ("d",))]
    sample = draw_sample({"a": 9, "b": 1}, 2, 0)
    verdicts = {"a": QuestionVerdict(1.0, 0.0), "b": QuestionVerdict(0.0, 1.0)}
    assert estimate_failures(questions, sample, verdicts)[0]["mean"] == pytest.approx(0.9)


def test_all_judged_alike_still_has_an_interval():
    questions, sample = log(100)
    verdicts = {id_: QuestionVerdict(0.0, 1.0) for id_ in sample.questions[:10]}
    failure, hits, _ = estimate_failures(questions, sample, verdicts)
    assert failure["mean"] == 0.0 and failure["low"] == 0.0 and 0.1 < failure["high"] < 0.3
    assert hits["high"] == pytest.approx(1 - failure["low"])
