"""The audit's part of summary.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
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
"""Entities that have a score at one k and N, and their scores. None where none has one.

scored: entities that have a score.
mean_rps: mean RPS, from 0 to 1. None without a score.
share_below_0.33: share of entities with an RPS below 0.33: blind spots.
share_above_0.5: share of entities with an RPS above 0.5.
"""


class SampleCounts(TypedDict, total=False):
    """Pairs of a sampled knowledge base that are there for others' sake alone.

    not_of_the_sample: pairs that are there for others' sake alone.
    """

    not_of_the_sample: int


class PairCounts(SampleCounts):
    """Pairs (x, t) of related entities, by outcome.

    related: pairs of related entities.
    measured: pairs that were ranked.
    pool_too_small: pairs with fewer than N - 1 unrelated entities.
    without_vector: pairs of which one has no vector.
    triples: relations that were read.
    self_loops: of these, relations of an entity to itself.
    unknown_ids: of these, relations to an id that is no entity.
    """

    related: int
    measured: int
    pool_too_small: int
    without_vector: int
    triples: int
    self_loops: int
    unknown_ids: int


class ReservoirFigures(TypedDict):
    """Neutrals per reservoir, and the standard error of an RPS that comes of it.

    size: unrelated entities that each pair is ranked among.
    mean_standard_error: mean standard error of an RPS that comes of it.
    """

    size: int
    mean_standard_error: float


class ProjectionFigures(TypedDict):
    """How entities were projected (see `argus.retrievability.geometry.Projection`).

    method: how points were made: LDA, PCA or UMAP.
    accuracy: share of held-out entities whose band LDA names right. None without.
    majority: share of the commonest band. None without.
    shrinkage: of LDA's covariances (Ledoit-Wolf), 0 for none to 1. None without LDA.
    sample: how many of the scored entities are shown, where not all are.
    """

    method: str
    accuracy: float | None
    majority: float | None
    shrinkage: float | None
    sample: NotRequired[int]


class FindingFigures(SettingFigures):
    """Figures from the ranks. The headline's figures are its own.

    bands: entities by band of RPS: below 0.33, below 0.66, and above (ARGUS §4.2).
    terciles: thirds of the scored entities. Absent in folders of earlier versions.
    settings: figures at every k and N. The first is the headline.
    curve_over_pool: mean RPS over N.
    curve_over_k: mean RPS over k.
    reservoir: how many unrelated entities were drawn. None where all were ranked.
    projection: picture of the embedding space. None where it was not made.
    """

    entities: StateCounts
    bands: BandCounts
    terciles: NotRequired[GroupFigures]
    pairs: PairCounts
    settings: list[SettingFigures]
    histogram: Histogram
    curve_over_pool: Curve
    curve_over_k: Curve
    reservoir: ReservoirFigures | None
    projection: ProjectionFigures | None


class AuditSummary(FindingFigures, Sliced, OfStore):
    """The figures of an audit.

    text_window: how much of texts embedded whole the encoder reads. None where not known.
    pooling: vectors of entities: span or sentence.
    relations_from: where relations came from: a file, "mentions", or a knowledge base.
    """

    text_window: TextWindow | None
    pooling: str
    relations_from: str | None


def headline(summary: AuditSummary) -> Iterator[str]:
    """Yield the mean RPS, how many entities are blind spots, and the settings."""
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
