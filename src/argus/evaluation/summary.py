"""An evaluation: its part of summary.json and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict

from argus.data.tables import read_table
from argus.data.types import StateCounts
from argus.measures.association import AssociationFigures
from argus.measures.significance import DifferenceFigures
from argus.measures.slices import SliceFigures, slice_lines
from argus.reports.section import Section, table
from argus.reports.slices import slices_table
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


SLICES = "evaluation_slices"
Cell: TypeAlias = str | int | float | None


def section(folder: Path, evaluation: EvaluationSummary) -> Section:
    """Build it from summary.json and per_query.parquet."""
    tables = {
        "evaluation_measures": _measures(evaluation),
        "evaluation_queries": _queries(folder, evaluation),
    }
    if evaluation["failed"]:
        rows = [[row["query_id"], row["reason"]] for row in evaluation["failed"]]
        tables["evaluation_failed"] = table(
            {"query": "text", "why it could not be asked": "text"}, rows
        )
    if evaluation["harmed"]:
        tables["evaluation_harmed"] = _harmed(evaluation["harmed"])
    if evaluation["implicitness"]["groups"]:
        tables["evaluation_groups"] = _groups(evaluation)
    if evaluation["association"]:
        association = evaluation["association"]
        tables["evaluation_association"] = _association(evaluation["systems"], association)
    if "slices" in evaluation:
        tables["evaluation_slices"] = slices_table(folder, SLICES)
    return Section({}, tables, _brief(evaluation))


def _brief(evaluation: EvaluationSummary) -> str:
    name, measured = evaluation["headline"], evaluation["queries"]["measured"]
    if not evaluation["comparison"]:
        value = evaluation["systems"][-1]["measures"][name]
        return f"{name} {value:.3f} on {measured:,} queries"
    change = evaluation["comparison"][name]
    return (
        f"{name} {change['mean_before']:.3f} → {change['mean_after']:.3f} "
        f"({change['mean_difference']:+.4f}; 95% interval "
        f"{interval(change['low'], change['high'], change['no_interval'])}) on {measured:,} "
        f"queries: {change['improved']:,} improved, {change['harmed']:,} harmed"
    )


def interval(low: float | None, high: float | None, why_not: str = "") -> str:
    """Return an interval of a difference in words, or why there is none."""
    if low is None or high is None:
        return f"none: {why_not}" if why_not else "none"
    return f"{low:+.4f} to {high:+.4f}"


_DIFFERENCE = {
    "difference": "text",
    "95% interval": "text",
    "p": "text",
    "improved": "count",
    "harmed": "count",
    "unchanged": "count",
}


def _difference_cells(change: DifferenceFigures) -> list[Cell]:
    return [
        f"{change['mean_difference']:+.4f}",
        interval(change["low"], change["high"], change["no_interval"]),
        f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else ""),
        change["improved"],
        change["harmed"],
        change["unchanged"],
    ]


def _values(evaluation: EvaluationSummary) -> dict[str, str]:
    names = ("before", "after") if evaluation["comparison"] else ("value",)
    return dict.fromkeys(names, "share")


def _measures(evaluation: EvaluationSummary) -> Any:
    systems, comparison = evaluation["systems"], evaluation["comparison"]
    rows: list[list[Cell]] = []
    for name in systems[0]["measures"]:
        values = [system["measures"][name] for system in systems]
        rows.append([name, *values, *(_difference_cells(comparison[name]) if comparison else [])])
    columns = {"measure": "text"} | _values(evaluation) | (_DIFFERENCE if comparison else {})
    return table(columns, rows)


def _groups(evaluation: EvaluationSummary) -> Any:
    headline = evaluation["headline"]
    rows: list[list[Cell]] = []
    words = {
        "implicit": "share no word with a relevant title",
        "sharing": "share a word with a relevant title",
    }
    for group in evaluation["implicitness"]["groups"]:
        comparison = group["comparison"]
        values = [measures[headline] for measures in group["measures"]]
        rest = _difference_cells(comparison[headline]) if comparison else []
        rows.append([words[group["name"]], group["queries"], *values, *rest])
    columns = {"questions that": "text", "queries": "count"} | _values(evaluation)
    return table(columns | (_DIFFERENCE if evaluation["comparison"] else {}), rows)


def _harmed(queries: list[HarmedQuery]) -> Any:
    columns = {
        "query": "text",
        "before": "share",
        "after": "share",
        "difference": "text",
        "first relevant rank, before": "count",
        "after (none: not in the run)": "count",
    }
    return table(
        columns,
        [
            [
                f"{row['text']} · {row['query_id']}",
                row["before"],
                row["after"],
                f"{row['difference']:+.4f}",
                row["rank_before"],
                row["rank_after"],
            ]
            for row in queries
        ],
    )


def _association(
    systems: Sequence[SystemFigures], association: Sequence[Sequence[AssociationFigures]]
) -> Any:
    columns = {
        "system": "text",
        "k": "count",
        "retrieved": "count",
        "their mean highest RPS": "share",
        "unretrieved": "count",
        "their mean": "share",
        "difference": "text",
        "95% interval": "text",
        "not in the index": "count",
        "no RPS": "count",
    }
    rows: list[list[Cell]] = []
    for system, figures in zip(systems, association, strict=True):
        for at_k in figures:
            difference = at_k["difference"]
            low, high = at_k["low"], at_k["high"]
            rows.append(
                [
                    system["name"],
                    at_k["k"],
                    at_k["retrieved"],
                    at_k["mean_retrieved"],
                    at_k["unretrieved"],
                    at_k["mean_unretrieved"],
                    "–" if difference is None else f"{difference:+.4f}",
                    interval(low, high),
                    at_k["not_indexed"],
                    at_k["without_rps"],
                ]
            )
    return table(columns, rows)


def _queries(folder: Path, evaluation: EvaluationSummary) -> Any:
    headline = evaluation["headline"]
    ends = [" before", " after"] if evaluation["comparison"] else [""]
    rows = read_table(folder / "per_query.parquet").to_pylist()
    rows = [row for row in rows if row["state"] == "measured"]
    last = headline + ends[-1]
    rows.sort(key=lambda row: (row[last], row["query_id"]))
    columns = {"query": "text", "relevant": "count", "shares a word with a title": "text"}
    columns |= {(headline + end).strip(): "share" for end in ends}
    columns |= {("first relevant rank" + end).strip(): "count" for end in ends}
    sharing = {True: "no", False: "yes", None: ""}
    return table(
        columns,
        [
            [
                f"{row['text']} · {row['query_id']}",
                row["relevant"],
                sharing[row["implicit"]],
                *(row[headline + end] for end in ends),
                *(row["rank" + end] for end in ends),
            ]
            for row in rows
        ],
    )
