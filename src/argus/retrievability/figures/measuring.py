"""What the figures are drawn of: curves, and the LDA of every retriever at every N."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.errors import InputError
from argus.measures.intervals import wilson
from argus.retrievability.figures.config import FigureConfig
from argus.retrievability.figures.retrievers import AuditedRetriever
from argus.retrievability.figures.summary import PanelFigures, RetrieverFigures
from argus.retrievability.geometry import Projection, project_bands
from argus.retrievability.limits import PROJECTED
from argus.retrievability.rps import (
    GROUPINGS,
    Scores,
    curve_over_k,
    curve_over_pool,
    describe_groups,
    pool_grid,
    score,
)

CURVE_K = 100
"""Largest k of Figure 5."""
ORDER = {"low": -1.0, "mid": 0.0, "high": 1.0}


@dataclass(frozen=True)
class Panel:
    """A retriever's entities at one N, projected: all arrays have a row for each that is placed."""

    retriever: str
    figures: PanelFigures
    rows: npt.NDArray[np.int64]
    """Positions among the audit's scored entities."""
    rps: npt.NDArray[np.float64]
    groups: npt.NDArray[np.str_]
    points: npt.NDArray[np.float64]
    """Shape (n, 2); see `oriented`."""


def check_pools(retrievers: Sequence[AuditedRetriever], pools: Sequence[int]) -> None:
    """Raise InputError for an N that leaves a retriever no pair: too few neutrals to draw."""
    for one in retrievers:
        most = int(one.ranks.pool.max(initial=0)) + 1
        if pools[-1] > most:
            raise InputError(
                f"N={pools[-1]}, for which {one.name} has no pair",
                expected=f"N up to {most}: so many candidates its audit could draw",
                fix=f"Use --pools up to {most}.", where="--pools",
            )  # fmt: skip


def panels_of(
    one: AuditedRetriever, k: int, pools: Sequence[int], config: FigureConfig
) -> Iterator[Panel]:
    """Yield the panels of a retriever, one for each N (ARGUS Figures 2 and 6).

    Scores are exact at every N, of the ranks that the audit kept. LDA is fitted anew at each N, as
    groups change with it. Raises InputError where there is too little to project.
    """
    for pool in pools:
        yield _panel(one, score(one.ranks, len(one.audited.ids), k=k, pool=pool), config)


def _panel(one: AuditedRetriever, scores: Scores, config: FigureConfig) -> Panel:
    groups = GROUPINGS[config.groups](scores.rps)
    rows = np.flatnonzero(scores.measured)
    described = describe_groups(scores.rps[rows], groups[rows])
    if len(rows) > PROJECTED:
        rng = np.random.default_rng(config.seed)
        rows = np.sort(rng.choice(rows, PROJECTED, replace=False))
    projection = project_bands(one.audited.vectors[rows], groups[rows], seed=config.seed)
    if projection is None:
        raise InputError(
            f"{len(rows)} scored entities at N={scores.pool}",
            expected="at least 3, with vectors of 2 dimensions or more",
            fix="Audit a larger knowledge base.", where=one.folder,
        )  # fmt: skip
    figures: PanelFigures = {
        "pool": scores.pool,
        "entities": int(scores.measured.sum()),
        "mean_rps": round(float(scores.rps[scores.measured].mean()), 6),
        "groups": described,
        "method": projection.method,
        "accuracy": projection.accuracy,
        "majority": projection.majority,
        "shrinkage": projection.shrinkage,
    }
    points = oriented(projection, groups[rows])
    return Panel(one.name, figures, rows, scores.rps[rows], groups[rows], points)


def oriented(projection: Projection, groups: npt.NDArray[np.str_]) -> npt.NDArray[np.float64]:
    """Return the points with axes that panels share: centred, of unit spread, low to the left.

    The signs and scales of LDA's axes mean nothing. The first axis is turned so that RPS grows to
    the right; the second so that the middle group lies above the others.
    """
    points = projection.points - projection.points.mean(axis=0)
    spread = points.std(axis=0)
    points = points / np.where(spread > 0, spread, 1.0)
    order = np.array([ORDER[group] for group in groups])
    if points[:, 0] @ (order - order.mean()) < 0:
        points[:, 0] = -points[:, 0]
    middle = groups == "mid"
    if middle.any() and points[middle, 1].mean() < 0:
        points[:, 1] = -points[:, 1]
    return np.asarray(points)


def figures_of(
    one: AuditedRetriever, k: int, pools: Sequence[int], panels: Sequence[Panel]
) -> RetrieverFigures:
    """Return a retriever's figures: its mean (Figure 1), curves (3 and 5) and panels."""
    n, last = len(one.audited.ids), panels[-1].figures
    low, high = wilson(last["mean_rps"], last["entities"])
    grid = [pool for pool in pool_grid(pools[-1], headline=pools[-1]) if pool >= k]
    return {
        "name": one.name,
        "folder": str(one.folder),
        "encoder": one.audited.fingerprint,
        "pooling": one.audited.pooling,
        "entities": n,
        "mean_rps": last["mean_rps"],
        "low": round(float(low), 6),
        "high": round(float(high), 6),
        "over_pool": curve_over_pool(one.ranks, n, k=k, pools=sorted({*grid, *pools})),
        "over_k": curve_over_k(one.ranks, n, k_max=min(CURVE_K, pools[-1]), pool=pools[-1]),
        "panels": [panel.figures for panel in panels],
    }
