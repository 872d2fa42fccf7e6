"""Agreement of raters: published examples."""

import pytest

from argus.measures.intervals import nominal_alpha

KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


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
