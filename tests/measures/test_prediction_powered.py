"""A mean from few labels and predictions of all: what must hold, whatever is predicted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.measures.intervals import wilson
from argus.measures.prediction_powered import powered_mean


def population(n: int, slope: float, seed: int = 0):
    """Return predictions, and outcomes that follow them by `slope` in log-odds."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    outcomes = (rng.random(n) < 1 / (1 + np.exp(-(slope * z - 1)))).astype(float)
    return 1 / (1 + np.exp(-(z - 1))), outcomes


def test_by_hand_without_strata():
    """λ = 1: mean of all predictions plus the labels' mean residual (PPI, eq. 1)."""
    f = [0.2, 0.4, 0.6, 0.8]
    result = powered_mean(f, [0, 3], [0.0, 1.0], tuning=1.0)
    assert result.mean == pytest.approx(0.5 + ((0 - 0.2) + (1 - 0.8)) / 2)


def test_by_hand_with_strata_and_without_predictions():
    """λ = 0: the stratified mean, Σ W_h·mean_h."""
    strata = [0, 0, 0, 1]
    result = powered_mean([0.5] * 4, [0, 1, 3], [0.0, 1.0, 1.0], strata=strata, tuning=0.0)
    assert result.mean == pytest.approx(0.75 * 0.5 + 0.25 * 1.0)


def test_a_ratio_of_weights():
    result = powered_mean([0.5] * 3, [0, 1], [1.0, 0.0], weights=[3, 1, 4], tuning=0.0)
    assert result.mean == pytest.approx(3 / 4)


def test_all_judged_leaves_nothing_uncertain():
    f, y = population(40, 1.0)
    result = powered_mean(f, range(40), y)
    assert (result.low, result.high) == (result.mean, result.mean)
    assert result.mean == pytest.approx(y.mean())
    assert math.isinf(result.effective)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_labels_have_the_interval_of_as_many_draws(value):
    """No better than Wilson's of the same number, but for what is left to draw."""
    f, _ = population(10_000, 1.0)
    result = powered_mean(f, range(50), [value] * 50, tuning=0.0)
    low, high = wilson(value, 50)
    assert result.mean == value
    assert (result.low, result.high) == pytest.approx((float(low), float(high)), abs=0.01)


def test_one_label_says_nearly_nothing():
    result = powered_mean([0.5] * 100, [7], [1.0])
    assert result.low < 0.05 and result.high == 1.0


def test_one_question_that_is_judged():
    assert powered_mean([0.3], [0], [1.0]).low == 1.0


def test_constant_predictions_count_for_nothing():
    _, y = population(500, 1.0)
    result = powered_mean([0.7] * 500, range(100), y[:100])
    assert result.tuning == 0.0 and result.mean == pytest.approx(y[:100].mean())


def test_predictions_the_wrong_way_round_count_for_nothing():
    f, y = population(500, 3.0)
    assert powered_mean(1 - f, range(100), y[:100]).tuning == 0.0


def test_a_stratum_without_a_label_goes_with_its_neighbour():
    strata = [0] * 10 + [1] * 10 + [2] * 10
    rows = [0, 1, 2, 20, 21, 22]
    result = powered_mean([0.5] * 30, rows, [0, 0, 0, 1, 1, 1], strata=strata, tuning=0.0)
    assert result.mean == pytest.approx(10 / 30)  # the middle one is taken with the first


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (([0.5], [], []), "no label"),
        (([0.5, math.nan], [0], [1.0]), "predictions must be numbers"),
        (([0.5, 0.5], [0], [math.nan]), "labels must be numbers"),
        (([0.5, 0.5], [0], [1.5]), "labels must be numbers"),
        (([0.5, 0.5], [0, 0], [1.0, 0.0]), "each row once"),
        (([0.5, 0.5], [2], [1.0]), "each row once"),
        (([0.5, 0.5], [0], [1.0, 0.0]), "one label per row"),
    ],
)
def test_bad_values_are_refused(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        powered_mean(*arguments)


def test_weights_must_count():
    with pytest.raises(ValueError, match="weights must be positive"):
        powered_mean([0.5, 0.5], [0], [1.0], weights=[1.0, 0.0])


@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_the_interval_holds_the_truth(slope):
    """About 95% of draws, with good predictions and with useless ones; narrower with good ones."""
    f, y = population(400, slope, seed=1)
    strata = np.digitize(f, np.quantile(f, [0.25, 0.5, 0.75]))
    rng = np.random.default_rng(2)
    held, width, plain = 0, 0.0, 0.0
    for _ in range(300):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(strata == h), 15, replace=False) for h in range(4)]
        )
        result = powered_mean(f, rows, y[rows], strata=strata)
        held += result.low <= y.mean() <= result.high
        width += result.high - result.low
        alone = rng.choice(400, 60, replace=False)
        other = powered_mean(f, alone, y[alone], tuning=0.0)
        plain += other.high - other.low
    assert held >= 275  # 0.917: three standard errors below 0.95
    assert width < 0.85 * plain if slope else width < 1.05 * plain


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.floats(0, 1), st.integers(1, 5)),
        min_size=2,
        max_size=30,
    ),
    st.data(),
)
def test_the_estimate_lies_in_its_interval_and_order_does_not_matter(items, data):
    n = len(items)
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    f, h, y, w = (list(column) for column in zip(*items, strict=True))

    def estimate(order):
        place = {old: new for new, old in enumerate(order)}
        return powered_mean(
            [f[i] for i in order], [place[i] for i in rows], [y[i] for i in rows],
            strata=[h[i] for i in order], weights=[w[i] for i in order],
        )  # fmt: skip

    first, second = estimate(range(n)), estimate(range(n - 1, -1, -1))
    assert 0 <= first.low <= first.mean + 1e-9 and first.mean <= first.high + 1e-9 <= 1 + 2e-9
    assert 0 <= first.tuning <= 1
    assert first.mean == pytest.approx(second.mean) and first.high == pytest.approx(second.high)
