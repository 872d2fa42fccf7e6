import numpy as np
import pytest

from argus.measures.significance import bootstrap_interval
from argus.scenarios.qa.judge import (
    Arm,
    Case,
    Failure,
    Question,
    Vote,
    arm_summaries,
    combine,
    comparisons,
    mean_score,
    votes_agreement,
)


def judged(arm, scores):
    """One question per score; None failed."""
    out = []
    for i, score in enumerate(scores):
        question = Question(f"q{i}", "Why?", "Because.")
        vote = (
            Vote(None, "unclear", Failure.UNPARSABLE) if score is None else Vote(float(score), "")
        )
        verdict = combine([vote])
        out.append(
            Case(
                question, arm, "context", state=verdict.state, answer="answer", verdict=verdict,
                stage="judgement" if score is None else "",
                failure=verdict.failure, reason=verdict.reason,
            )
        )  # fmt: skip
    return out


def test_a_failure_is_counted_and_in_no_mean():
    found = judged(Arm.DOCUMENTS, [50, 50, None, 50]) + judged(Arm.FUSED, [None, 100, 80, 60])
    documents, fused = arm_summaries(found, seed=0, resamples=1000)
    assert documents["states"] == {"measured": 3, "failed": 1, "not applicable": 0}
    assert documents["mean"] == 50
    assert (fused["questions"], fused["mean"], fused["documents_mean"]) == (2, 80, 50)
    assert fused["failures"] == {"unparsable": 1}
    [difference] = comparisons(found, seed=0, resamples=1000)
    assert difference["found"]["queries"] == 2, "measured in both"
    assert difference["found"]["mean_difference"] == 30


def test_scores_of_zero_are_observations():
    found = mean_score([0] * 6 + [100] * 6, seed=0, resamples=1000)
    assert found["mean"] == 50
    low, high, _ = bootstrap_interval(np.array([1.0] * 6 + [101.0] * 6), seed=0, resamples=1000)
    assert (found["low"], found["high"]) == pytest.approx((low - 1, high - 1))
    assert 10 < found["low"] < 35 and 65 < found["high"] < 90


def test_an_answer_that_arms_share_counts_once_for_agreement():
    verdict = combine([Vote(50, ""), Vote(70, "")])
    question = Question("q", "Why?", "Because.")
    one, other = (
        Case(question, arm, "c", answer="answer", verdict=verdict)
        for arm in (Arm.DOCUMENTS, Arm.FUSED)
    )
    found = votes_agreement([one, other])
    assert found["answers"] == 1
