"""Summarise an evaluation: its part of summary.json, its headline and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NotRequired, TypeAlias

from typing_extensions import TypedDict

from argus.data.tables import read_table
from argus.data.types import StateCounts
from argus.measures.association import AssociationFigures
from argus.measures.significance import DifferenceFigures
from argus.measures.slices import SliceFigures, slice_lines
from argus.reports.section import Section, Table, table
from argus.reports.slices import slices_table
from argus.retrievers.protocol import kept_note

SLICES = "evaluation_slices"
Cell: TypeAlias = str | int | float | None


class UnaskedQueries(TypedDict):
    """Judged queries that are not among the queries.

    queries: number of them.
    ids: ids of the first 50.
    """

    queries: int
    ids: list[str]


class MissingDocuments(TypedDict):
    """Relevant documents that an index does not hold.

    documents: relevant documents that the index does not hold.
    pairs: pairs of a query and such a document.
    queries: queries that have one.
    queries_without_any: queries of which no relevant document is in the index.
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
    documents: documents in its index. None if that is not known.
    queries_without_results: queries for which nothing came back.
    longest_list: results in the longest list of a run. None of an index.
    beyond_its_lists: measures that read further down than that.
    kept: answers from an earlier run.
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


class HarmedQuery(TypedDict):
    """A query whose headline measure fell.

    before, after: headline measure of the query.
    difference: the fall, negative.
    rank_before, rank_after: rank of its first relevant document. None without one.
    """

    query_id: str
    text: str
    before: float
    after: float
    difference: float
    rank_before: int | None
    rank_after: int | None


class QueryGroup(TypedDict):
    """Queries by whether they share a word with a relevant title.

    name: implicit (no word) or sharing.
    queries: queries of the group.
    measures: per system, measure to its mean.
    comparison: second system against the first, by measure. None of one.
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
    bm25: measures of BM25 over the same texts. None without texts.
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

    headline: measure by which systems are compared.
    depth: documents per list.
    failed: queries that could not be asked, with the reason.
    documents: documents in both indexes, only before and only after. None of one system.
    comparison: second system against the first, by measure. None of one system.
    harmed: the worst 200 queries by the headline measure. None of one system.
    association: ARGUS Table 4 for each system at each k. None without a diagnosis.
    association_left_out: k to which the lists do not reach.
    """

    headline: str
    depth: int
    queries: StateCounts
    failed: list[dict[str, str]]
    judged_but_not_asked: UnaskedQueries
    systems: list[SystemFigures]
    documents: dict[str, int] | None
    comparison: dict[str, DifferenceFigures] | None
    harmed: list[HarmedQuery] | None
    implicitness: Implicitness
    association: list[list[AssociationFigures]] | None
    association_left_out: list[int]
    parents: NotRequired[FoldFigures]
    slices: NotRequired[SliceFigures]


def headline(summary: EvaluationSummary) -> Iterator[str]:
    """Yield every measure, the doubts about it, and the effect of a change."""
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
    for row in summary["failed"][:5]:
        yield f"failed: query {row['query_id']}: {row['reason']}"
    for system in systems:
        yield from _doubts(system, counts["measured"])
    if summary["association_left_out"]:
        ks = ", ".join(map(str, summary["association_left_out"]))
        yield f"Table 4 is not told for k = {ks}: the runs are not that deep"
    if comparison:
        name = summary["headline"]
        yield f"by {name}: {_improved_and_harmed(comparison[name])}"
    share = summary["implicitness"]["share"]
    if share is not None:
        yield f"{share:.1%} of the queries share no word with a relevant title"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    for system in systems:
        if system["kept"]:
            yield f"{system['name']}: {kept_note(system['kept'], counts['total'])}"


def _doubts(system: SystemFigures, measured: int) -> Iterator[str]:
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


def change(summary: EvaluationSummary) -> str:
    """Return the change of judged questions in one line. The summary must have two systems."""
    name = summary["headline"]
    difference = (summary["comparison"] or {})[name]
    return change_of(f"{difference['queries']:,} judged questions, {name}", difference)


def change_of(title: str, difference: DifferenceFigures) -> str:
    """Return a mean before and after in one line. title: queries and measure."""
    return (
        f"{title}: {difference['mean_before']:.3f} → {difference['mean_after']:.3f} "
        f"({_difference(difference)}); {_improved_and_harmed(difference)}"
    )


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


def interval(low: float | None, high: float | None, why_not: str = "") -> str:
    """Return an interval of a difference in words, or why there is none."""
    if low is None or high is None:
        return f"none: {why_not}" if why_not else "none"
    return f"{low:+.4f} to {high:+.4f}"


def section(folder: Path, evaluation: EvaluationSummary) -> Section:
    """Build the report's section from the summary and per_query.parquet."""
    name, comparison = evaluation["headline"], evaluation["comparison"]
    tables = {
        "evaluation_measures": _tabulate_measures(evaluation),
        "evaluation_queries": _tabulate_queries(folder, evaluation),
    }
    if evaluation["failed"]:
        columns = {"query": "text", "why it could not be asked": "text"}
        failed = [[row["query_id"], row["reason"]] for row in evaluation["failed"]]
        tables["evaluation_failed"] = table(columns, failed)
    if evaluation["harmed"]:
        tables["evaluation_harmed"] = _tabulate_harmed(evaluation["harmed"])
    if evaluation["implicitness"]["groups"]:
        tables["evaluation_groups"] = _tabulate_groups(evaluation)
    if evaluation["association"]:
        tables["evaluation_association"] = _tabulate_association(evaluation)
    if "slices" in evaluation:
        tables[SLICES] = slices_table(folder, SLICES)
    if comparison is None:
        value = evaluation["systems"][-1]["measures"][name]
        brief = f"{name} {value:.3f} on {evaluation['queries']['measured']:,} queries"
    else:
        found = comparison[name]
        ends = interval(found["low"], found["high"], found["no_interval"])
        brief = (
            f"{name} {found['mean_before']:.3f} → {found['mean_after']:.3f} "
            f"({found['mean_difference']:+.4f}; 95% interval {ends}) on "
            f"{evaluation['queries']['measured']:,} queries: {found['improved']:,} improved, "
            f"{found['harmed']:,} harmed"
        )
    return Section({}, tables, brief)


def _value_columns(evaluation: EvaluationSummary) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns of the systems' values, and those of their difference."""
    if not evaluation["comparison"]:
        return {"value": "share"}, {}
    texts = dict.fromkeys(("difference", "95% interval", "p"), "text")
    counts = dict.fromkeys(("improved", "harmed", "unchanged"), "count")
    return {"before": "share", "after": "share"}, texts | counts


def _difference_cells(found: DifferenceFigures) -> list[Cell]:
    return [
        f"{found['mean_difference']:+.4f}",
        interval(found["low"], found["high"], found["no_interval"]),
        f"{found['p_value']:.4f}" + (" (exact)" if found["exact"] else ""),
        found["improved"],
        found["harmed"],
        found["unchanged"],
    ]


def _tabulate_measures(evaluation: EvaluationSummary) -> Table:
    systems, comparison = evaluation["systems"], evaluation["comparison"]
    rows: list[list[Cell]] = []
    for name in systems[0]["measures"]:
        values = [system["measures"][name] for system in systems]
        rows.append([name, *values, *(_difference_cells(comparison[name]) if comparison else [])])
    values_of, differences = _value_columns(evaluation)
    return table({"measure": "text"} | values_of | differences, rows)


def _tabulate_groups(evaluation: EvaluationSummary) -> Table:
    name = evaluation["headline"]
    words = {
        "implicit": "share no word with a relevant title",
        "sharing": "share a word with a relevant title",
    }
    rows: list[list[Cell]] = []
    for group in evaluation["implicitness"]["groups"]:
        comparison = group["comparison"]
        values = [measures[name] for measures in group["measures"]]
        rest = _difference_cells(comparison[name]) if comparison else []
        rows.append([words[group["name"]], group["queries"], *values, *rest])
    values_of, differences = _value_columns(evaluation)
    return table({"questions that": "text", "queries": "count"} | values_of | differences, rows)


def _tabulate_harmed(queries: list[HarmedQuery]) -> Table:
    ranks = ("first relevant rank, before", "after (none: not in the run)")
    columns = {"query": "text", "before": "share", "after": "share", "difference": "text"}
    rows: list[list[Cell]] = []
    for row in queries:
        title, difference = f"{row['text']} · {row['query_id']}", f"{row['difference']:+.4f}"
        values: list[Cell] = [row["before"], row["after"], difference]
        rows.append([title, *values, row["rank_before"], row["rank_after"]])
    return table(columns | dict.fromkeys(ranks, "count"), rows)


def _tabulate_association(evaluation: EvaluationSummary) -> Table:
    columns = {
        "system": "text", "k": "count", "retrieved": "count", "their mean highest RPS": "share",
        "unretrieved": "count", "their mean": "share", "difference": "text",
        "95% interval": "text", "not in the index": "count", "no RPS": "count",
    }  # fmt: skip
    rows: list[list[Cell]] = []
    association = evaluation["association"] or []
    for system, figures in zip(evaluation["systems"], association, strict=True):
        for at_k in figures:
            difference = at_k["difference"]
            rows.append([
                system["name"], at_k["k"], at_k["retrieved"], at_k["mean_retrieved"],
                at_k["unretrieved"], at_k["mean_unretrieved"],
                "–" if difference is None else f"{difference:+.4f}",
                interval(at_k["low"], at_k["high"]), at_k["not_indexed"], at_k["without_rps"],
            ])  # fmt: skip
    return table(columns, rows)


def _tabulate_queries(folder: Path, evaluation: EvaluationSummary) -> Table:
    name = evaluation["headline"]
    ends = [" before", " after"] if evaluation["comparison"] else [""]
    rows = read_table(folder / "per_query.parquet").to_pylist()
    rows = [row for row in rows if row["state"] == "measured"]
    rows.sort(key=lambda row: (row[name + ends[-1]], row["query_id"]))
    columns = {"query": "text", "relevant": "count", "shares a word with a title": "text"}
    columns |= {(name + end).strip(): "share" for end in ends}
    columns |= {("first relevant rank" + end).strip(): "count" for end in ends}
    shown: list[list[Cell]] = []
    for row in rows:
        sharing = {True: "no", False: "yes", None: ""}[row["implicit"]]
        values = [row[start + end] for start in (name, "rank") for end in ends]
        shown.append([f"{row['text']} · {row['query_id']}", row["relevant"], sharing, *values])
    return table(columns, shown)
