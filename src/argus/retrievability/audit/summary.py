"""The audit's part of summary.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.corpora.remarks import OfStore
from argus.data.types import StateCounts
from argus.jobs.workspace import TextWindow
from argus.measures.slices import Sliced, slice_lines
from argus.reports.figures import Histogram
from argus.retrievability.rps import BandCounts, Curve, GroupFigures

SettingFigures = TypedDict(
    "SettingFigures",
    {
        "k": int,
        "pool": int,
        "scored": int,
        "mean_rps": float | None,
        "share_below_0.33": float | None,
        "share_above_0.5": float | None,
    },
)
"""Entities that have a score at one k and N, and their scores; None where none has one."""


class SampleCounts(TypedDict, total=False):
    """Pairs of a sampled knowledge base that are there for others' sake alone."""

    not_of_the_sample: int


class PairCounts(SampleCounts):
    """What became of the pairs (x, t) of related entities."""

    related: int
    measured: int
    pool_too_small: int
    without_vector: int
    triples: int
    self_loops: int
    unknown_ids: int


class ReservoirFigures(TypedDict):
    """Neutrals per reservoir, and the standard error of an RPS that comes of it."""

    size: int
    mean_standard_error: float


class ProjectionFigures(TypedDict):
    """How entities were projected (see `argus.retrievability.geometry.Projection`)."""

    method: str
    accuracy: float | None
    majority: float | None
    sample: NotRequired[int]
    """Of the scored entities, how many are shown, where not all are."""


class FindingFigures(SettingFigures):
    """What the ranks tell; the headline's figures are its own."""

    entities: StateCounts
    bands: BandCounts
    """Below 0.33, below 0.66, and above (ARGUS §4.2)."""
    terciles: NotRequired[GroupFigures]
    """Thirds of the scored entities; absent in folders of earlier versions."""
    pairs: PairCounts
    settings: list[SettingFigures]
    """At every k and N; the first is the headline."""
    histogram: Histogram
    curve_over_pool: Curve
    curve_over_k: Curve
    reservoir: ReservoirFigures | None
    projection: ProjectionFigures | None


class AuditSummary(FindingFigures, Sliced, OfStore):
    """The figures of an audit."""

    text_window: TextWindow | None
    """Of the texts that are embedded whole; None where the window is not known."""
    pooling: str
    """span or sentence."""
    relations_from: str | None
    """A file, "mentions", or a source of a knowledge base."""


def headline(summary: AuditSummary) -> Iterator[str]:
    """Yield the mean RPS, how many entities are blind spots, and what was measured."""
    counts = summary["entities"]
    if summary["mean_rps"] is None:
        yield "no entity could be scored; the reasons are in the report"
        return
    yield (
        f"RPS at k={summary['k']}, N={summary['pool']}: mean {summary['mean_rps']:.3f}; "
        f"{summary['share_below_0.33']:.1%} of entities below 0.33 (blind spots), "
        f"{summary['share_above_0.5']:.1%} above 0.5"
    )
    yield (
        f"entities: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable; pairs: {summary['pairs']['measured']:,}"
    )
    for setting in summary["settings"][1:]:
        if setting["mean_rps"] is not None:
            yield f"  k={setting['k']}, N={setting['pool']}: mean {setting['mean_rps']:.3f}"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
