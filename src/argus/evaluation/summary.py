"""An evaluation's part of summary.json, key by key. No value in it is NaN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.types import StateCounts
from argus.measures.association import AssociationFigures
from argus.measures.significance import DifferenceFigures
from argus.measures.slices import SliceFigures, slice_lines
from argus.retrievers.protocol import kept_note


class FailedQuery(TypedDict):
    """A query that an encoder rejected.

    reason: why the encoder rejected it.
    """

    query_id: str
    reason: str


class UnaskedQueries(TypedDict):
    """Judged queries that are not among the queries.

    queries: judged queries that are not among the queries.
    ids: ids of the first 50.
    """

    queries: int
    ids: list[str]


class MissingDocuments(TypedDict):
    """Relevant documents that an index does not hold.

    documents: relevant documents that the index does not hold.
    pairs: pairs of a query and such a document.
    queries: queries that have one.
    queries_without_any: queries whose relevant documents are all such ones.
    ids: ids of the first 50.
    """

    documents: int
    pairs: int
    queries: int
    queries_without_any: int
    ids: list[str]


class SystemFigures(TypedDict):
    """One system.

    name: index, retriever or run.
    fingerprint: encoder of its vectors.
    documents: documents in its index; None where that is not known.
    queries_without_results: queries for which nothing came back.
    longest_list: results in the longest list of a run; None of an index.
    beyond_its_lists: measures that read further down than that.
    kept: answers that an earlier run got.
    measures: name to mean.
    """

    name: str
    fingerprint: str
    documents: int | None
    queries_without_results: int
    longest_list: int | None
    beyond_its_lists: list[str]
    kept: int
    warning: str | None
    missing_judged_documents: MissingDocuments | None
    measures: dict[str, float]


class SharedDocuments(TypedDict):
    """Documents of two indexes.

    both: documents that both indexes hold.
    only_before, only_after: documents that one index alone holds.
    """

    both: int
    only_before: int
    only_after: int


class HarmedQuery(TypedDict):
    """A query whose headline measure fell. rank: of its first relevant document, None without.

    text: text of the query.
    before, after: headline measure of the query.
    difference: how far it fell.
    rank_before, rank_after: rank of its first relevant document; None without one.
    """

    query_id: str
    text: str
    before: float
    after: float
    difference: float
    rank_before: int | None
    rank_after: int | None


class QueryGroup(TypedDict):
    """Queries that share no word with a relevant title ("implicit"), or one ("sharing").

    name: implicit (no word of a relevant title) or sharing.
    queries: queries of the group.
    measures: per system, measure to its mean.
    comparison: second system against the first, by measure; None of one.
    """

    name: str
    queries: int
    measures: list[dict[str, float]]
    comparison: dict[str, DifferenceFigures] | None


class Implicitness(TypedDict):
    """How implicit the queries are.

    measured: queries that have a relevant title.
    not_applicable: queries without one.
    implicit: queries that share no content word with a relevant title.
    share: these as a share of the measured ones.
    mean_overlap: mean share of a query's content words in its best relevant text.
    overlap_measured: queries that this mean is over.
    bm25: measures of BM25 over the same texts; None without texts.
    """

    measured: int
    not_applicable: int
    implicit: int
    share: float | None
    mean_overlap: float | None
    overlap_measured: int
    bm25: dict[str, float] | None
    groups: list[QueryGroup]


class FoldFigures(TypedDict):
    """Chunks folded to documents, each scored as its best chunk.

    field: field that names the document of a chunk.
    chunks: chunks that were folded.
    documents: documents that they became.
    """

    field: str
    chunks: int
    documents: int


class EvaluationSummary(TypedDict):
    """One system, or two: before and after.

    documents, comparison (by measure) and harmed (the worst 200 by the headline measure) are None
    of one system.

    headline: measure by which systems are compared.
    depth: documents per list.
    documents: documents that two indexes share; None of one system.
    comparison: second system against the first, by measure; None of one system.
    harmed: the worst 200 queries by the headline measure; None of one system.
    association: ARGUS Table 4 for each system at each k; None without a diagnosis.
    association_left_out: k to which the lists do not reach.
    """

    headline: str
    depth: int
    queries: StateCounts
    failed: list[FailedQuery]
    judged_but_not_asked: UnaskedQueries
    systems: list[SystemFigures]
    documents: SharedDocuments | None
    comparison: dict[str, DifferenceFigures] | None
    harmed: list[HarmedQuery] | None
    implicitness: Implicitness
    association: list[list[AssociationFigures]] | None
    association_left_out: list[int]
    parents: NotRequired[FoldFigures]
    slices: NotRequired[SliceFigures]


def headline(summary: EvaluationSummary) -> Iterator[str]:
    """Yield every measure, what makes it doubtful, and what a change did."""
    counts, systems, comparison = summary["queries"], summary["systems"], summary["comparison"]
    yield (
        f"queries: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable"
    )
    if fold := summary.get("parents"):
        yield (
            f"{fold['chunks']:,} chunks folded to {fold['documents']:,} documents by "
            f"{fold['field']}: a document scores as its best chunk"
        )
    for name in systems[0]["measures"]:
        values = " -> ".join(f"{system['measures'][name]:.4f}" for system in systems)
        difference = f" ({_difference(comparison[name])})" if comparison else ""
        yield f"{name}: {values}{difference}"
    yield from _doubts(summary)
    if comparison:
        judged_by = summary["headline"]
        yield f"by {judged_by}: {_improved_and_harmed(comparison[judged_by])}"
    share = summary["implicitness"]["share"]
    if share is not None:
        yield f"{share:.1%} of the queries share no word with a relevant title"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    for system in systems:
        if system["kept"]:
            yield f"{system['name']}: {kept_note(system['kept'], counts['total'])}"


def change(summary: EvaluationSummary) -> str:
    """Return what a change did to judged questions, in one line: before and after were measured."""
    name = summary["headline"]
    difference = (summary["comparison"] or {})[name]
    return change_of(f"{difference['queries']:,} judged questions, {name}", difference)


def change_of(what: str, difference: DifferenceFigures) -> str:
    """Return a mean before and after in one line; what: queries and measure, in words."""
    return (
        f"{what}: {difference['mean_before']:.3f} → {difference['mean_after']:.3f} "
        f"({_difference(difference)}); {_improved_and_harmed(difference)}"
    )


def _doubts(summary: EvaluationSummary) -> Iterator[str]:
    """Yield what a reader of the figures must know of the queries and systems."""
    for row in summary["failed"][:5]:
        yield f"failed: query {row['query_id']}: {row['reason']}"
    for system in summary["systems"]:
        yield from _doubts_of(system, summary["queries"]["measured"])
    if summary["association_left_out"]:
        ks = ", ".join(map(str, summary["association_left_out"]))
        yield f"Table 4 is not told for k = {ks}: the runs are not that deep"


def _doubts_of(system: SystemFigures, measured: int) -> Iterator[str]:
    name, empty = system["name"], system["queries_without_results"]
    if empty:
        loud = "WARNING: " if empty * 10 >= measured else ""
        yield f"{loud}{name}: {empty:,} of {measured:,} queries have no result; they count as 0"
    if system["beyond_its_lists"]:
        yield (
            f"{name}: no list is longer than {system['longest_list']:,}, so "
            f"{', '.join(system['beyond_its_lists'])} cannot tell what stood further down"
        )
    missing = system["missing_judged_documents"]
    if missing and missing["documents"]:
        yield (
            f"{name}: {missing['documents']:,} relevant documents are not in it "
            f"({missing['queries']:,} queries); no retriever could bring them back"
        )
    if system["warning"]:
        yield f"WARNING: {system['warning']}"


def _improved_and_harmed(difference: DifferenceFigures) -> str:
    return (
        f"{difference['improved']:,} queries improved, {difference['harmed']:,} harmed, "
        f"{difference['unchanged']:,} unchanged"
    )


def _difference(difference: DifferenceFigures) -> str:
    interval = (
        f"no interval: {difference['no_interval']}"
        if difference["low"] is None
        else f"95% {difference['low']:+.4f} to {difference['high']:+.4f}"
    )
    return f"{difference['mean_difference']:+.4f}, {interval}, p={difference['p_value']:.3g}"
