"""A comparison: its part of summary.json, its rows and tables, its lines and its section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, TypeAlias

import numpy as np
import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.tables import read_table
from argus.evaluation.history import FigureChange
from argus.evaluation.parents import Slicer
from argus.measures.significance import DifferenceFigures, with_interval
from argus.measures.slices import (
    Sliced,
    SliceFigures,
    SliceShare,
    Slicing,
    Trials,
    slice_figures,
    slice_lines,
    slice_shares,
    worst_first,
)
from argus.reports.section import MAX_ROWS, Section, naming, table
from argus.reports.slices import slices_table


class Ranks(TypedDict):
    """Ranks before and after, and what changed, in a row; the change of RPS is always None.

    value_before, value_after: RPS of an entity, or rank by its name or title; None without.
    rps_change: how much the RPS rose; None for ranks.
    rank_change: places further down, so less is better; None for RPS.
    """

    value_before: float | None
    value_after: float | None
    rps_change: float | None
    rank_change: int | None


class ComparisonRow(Ranks):
    """One row per entity or document of two results, indexes, retrievers or runs.

    kind: entity or document.
    verdict: lost, gained, only before, only after, not comparable or same.
    before, after: what was measured on this side, in words.
    """

    kind: Literal["entity", "document"]
    id: str
    label: str
    verdict: str
    before: str | None
    after: str | None


class QueryRow(TypedDict):
    """One row per query of two indexes, retrievers or runs.

    text: text of the query.
    entered: documents that enter its top k, as titles.
    left: documents that leave it, as titles.
    changed: how many these are.
    """

    query_id: str
    text: str
    entered: str
    left: str
    changed: int


class OnlyRow(TypedDict):
    """One row per query and document that one side alone brings into the top k.

    text: text of the query.
    only: side that brings it back: before or after.
    rank: rank of the document on that side, from 1.
    grade: judged grade; None where nobody judged it.
    """

    query_id: str
    text: str
    doc_id: str
    label: str
    only: str
    rank: int
    grade: int | None


Verdicts: TypeAlias = dict[str, dict[str, int]]
"""Kind ("entity", "document") to verdict (of `VERDICTS`) to how many."""

AuditSides = TypedDict(
    "AuditSides",
    {
        "k": list[int],
        "pool": list[int],
        "mean_rps": list[float | None],
        "share_below_0.33": list[float | None],
    },
)
"""Figures of two audits: before, after.

k: how far down a list counts, on each side.
pool: size N of the pool, on each side.
mean_rps: mean RPS, on each side.
share_below_0.33: share of blind spots, on each side.
"""


class ExposureSides(TypedDict):
    """Figures of two measurements of exposure: before, after.

    k: how far down a list counts, on each side.
    title, sentence: share of the probes that find their document, on each side.
    never_retrieved: documents that no probe brings back, on each side.
    """

    k: list[int]
    title: list[float | None]
    sentence: list[float | None]
    never_retrieved: list[int]


class JobSides(TypedDict):
    """Figures of the jobs that are compared."""

    audit: NotRequired[AuditSides]
    exposure: NotRequired[ExposureSides]


class ResultFigures(TypedDict):
    """What two folders of results give.

    same_corpus: whether both are of one corpus; None where that was not noted.
    changes: what both measured of the same documents and entities, by a paired test.
    measures: measures of judged questions, by a paired test, of two encoders.
    verdicts: entities and documents, by verdict.
    """

    same_corpus: bool | None
    kinds: JobSides
    changes: list[FigureChange]
    measures: NotRequired[dict[str, DifferenceFigures]]
    verdicts: Verdicts


class QueryCounts(TypedDict):
    """Queries by where they come from, and those that could not be asked.

    titles: queries that are titles of documents.
    entities: queries that are names of entities.
    given: queries that were given.
    """

    titles: int
    entities: int
    given: int
    failed: int


class JudgedSides(TypedDict):
    """Relevant documents within k, by who brings them back.

    queries: queries that have a relevant document.
    relevant: relevant documents of them.
    both: relevant documents that both sides bring back.
    only_before, only_after: relevant documents that one side alone brings back.
    neither: relevant documents that no side brings back.
    """

    queries: int
    relevant: int
    both: int
    only_before: int
    only_after: int
    neither: int


class ListFigures(TypedDict):
    """What two indexes, retrievers or runs give.

    without_title: documents without a title, which ask for nothing.
    changed_queries: queries whose top k is another.
    only_before, only_after: results that one side alone brings back, over all queries.
    judged: relevant documents by who brings them back, with judgements; not of two indexes.
    verdicts: entities and documents, by verdict.
    """

    k: int
    queries: QueryCounts
    without_title: int
    changed_queries: int
    only_before: NotRequired[int]
    only_after: NotRequired[int]
    judged: NotRequired[JudgedSides]
    verdicts: Verdicts


class ComparisonSummary(TypedDict):
    """What is gained and lost between two results, two indexes, two retrievers or two runs.

    of: what was compared: results, indexes, retrievers or runs.
    names: name of each side, before and after.
    fingerprints: encoder of each side, before and after.
    notes: what a reader should know.
    same_corpus: whether both are of one corpus; None where that was not noted.
    kinds: figures of the jobs of both folders, of results.
    changes: what both measured of the same documents and entities, by a paired test, of results.
    measures: measures of judged questions, by a paired test, of two encoders.
    without_title: documents without a title, which ask for nothing.
    changed_queries: queries whose top k is another.
    only_before, only_after: results that one side alone brings back, over all queries.
    verdicts: entities and documents, by verdict.
    gained, lost: the first 200 that were gained, or lost.
    slices: shares of what is lost and gained, where fields were named.
    """

    of: Literal["results", "indexes", "retrievers", "runs"]
    names: list[str]
    fingerprints: list[str]
    notes: list[str]
    same_corpus: NotRequired[bool | None]
    kinds: NotRequired[JobSides]
    changes: NotRequired[list[FigureChange]]
    measures: NotRequired[dict[str, DifferenceFigures]]
    k: NotRequired[int]
    queries: NotRequired[QueryCounts]
    without_title: NotRequired[int]
    changed_queries: NotRequired[int]
    only_before: NotRequired[int]
    only_after: NotRequired[int]
    judged: NotRequired[JudgedSides]
    verdicts: Verdicts
    gained: list[ComparisonRow]
    lost: list[ComparisonRow]
    slices: NotRequired[SliceFigures]


def headline(summary: ComparisonSummary) -> Iterator[str]:
    """Yield how many were gained and lost, and the first of them by name."""
    yield from summary["notes"]
    yield from _rates(summary)
    for kind, verdicts in summary["verdicts"].items():
        shown = ", ".join(f"{n:,} {verdict}" for verdict, n in verdicts.items() if n)
        yield f"{kind}: {shown}{LOST_MEANS.get(kind, '') if 'kinds' in summary else ''}"
    if "only_before" in summary:
        yield only_one(summary)
    if "judged" in summary:
        yield relevant_sides(summary["judged"])
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    for verdict, rows in (("lost", summary["lost"]), ("gained", summary["gained"])):
        for row in rows[:5]:
            name = row["label"] or row["id"]
            yield f"  {verdict} {row['kind']} {name}: {row['before']} -> {row['after']}"


LOST_MEANS = {
    "document": " (lost: no probe brings it back any more)",
    "entity": " (lost: it falls by a band of RPS)",
}
"""Words for what two folders of results count as lost."""


def _rates(summary: ComparisonSummary) -> Iterator[str]:
    """Yield the rates of both sides, and what changed by a paired test."""
    exposure = summary.get("kinds", {}).get("exposure")
    if exposure is not None:
        for probe, (before, after) in (
            ("their title", exposure["title"]),
            ("a sentence of their own", exposure["sentence"]),
        ):
            if before is not None and after is not None:
                top = f"found by {probe}, top {exposure['k'][0]}"
                yield f"{top}: {before:.1%} before, {after:.1%} after"
    for change in summary.get("changes", ()):
        if (test := change["test"]) is not None:
            yield f"{change['figure']}, {change['common']:,} in both: {_tested(test)}"
    for measure, test in summary.get("measures", {}).items():
        yield f"{measure} of {test['queries']:,} judged questions: {_tested(test)}"


def _tested(test: DifferenceFigures) -> str:
    return (
        f"{test['mean_before']:.3f} -> {test['mean_after']:.3f}, {with_interval(test)}, "
        f"p={test['p_value']:.3g}{': ' + test['verdict'] if test['verdict'] else ''}"
    )


def only_one(summary: ComparisonSummary) -> str:
    """Return how many results one side alone brings back."""
    return (
        f"top {summary['k']} of {summary['queries']['given']:,} queries: "
        f"{summary['only_before']:,} results only before, {summary['only_after']:,} only after"
    )


def relevant_sides(judged: JudgedSides) -> str:
    """Return who brings back what is relevant."""
    return (
        f"{judged['relevant']:,} relevant documents of {judged['queries']:,} queries: "
        f"{judged['both']:,} by both, {judged['only_before']:,} only before, "
        f"{judged['only_after']:,} only after, {judged['neither']:,} by neither"
    )


GAINED, LOST, SAME = "gained", "lost", "same"
ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE = "only before", "only after", "not comparable"
VERDICTS = (LOST, GAINED, ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE, SAME)
SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("id", pa.string()),
        ("label", pa.string()),
        ("verdict", pa.string()),
        ("before", pa.string()),
        ("after", pa.string()),
        ("value_before", pa.float64()),
        ("value_after", pa.float64()),
        ("rps_change", pa.float64()),
        ("rank_change", pa.int64()),
    ]
)
"""Rows are `ComparisonRow`s."""

QUERY_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "text", "entered", "left")]
    + [("changed", pa.int64())]
)
"""Rows are `QueryRow`s."""

ONLY_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "text", "doc_id", "label", "only")]
    + [("rank", pa.int64()), ("grade", pa.int64())]
)
"""Rows are `OnlyRow`s."""


@dataclass(frozen=True, slots=True)
class RelevantPair:
    """A relevant document of a query, and whether it is in the top k, before and after."""

    document: str
    before: bool
    after: bool

    @property
    def verdict(self) -> str:
        """Lost, gained or the same."""
        return SAME if self.before == self.after else GAINED if self.after else LOST


def row_order(row: ComparisonRow) -> tuple[str, int, float, str]:
    """Sort key: kinds apart, what was lost first, the greatest change first, then by id."""
    change = row["rps_change"] or row["rank_change"] or 0
    return row["kind"], VERDICTS.index(row["verdict"]), -abs(change), row["id"]


def count_verdicts(rows: Sequence[ComparisonRow]) -> Verdicts:
    """Count verdicts per kind, all of them, at 0 where there is none."""
    return {
        kind: {v: sum(r["kind"] == kind and r["verdict"] == v for r in rows) for v in VERDICTS}
        for kind in sorted({row["kind"] for row in rows})
    }


SLICES = "comparison_slices"


@dataclass(frozen=True)
class ChangesBySlice:
    """shares: the worst first."""

    slicings: Sequence[Slicing] = ()
    shares: Sequence[SliceShare] = ()

    def figures(self) -> Sliced:
        """Return what the summary tells; nothing where no field was named."""
        return {"slices": slice_figures(self.slicings, self.shares)} if self.slicings else {}


NO_SLICES = ChangesBySlice()


def changes_by_slice(
    slicer: Slicer | None,
    rows: Sequence[ComparisonRow],
    pairs: Sequence[RelevantPair] = (),
) -> ChangesBySlice:
    """Return the shares of documents and of relevant documents that are lost and gained.

    rows: of which documents count that both sides could bring back. pairs: of a query and a
    relevant document; a document counts as often as it is relevant.
    """
    if slicer is None:
        return NO_SLICES
    verdicts = (LOST, GAINED, SAME)
    documents = [r for r in rows if r["kind"] == "document" and r["verdict"] in verdicts]
    ids = list(dict.fromkeys([r["id"] for r in documents] + [p.document for p in pairs]))
    slices = slicer.of([id_] for id_ in ids)
    place = {id_: i for i, id_ in enumerate(ids)}
    of_documents = [(place[r["id"]], r["verdict"]) for r in documents]
    of_pairs = [(place[p.document], p.verdict) for p in pairs]
    shares = [
        share
        for what, outcomes in (("documents", of_documents), ("relevant documents", of_pairs))
        for verdict in (LOST, GAINED)
        for share in slice_shares(slices, _trials(f"{what} {verdict}", outcomes, verdict))
    ]
    return ChangesBySlice(slices, worst_first(shares))


def _trials(share_of: str, outcomes: Sequence[tuple[int, str]], verdict: str) -> Trials:
    """Return one trial per outcome: whether it is the verdict."""
    items = np.array([item for item, _ in outcomes], dtype=np.int64)
    values = np.array([float(outcome == verdict) for _, outcome in outcomes])
    return Trials(share_of, items, values, is_bad=verdict == LOST)


Cell: TypeAlias = str | int | float | None

_RANKS = {"rank by title, before": "count", "rank by title, after": "count"}
_VALUES: dict[str, dict[str, dict[str, str]]] = {
    "results": {"entity": {"RPS before": "share", "RPS after": "share"}, "document": _RANKS},
    "retrievers": {"document": {}},
    "runs": {"document": {}},
    "indexes": {
        "entity": {"rank by name, before": "count", "rank by name, after": "count"},
        "document": _RANKS,
    },
}


def section(folder: Path, comparison: ComparisonSummary) -> Section:
    """Build it from comparison.parquet, and comparison_queries.parquet for others than results."""
    rows = read_table(folder / "comparison.parquet").to_pylist()
    values = _VALUES[comparison["of"]]
    kinds = [kind for kind in values if kind in comparison["verdicts"]]
    columns = dict.fromkeys(("what", "name", "verdict", "before", "after"), "text")
    for kind in kinds:
        columns |= values[kind]
    changes = [row for row in rows if row["verdict"] != "same"]
    shown = [_row(row, kinds) for row in changes[:MAX_ROWS]]
    tables = {"comparison": table(columns, shown, total=len(changes))}
    if changed := _changed(comparison):
        columns = dict.fromkeys(("figure", "items", "before", "after", "difference (95%)"), "text")
        tables["comparison_changes"] = table(columns | {"p": "text", "verdict": "text"}, changed)
    if comparison["of"] != "results":
        tables["comparison_queries"] = _queries(folder)
    if "judged" in comparison:
        tables["comparison_only"] = _relevant(folder)
    if "slices" in comparison:
        tables[SLICES] = slices_table(folder, SLICES)
    verdicts = comparison["verdicts"].items()
    parts = [f"{v['gained']:,} {kind} gained, {v['lost']:,} lost" for kind, v in verdicts]
    return Section({}, tables, "; ".join(parts))


def _changed(comparison: ComparisonSummary) -> list[list[Cell]]:
    """Return a row for each figure that both sides have, by its paired test."""
    tests = {change["figure"]: change["test"] for change in comparison.get("changes", ())}
    return [
        [
            figure, f"{test['queries']:,}", f"{test['mean_before']:.3f}",
            f"{test['mean_after']:.3f}", with_interval(test), f"{test['p_value']:.3g}",
            test["verdict"] or "not told from chance",
        ]
        for figure, test in (tests | comparison.get("measures", {})).items()
        if test is not None
    ]  # fmt: skip


def _row(row: ComparisonRow, kinds: Sequence[str]) -> list[Cell]:
    values: list[Cell] = []
    for kind in kinds:
        own = row["kind"] == kind
        values += [row["value_before"], row["value_after"]] if own else [None, None]
    name = naming(row["label"], row["id"])
    return [row["kind"], name, row["verdict"], row["before"] or "", row["after"] or "", *values]


def _queries(folder: Path) -> Any:
    rows = read_table(folder / "comparison_queries.parquet").to_pylist()
    changes = [row for row in rows if row["changed"]]
    return table(
        {"query": "text", "enter the top k": "text", "leave it": "text", "changes": "count"},
        [[row["text"], row["entered"], row["left"], row["changed"]] for row in changes[:MAX_ROWS]],
        total=len(changes),
    )


def _relevant(folder: Path) -> Any:
    """Return the relevant documents that one side alone brings back."""
    only = read_table(folder / "comparison_only.parquet").to_pylist()
    rows = [row for row in only if (row["grade"] or 0) > 0]
    return table(
        {"query": "text", "relevant document": "text", "only": "text", "rank": "count"},
        [
            [row["text"], naming(row["label"], row["doc_id"]), row["only"], row["rank"]]
            for row in rows[:MAX_ROWS]
        ],
        total=len(rows),
    )
