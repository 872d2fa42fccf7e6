"""Probabilities, once judgements say how often a log fails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.traffic.risk.calibration import Slope, calibration_error, corrected_risk

PRIOR = Slope(0.0, 0.8, 1.5, 0.5)


def test_no_judgement_changes_nothing():
    assert PRIOR.corrected([], []) == PRIOR


def test_many_judgements_outweigh_the_prior():
    rng = np.random.default_rng(0)
    z = rng.normal(size=20_000)
    y = rng.random(20_000) < 1 / (1 + np.exp(-(-2.0 + 0.2 * z)))
    fitted = PRIOR.corrected(z, y)
    assert fitted.intercept == pytest.approx(-2.0, abs=0.1)
    assert fitted.slope == pytest.approx(0.2, abs=0.1)


def test_twenty_judgements_move_the_base_rate():
    z = np.linspace(-2, 2, 20)
    p = PRIOR.corrected(z, np.zeros(20)).probability(z)
    assert p.mean() < 0.15 < PRIOR.probability(z).mean()


def test_an_error_by_hand():
    """Two bins of two: |0.2 - 0.5| and |0.9 - 1|."""
    assert calibration_error([0.2, 0.9, 0.9, 0.2], [0, 1, 1, 1], bins=2) == pytest.approx(0.2)


def test_any_prediction_is_corrected_by_its_odds():
    risk = {f"q{i}": i / 100 for i in range(101)}
    judged = {f"q{i}": 0.0 for i in range(0, 101, 5)}
    corrected = corrected_risk(risk, judged)
    assert corrected["q50"] < 0.25 and list(corrected) == list(risk)
    assert sorted(corrected, key=lambda q: (corrected[q], int(q[1:]))) == list(risk)


@pytest.mark.parametrize("failure", [[math.nan], [2.0], [0.0, 1.0]])
def test_bad_failures_are_refused(failure):
    with pytest.raises(ValueError, match="one failure from 0 to 1"):
        PRIOR.corrected([0.5], failure)


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 1)), max_size=30))
def test_newton_ends_at_the_greatest_posterior(cases):
    z, y = (np.array([case[i] for case in cases]) for i in (0, 1))
    fitted = PRIOR.corrected(z, y)
    gap = np.array([fitted.intercept - PRIOR.intercept, fitted.slope - PRIOR.slope])
    residual = y - fitted.probability(z)
    gradient = np.array([residual.sum(), (residual * z).sum()]) - gap / np.array([1.5, 0.5]) ** 2
    assert np.abs(gradient).max() < 1e-5
