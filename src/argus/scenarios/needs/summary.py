"""The need audit's section of summary.json, key by key. Shares and RPS are from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
from argus.data.types import StateCounts
from argus.jobs.workspace import TextWindow
from argus.measures.slices import Sliced, slice_lines
from argus.retrievability.rps import BandCounts
from argus.scenarios.figures import CellName
from argus.scenarios.figures import Mean as Mean
from argus.scenarios.figures import MeanDifference as MeanDifference
from argus.scenarios.needs.risk_summary import WithRisk, risk_lines

Figure: TypeAlias = Literal["found_at_1", "found_at_k", "rps"]
"""Measures of a document: its needs that find it first and in the top k, and RPS."""


class PoolRecord(TypedDict):
    """A `PoolSetting` in summary.json: in the top k of N candidates (`pool`).

    pool: size N of the pool of candidates.
    """

    k: int
    pool: int


class ComparedMean(Mean):
    """The mean with scenarios. difference: to documents alone."""

    difference: MeanDifference


class Reach(TypedDict):
    """Documents by bands of RPS.

    bands: documents by bands of RPS.
    unreached: documents that none of their needs finds in the top k.
    """

    bands: BandCounts
    unreached: int


class AloneFigures(Reach):
    """The index of documents alone.

    found_at_1: share of a document's needs that find it first.
    found_at_k: share of a document's needs that find it in the top k.
    rps: RPS over a document's needs.
    """

    found_at_1: Mean
    found_at_k: Mean
    rps: Mean


class CellFigures(CellName):
    """The index with one component of the scenarios at one λ, each need's own held out.

    found_at_1: share of a document's needs that find it first.
    found_at_k: share of a document's needs that find it in the top k.
    rps: RPS over a document's needs.
    """

    found_at_1: ComparedMean
    found_at_k: ComparedMean
    rps: ComparedMean


class FusedFigures(CellFigures, Reach):
    """The cell that is told of each document."""


class AuditedDocuments(StateCounts):
    """Documents.

    indexed: documents that have a vector.
    with_scenarios: of these, documents with a profile.
    """

    indexed: int
    with_scenarios: int


class NeedCounts(TypedDict):
    """Needs of documents that have a vector.

    total: needs of documents that have a vector.
    measured: needs that were asked.
    failed: needs that could not be embedded.
    """

    total: int
    measured: int
    failed: int


class Histogram(TypedDict):
    """Documents per interval of RPS between two edges.

    edges: borders of the intervals of RPS.
    alone: documents per interval, in the index of documents alone.
    fused: documents per interval, with scenarios.
    """

    edges: list[float]
    alone: list[int]
    fused: list[int]


class NeedsFigures(TypedDict):
    """Figures of the needs.

    k: how far down the corpus is read.
    rps: k and N that RPS is of, fewer candidates in a small corpus.
    wanted: k and N as they were set.
    documents: documents by outcome.
    scenarios_failed: scenarios that could not be embedded.
    recovered: documents that only the index with scenarios brings back in the top k, for any need.
    lost: documents that only the index without them does.
    grid: the index at each component and λ.
    """

    k: int
    rps: PoolRecord
    wanted: PoolRecord
    documents: AuditedDocuments
    needs: NeedCounts
    scenarios_failed: int
    alone: AloneFigures
    fused: FusedFigures
    recovered: int
    lost: int
    grid: list[CellFigures]
    histogram: Histogram


class NeedsSummary(NeedsFigures, OfStore, Sliced, WithRisk):
    """The whole section.

    text_window: how much of the documents the encoder reads.
    profiles_elsewhere: profiles of documents that the corpus lacks.
    """

    text_window: TextWindow | None
    profiles_elsewhere: int


def headline(summary: NeedsSummary) -> Iterator[str]:
    """Yield how many documents are out of reach of their needs, and the effect of scenarios."""
    documents, rps, nominal = summary["documents"], summary["rps"], summary["wanted"]
    alone, fused = summary["alone"], summary["fused"]
    if rps != nominal:
        yield (
            f"only {documents['indexed']:,} documents: RPS at k={rps['k']}, N={rps['pool']:,} "
            f"instead of k={nominal['k']}, N={nominal['pool']:,}"
        )
    yield brief(summary)
    places: dict[Literal["found_at_1", "found_at_k"], str]
    places = {"found_at_1": "first", "found_at_k": f"in the top {summary['k']}"}
    for name, where in places.items():
        change = fused[name]["difference"]
        interval = "no interval: fewer than 6 documents changed"
        if change["low"] is not None:
            interval = f"95% interval {change['low']:+.3f} to {change['high']:+.3f}"
        yield (
            f"found {where} of {documents['indexed']:,}: {alone[name]['mean']:.1%} of a "
            f"document's needs, {fused[name]['mean']:.1%} with scenarios "
            f"({change['mean']:+.3f}; {interval})"
        )
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    yield from risk_lines(summary)
    if documents["reasons"]:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in documents["reasons"].items())
        yield f"not measured: {reasons}"
    if summary["profiles_elsewhere"]:
        yield f"{summary['profiles_elsewhere']:,} profiles are of documents that the corpus lacks"


def brief(needs: NeedsSummary) -> str:
    """Return the result in one line."""
    low, n, rps = needs["alone"]["bands"]["low"], needs["documents"]["measured"], needs["rps"]
    alone = f"{low:,} of {n:,} documents cannot be reached by what they are for"
    if not low:
        alone = f"none of {n:,} documents is out of reach of what it is for"
    fused = needs["fused"]
    return (
        f"{alone} (RPS below 0.33 at k={rps['k']}, N={rps['pool']:,}); with scenarios "
        f"({fused['component']}, λ = {fused['lambda']:g}; each need's own held out) "
        f"{fused['bands']['low']:,}"
    )
