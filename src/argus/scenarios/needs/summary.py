"""The need audit's section of summary.json, key by key. Shares and RPS are from 0 to 1."""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import TypedDict

from argus.data.types import StateCounts
from argus.jobs.workspace import TextWindow
from argus.retrievability.rps import BandCounts
from argus.scenarios.ablation.summary import CellName

Figure: TypeAlias = Literal["found_at_1", "found_at_k", "rps"]
"""What is measured of a document: its needs that find it first and in the top k, and RPS."""


class Bounds(TypedDict):
    """In the top k of N candidates (`pool`)."""

    k: int
    pool: int


class Mean(TypedDict):
    """A mean over documents and its 95% interval."""

    mean: float
    low: float
    high: float


class MeanDifference(TypedDict):
    """A mean over documents of after minus before; low, high: None where there is no interval.

    improved, harmed: documents.
    """

    mean: float
    low: float | None
    high: float | None
    improved: int
    harmed: int


class ComparedMean(Mean):
    """The mean with scenarios. difference: to documents alone."""

    difference: MeanDifference


class Reach(TypedDict):
    """Documents by bands of RPS. unreached: those that none of their needs finds in the top k."""

    bands: BandCounts
    unreached: int


class AloneFigures(Reach):
    """The index of documents alone."""

    found_at_1: Mean
    found_at_k: Mean
    rps: Mean


class CellFigures(CellName):
    """The index with one component of the scenarios at one λ, each need's own held out."""

    found_at_1: ComparedMean
    found_at_k: ComparedMean
    rps: ComparedMean


class FusedFigures(CellFigures, Reach):
    """The cell that is told of each document."""


class AuditedDocuments(StateCounts):
    """Documents. indexed: that have a vector; with_scenarios: those of them with a profile."""

    indexed: int
    with_scenarios: int


class NeedCounts(TypedDict):
    """Needs of documents that have a vector."""

    total: int
    measured: int
    failed: int


class Histogram(TypedDict):
    """Documents per interval of RPS between two edges."""

    edges: list[float]
    alone: list[int]
    fused: list[int]


class NeedsFigures(TypedDict):
    """What the needs say. k: how far down the corpus is read. wanted: `rps` as it was set."""

    k: int
    rps: Bounds
    wanted: Bounds
    documents: AuditedDocuments
    needs: NeedCounts
    scenarios_failed: int
    alone: AloneFigures
    fused: FusedFigures
    recovered: int
    """Documents that only the index with scenarios brings back in the top k, for any need."""
    lost: int
    """Documents that only the index without them does."""
    grid: list[CellFigures]
    histogram: Histogram


class NeedsSummary(NeedsFigures):
    """The whole section. profiles_elsewhere: profiles of documents that the corpus lacks."""

    text_window: TextWindow | None
    profiles_elsewhere: int
