"""The section of summary.json of a retriever's need audit, key by key. Shares are from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from typing_extensions import TypedDict

from argus.data.types import StateCounts
from argus.measures.slices import Sliced, slice_lines
from argus.retrievability.rps import BandCounts
from argus.retrievers.protocol import RetrieverNote, note_lines
from argus.scenarios.needs.risk_summary import WithRisk, risk_lines
from argus.scenarios.needs.summary import Mean, NeedCounts


class ServedHistogram(TypedDict):
    """Documents per interval of the share of their needs, between two edges."""

    edges: list[float]
    documents: list[int]


class ServedFigures(TypedDict):
    """Figures of a retriever by the needs of documents.

    found_at_1, found_at_k: means over documents of the share of their needs. bands: documents by
    that share at k. unreached: those for which it is 0. strange: results that are no document of
    the corpus. longest: results of the longest list.
    """

    k: int
    documents: StateCounts
    needs: NeedCounts
    found_at_1: Mean
    found_at_k: Mean
    bands: BandCounts
    unreached: int
    strange: int
    longest: int
    histogram: ServedHistogram


class ServedNeedsSummary(ServedFigures, Sliced, WithRisk):
    """The whole section. profiles_elsewhere: profiles of documents that the corpus lacks."""

    retriever: RetrieverNote
    profiles_elsewhere: int


def headline(summary: ServedNeedsSummary) -> Iterator[str]:
    """Yield how many documents are out of reach of their needs."""
    yield brief(summary)
    places: dict[Literal["found_at_1", "found_at_k"], str]
    places = {"found_at_1": "first", "found_at_k": f"in the top {summary['k']}"}
    for name, where in places.items():
        share = summary[name]
        yield (
            f"found {where}: {share['mean']:.1%} of a document's needs "
            f"({share['low']:.1%} to {share['high']:.1%})"
        )
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    yield from risk_lines(summary)
    if summary["longest"] < summary["k"]:
        yield f"no list of {summary['retriever']['name']} was longer than {summary['longest']}"
    if summary["strange"]:
        yield f"{summary['strange']:,} results are no document of the corpus: mind --result-id"
    yield from note_lines(summary["retriever"], summary["needs"]["total"])
    if reasons := summary["documents"]["reasons"]:
        shown = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
        yield f"not measured: {shown}"
    if summary["profiles_elsewhere"]:
        yield f"{summary['profiles_elsewhere']:,} profiles are of documents that the corpus lacks"


def brief(summary: ServedNeedsSummary) -> str:
    """Return the result in one line."""
    return (
        f"{summary['unreached']:,} of {summary['documents']['measured']:,} documents come back "
        f"from {summary['retriever']['name']} for none of their needs (top {summary['k']})"
    )
