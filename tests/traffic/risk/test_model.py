"""Where a question stands in its log, and what the shipped model says of itself."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.traffic.risk.model import (
    GROUPS,
    LEAST_QUESTIONS,
    NO_GROUPS,
    SHORT_LOG,
    normal_scores,
    outside,
    risk_model,
    standing,
)
from argus.traffic.risk.signals import SIGNS

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "traffic_risk.json"


def table(n=40, seed=0):
    return np.random.default_rng(seed).normal(size=(n, len(SIGNS)))


def test_every_signal_is_in_one_group():
    assert sorted(SIGNS) == sorted(name for names in GROUPS.values() for name in names)


def test_ties_share_a_score_and_equal_values_say_nothing():
    scores = normal_scores(np.array([1.0, 2.0, 2.0, np.nan]))
    assert scores[1] == scores[2] > scores[0] and np.isnan(scores[3])
    assert normal_scores(np.full(5, 3.0)).tolist() == [0.0] * 5


def test_a_question_that_every_signal_speaks_against_stands_highest():
    signals = table()
    signals[7] = [10.0 * sign for sign in SIGNS.values()]
    assert standing(signals).z.argmax() == 7


def test_only_ranks_count():
    signals = table()
    assert np.allclose(standing(signals).z, standing(np.exp(signals / 2) * 7).z)


def test_a_short_log_is_abstained_on():
    place = standing(table(LEAST_QUESTIONS - 1))
    assert np.isnan(place.z).all() and set(place.reasons.values()) == {SHORT_LOG}


def test_a_log_of_one_question():
    assert standing(table(1)).reasons == {0: SHORT_LOG}


def test_a_question_of_which_too_little_is_known():
    signals = table()
    signals[3] = np.nan
    signals[3, 0] = 1.0
    place = standing(signals)
    assert place.reasons == {3: NO_GROUPS} and np.isfinite(place.z).sum() == 39


def test_all_questions_alike():
    assert standing(np.ones((40, len(SIGNS)))).z.tolist() == [0.0] * 40


def test_questions_unlike_any_that_was_tried():
    region = risk_model()["region"]
    reasons = outside([5, 100_000, 5], [0.0, 0.0, 1.0], region)
    assert list(reasons) == [1, 2]


@given(st.integers(0, 10_000), st.integers(0, len(SIGNS) - 1))
def test_worse_signals_never_lower_a_standing(seed, column):
    """Monotone: raising one signal of a question in its sign lifts it, or leaves it."""
    signals = table(35, seed)
    sign = list(SIGNS.values())[column]
    worse = signals.copy()
    worse[4, column] += sign * 3.0
    before, after = standing(signals).z, standing(worse).z
    assert (before[4] > before).sum() <= (after[4] > after).sum()


def test_the_shipped_figures_are_the_benchmarks():
    model = risk_model()
    result = json.loads(RESULTS.read_text())["result"]
    for variant in ("vectors", "words"):
        worth = model[variant]["worth"]
        assert worth["auc"] == result[variant]["question"]["mean"]
        assert worth["auc_pairs"] == result[variant]["pair"]["mean"]
        assert worth["error_corrected"] == result[variant]["calibration"]["mean"]["30"]
        assert model[variant]["slope"] == result[variant]["slope"]


def test_the_card_and_the_help_say_what_it_is_worth(argus_help):
    model = risk_model()
    card = (files("argus.traffic.risk") / "card.md").read_text(encoding="utf-8")
    for variant in ("vectors", "words"):
        auc = model[variant]["worth"]["auc"]
        assert f"{auc:.3f} ({model[variant]['worth']['low']:.3f}" in card
        assert f"{auc:.2f}" in argus_help


@pytest.fixture
def argus_help():
    from argus.cli.traffic_judge import judge

    return judge.__doc__
