import itertools
import math
from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.measures.significance import least_bound, paired_difference, randomisation_test
from tests.support.draws import examples

values = st.floats(0, 1).map(lambda v: round(v, 3))


def enumerate_signs(differences: list[float]) -> float:
    """The plain reference: the share of all signs whose mean is at least as far from zero."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product([1, -1], repeat=len(differences))
    ]
    return sum(s >= observed - 1e-9 for s in sums) / len(sums)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.floats(-1, 1).map(lambda v: round(v, 2)), min_size=1, max_size=8))
def test_the_exact_test_equals_the_enumeration_of_all_signs(differences):
    p_value, exact = randomisation_test(np.array(differences), seed=0)
    assert exact
    assert p_value == pytest.approx(enumerate_signs(differences))


def test_monte_carlo_is_near_the_exact_value_and_never_zero():
    differences = np.array([0.1, 0.3, -0.2, 0.4, 0.15, -0.05, 0.2, 0.3, -0.1, 0.25, 0.1, 0.02])
    exact, enumerated = randomisation_test(differences, seed=0)
    drawn, by_chance = randomisation_test(differences, seed=0, resamples=4000)
    assert enumerated and not by_chance
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact / 4000))
    sure, _ = randomisation_test(np.full(200, 0.5), seed=0, resamples=999)
    assert sure == pytest.approx(2 / 1000), "the +1 correction, on both sides"


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(values, values), min_size=1, max_size=12), st.integers(0, 3))
def test_nothing_is_ever_nan_and_the_interval_holds_together(pairs, seed):
    before = {str(i): b for i, (b, _) in enumerate(pairs)}
    after = {str(i): a for i, (_, a) in enumerate(pairs)}
    found = paired_difference(before, after, seed=seed, resamples=200)
    assert all(math.isfinite(v) for v in astuple(found) if isinstance(v, float))
    assert found.improved + found.harmed + found.unchanged == found.queries == len(pairs)
    assert 0 < found.p_value <= 1
    if found.low is not None and found.high is not None:
        differences = [after[q] - before[q] for q in before]
        assert min(differences) - 1e-9 <= found.low <= found.high <= max(differences) + 1e-9
    # Swapping the systems turns the sign and keeps the p-value.
    swapped = paired_difference(after, before, seed=seed, resamples=200)
    assert swapped.mean_difference == pytest.approx(-found.mean_difference)
    assert swapped.harmed == found.improved
    if found.exact:
        assert swapped.p_value == pytest.approx(found.p_value)


def test_the_bound_is_above_the_exact_p_value_and_goes_on_falling():
    rng = np.random.default_rng(0)
    for size in (1, 5, 12):
        values = rng.normal(0.4, 1, size)
        assert least_bound(values) >= randomisation_test(values, seed=0)[0] - 1e-12
    assert least_bound(np.ones(40)) < 1e-8 < randomisation_test(np.ones(40), seed=0)[0]
    assert least_bound(np.zeros(3)) == 1.0


def test_a_verdict_needs_interval_and_test_to_agree():
    before = {f"q{i:02}": 0.0 for i in range(40)}
    rise = {q: 0.2 + 0.01 * i for i, q in enumerate(before)}
    assert paired_difference(before, rise, seed=0).verdict == "better"
    assert paired_difference(rise, before, seed=0).verdict == "worse"
    mixed = {q: (-1) ** i * 0.3 for i, q in enumerate(before)}
    assert paired_difference(before, mixed, seed=0).verdict == ""
    apart = replace(paired_difference(before, rise, seed=0), p_value=0.06)
    assert apart.verdict == "", "the interval alone is not enough"
