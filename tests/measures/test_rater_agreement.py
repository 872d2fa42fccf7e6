"""Agreement of raters: published examples, figures by hand, and what must hold of any answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.measures.intervals import nominal_alpha

KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
UNITS = st.lists(st.lists(st.sampled_from("ABC"), min_size=3, max_size=3), min_size=1, max_size=8)


def by_unit(*raters):
    return [[v for v in unit if v != "."] for unit in zip(*raters, strict=True)]


def test_alpha_is_that_of_the_examples_in_the_literature():
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): A binary 0.095, B nominal
    # 0.692, C nominal with missing values 0.743.
    binary = by_unit("0100000010", "1110010000")
    assert nominal_alpha(binary) == pytest.approx(0.095, abs=5e-4)
    assert nominal_alpha(by_unit("aabbdcccedda", "babbbccceddd")) == pytest.approx(0.692, abs=5e-4)
    rows = [line.split() for line in KRIPPENDORFF.strip().split("\n")]
    assert nominal_alpha(by_unit(*rows)) == pytest.approx(0.743, abs=5e-4)


@given(UNITS, st.randoms())
def test_neither_order_nor_names_of_categories_change_anything(units, random):
    names = dict(zip("ABC", "xyz", strict=True))
    other = [[names[v] for v in random.sample(unit, len(unit))] for unit in units]
    random.shuffle(other)
    first, second = nominal_alpha(units), nominal_alpha(other)
    assert (first is None) == (second is None)
    assert first is None or second == pytest.approx(first)
