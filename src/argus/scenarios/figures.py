"""Figures that several sections of summary.json share: cells of a grid, means over documents."""

from __future__ import annotations

from typing_extensions import TypedDict

CellName = TypedDict("CellName", {"component": str, "lambda": float})
"""A cell of the grid."""


class Mean(TypedDict):
    """A mean over documents and its 95% interval.

    mean: the mean.
    """

    mean: float
    low: float
    high: float


class MeanDifference(TypedDict):
    """A mean over documents of after minus before.

    mean: mean of after less before.
    low, high: 95% interval. None where there is none.
    improved: documents that are better.
    harmed: documents that are worse.
    """

    mean: float
    low: float | None
    high: float | None
    improved: int
    harmed: int
