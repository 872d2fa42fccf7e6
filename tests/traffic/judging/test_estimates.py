"""From grades to rates."""

from __future__ import annotations

import math

import pytest

from argus.errors import InputError
from argus.traffic.judging.estimates import QuestionVerdict, estimate_failures, verdict
from argus.traffic.judging.picking import pick_to_judge
from argus.traffic.judging.questions import ServedQuestion


def test_a_verdict_by_hand():
    """Grades 0, 2: DCG = 2/log2(3); ideal 2."""
    assert verdict([0, 2], 1) == QuestionVerdict(0.0, pytest.approx(1 / math.log2(3)))
    assert verdict([0, 1], 2) == QuestionVerdict(1.0, 0.0)
    assert verdict([3, 1, 0], 1) == QuestionVerdict(0.0, 1.0)


def log(n, empty=0):
    risks = {f"q{i}": i / n for i in range(n)}
    questions = [ServedQuestion(id_, "?", ("d",), risk) for id_, risk in risks.items()]
    questions += [ServedQuestion(f"e{i}", "?", ()) for i in range(empty)]
    return questions, pick_to_judge(risks, n)


def test_all_judged_is_a_count():
    questions, strata = log(10)
    verdicts = {q.id: QuestionVerdict(float(i < 3), 1.0 - (i < 3)) for i, q in enumerate(questions)}
    failure, hits, ndcg = estimate_failures(questions, strata, verdicts)
    assert failure["mean"] == failure["low"] == failure["high"] == pytest.approx(0.3)
    assert failure["effective"] is None
    assert hits["mean"] == ndcg["mean"] == pytest.approx(0.7)


def test_what_was_served_nothing_failed_without_a_judge():
    questions, strata = log(10, empty=10)
    verdicts = {f"q{i}": QuestionVerdict(0.0, 1.0) for i in range(10)}
    failure, hits, _ = estimate_failures(questions, strata, verdicts)
    assert failure["mean"] == pytest.approx(0.5) and hits["mean"] == pytest.approx(0.5)
    assert failure["questions"] == 20 and failure["judged"] == 10


def test_a_question_counts_as_often_as_it_was_asked():
    questions = [ServedQuestion("a", "?", ("d",), 0.5, 9), ServedQuestion("b", "?", ("d",), 0.5)]
    strata = pick_to_judge({"a": 0.5, "b": 0.5}, 2)
    verdicts = {"a": QuestionVerdict(1.0, 0.0), "b": QuestionVerdict(0.0, 1.0)}
    assert estimate_failures(questions, strata, verdicts)[0]["mean"] == pytest.approx(0.9)


def test_nothing_judged_is_no_estimate():
    questions, strata = log(5)
    assert estimate_failures(questions, strata, {}) == []


def test_all_judged_alike_still_has_an_interval():
    questions, strata = log(100)
    verdicts = {id_: QuestionVerdict(0.0, 1.0) for s in strata for id_ in s.order[:10]}
    failure, hits, _ = estimate_failures(questions, strata, verdicts)
    assert failure["mean"] == 0.0 and failure["low"] == 0.0 and 0.01 < failure["high"] < 0.15
    assert hits["high"] == pytest.approx(1 - failure["low"])


def test_questions_may_come_one_by_one():
    questions, strata = log(10)
    verdicts = {q.id: QuestionVerdict(0.0, 1.0) for q in questions}
    told = estimate_failures(iter(questions), strata, verdicts)
    assert told == estimate_failures(questions, strata, verdicts)


def test_a_question_that_was_never_asked_or_is_in_no_stratum_is_refused():
    questions, strata = log(10)
    verdicts = {q.id: QuestionVerdict(0.0, 1.0) for q in questions}
    never = [ServedQuestion(q.id, "?", q.documents, q.risk, 0) for q in questions]
    with pytest.raises(InputError, match="'q0': times=0"):
        estimate_failures(never, strata, verdicts)
    with pytest.raises(InputError, match="'other' is in no stratum"):
        estimate_failures([*questions, ServedQuestion("other", "?", ("d",))], strata, verdicts)
