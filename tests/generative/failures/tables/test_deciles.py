from collections import namedtuple
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.generative.failures import tables
from tests.support.draws import examples

Decile = namedtuple("Decile", "number low high mean weight hit other", defaults=[None])
questions = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=10, max_size=60)


def deciles(values, outcomes):
    return [Decile(*row) for row in tables.deciles(values, outcomes)]


def reference(found, groups=10):
    """Every question, in exact fractions: those of a tied value share its stretch of the line."""
    n = len(found)
    size = Fraction(n, groups)
    made = []
    for group in range(groups):
        left, right = group * size, (group + 1) * size
        weight, total, members = Fraction(0), Fraction(0), []
        for value, outcome in found:
            before = sum(v < value for v, _ in found)
            tied = sum(v == value for v, _ in found)
            overlap = max(Fraction(0), min(before + tied, right) - max(before, left))
            weight += overlap / tied
            total += overlap / tied * outcome
            if overlap:
                members.append(value)
        made.append((weight, min(members), max(members), total / weight))
    return made


@settings(max_examples=examples(60), deadline=None)
@given(questions)
def test_groups_are_what_a_plain_count_in_fractions_says(found):
    made = deciles([v for v, _ in found], {"hit": [h for _, h in found]})
    for decile, (weight, low, high, rate) in zip(made, reference(found), strict=True):
        assert decile.weight == pytest.approx(float(weight))
        assert (decile.low, decile.high) == (low, high)
        assert decile.hit == pytest.approx(float(rate), abs=1e-12)


def test_missing_values_and_outcomes_are_left_out():
    values = [*range(20), None, None]
    hits = [1.0, None, None, None, *[0.0] * 16, 1.0, 1.0]
    made = deciles(values, {"hit": hits})
    assert made[0].weight == 2
    assert made[0].hit == 1.0  # of 0 and 1 only 0 has an outcome
    assert made[1].hit is None
    assert made[2].hit == 0.0
