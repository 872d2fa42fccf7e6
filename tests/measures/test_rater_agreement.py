"""Agreement of raters: published examples, figures by hand, and what must hold of any answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.measures.intervals import cohen_kappa, fleiss_kappa, nominal_alpha

TEN_SUBJECTS = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7
"""
"""Fourteen raters, five categories: how many chose each, subject by subject."""
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
UNITS = st.lists(st.lists(st.sampled_from("ABC"), min_size=3, max_size=3), min_size=1, max_size=8)


def of_counts(text):
    rows = [list(map(int, line.split())) for line in text.strip().split("\n")]
    return [[str(c) for c, n in enumerate(row) for _ in range(n)] for row in rows]


def by_unit(*raters):
    return [[v for v in unit if v != "."] for unit in zip(*raters, strict=True)]


def test_cohen_as_in_the_literature():
    # Cohen (1960), table 1: proportions of 200, agreement 0.29 + 0.21 + ... ; κ = 0.492.
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    pairs = [
        (str(a), str(b)) for a, row in enumerate(table) for b, n in enumerate(row) for _ in range(n)
    ]
    assert cohen_kappa(pairs) == pytest.approx(0.492, abs=5e-4)


def test_fleiss_of_ten_subjects_and_fourteen_raters():
    # The example known from textbooks: P̄ = 0.378, P̄_e = 0.213, κ = 0.210.
    assert fleiss_kappa(of_counts(TEN_SUBJECTS)) == pytest.approx(0.210, abs=5e-4)


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
    for measure in (fleiss_kappa, nominal_alpha):
        first, second = measure(units), measure(other)
        assert (first is None) == (second is None)
        assert first is None or second == pytest.approx(first)


@given(UNITS)
def test_alpha_and_fleiss_differ_by_the_draw_alone(units):
    # With n answers in all, 1 - α = (1 - κ)·(n - 1)/n: with and without replacement.
    kappa, alpha = fleiss_kappa(units), nominal_alpha(units)
    n = sum(map(len, units))
    if kappa is not None:
        assert 1 - alpha == pytest.approx((1 - kappa) * (n - 1) / n)
