"""Choosing component and λ by held-out needs, against worths worked out by hand or one by one."""

import numpy as np

from argus.scenarios.ablation.grid import Cell
from argus.scenarios.profile import Component
from argus.scenarios.remedy import best_of, cross_chosen

A, B = Cell(Component.M, 0.0), Cell(Component.I, 0.5)


def worths(cells):
    return {cell: np.asarray(value, float) for cell, value in cells.items()}


def test_the_best_mean_wins_and_of_equal_ones_the_greater_weight():
    assert best_of(worths({A: [1, 0, 0], B: [0.5, 0.5, 0.5]})) == B
    same = {Cell(Component.M, 0.2): [0.5], Cell(Component.E, 0.9): [0.5]}
    assert best_of(worths(same)) == Cell(Component.E, 0.9)
    tied = {Cell(Component.I, 1.0): [0.5], Cell(Component.ME, 1.0): [0.5]}
    assert best_of(worths(tied)) == Cell(Component.ME, 1.0)


def test_each_half_is_told_by_what_the_other_half_chose():
    """Where every document is best served by what serves no other, choosing gains nothing."""
    cells = worths({Cell(Component.I, i / 10): np.eye(6)[i] for i in range(6)})
    assert cells[best_of(cells)].mean() > 0
    assert cross_chosen(cells, 0).mean() == 0
