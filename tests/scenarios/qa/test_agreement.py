import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.scenarios.qa.judge import agreement, interval_alpha

KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def test_alpha_is_that_of_the_example_in_the_literature():
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E: interval 0.849.
    rows = [line.split() for line in KRIPPENDORFF.split("\n") if line]
    units = [[float(v) for v in column if v != "."] for column in zip(*rows, strict=True)]
    found = agreement(units)
    assert found["alpha"] == pytest.approx(0.849, abs=5e-4)
    assert found["answers"] == 11, "the last unit has one value, nothing to pair"


def test_without_two_votes_or_any_difference_there_is_no_alpha():
    assert agreement([[60], []]) == agreement([]) == {"answers": 0, "alpha": None}
    assert agreement([[60, 60], [60, 60]])["alpha"] is None


def reference_alpha(units):
    """Krippendorff's coincidence matrix, cell by cell."""
    coincidences = {}
    for unit in units:
        for a, b in itertools.permutations(unit, 2):
            coincidences[a, b] = coincidences.get((a, b), 0) + 1 / (len(unit) - 1)
    totals = {}
    for (a, _), n in coincidences.items():
        totals[a] = totals.get(a, 0) + n
    n = sum(totals.values())
    observed = sum(c * (a - b) ** 2 for (a, b), c in coincidences.items())
    expected = sum(totals[a] * totals[b] * (a - b) ** 2 for a in totals for b in totals) / (n - 1)
    return 1 - observed / expected


@given(st.lists(st.lists(st.integers(0, 100), min_size=2, max_size=4), min_size=1, max_size=6))
def test_alpha_is_that_of_the_coincidence_matrix(units):
    if len({v for unit in units for v in unit}) == 1:
        assert interval_alpha(units) is None
    else:
        assert interval_alpha(units) == pytest.approx(reference_alpha(units))
