from dataclasses import replace

import numpy as np
import pytest

from argus.data.types import State
from argus.jobs.answers import Failure
from argus.measures.significance import bootstrap_interval
from argus.scenarios.qa.judge import Arm, Case, Question, arm_summaries, comparisons, mean_score


def judged(arm, scores):
    """One question per score; None failed."""
    failed = {"state": State.FAILED, "stage": "judgement", "failure": Failure.UNPARSABLE}
    cases = (Case(Question(f"q{i}", "Why?", "Because."), arm, context="context") for i in range(9))
    return [
        replace(case, answer="answer", verdict=score, **({} if score is not None else failed))
        for case, score in zip(cases, scores, strict=False)
    ]


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
