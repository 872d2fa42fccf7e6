"""A comparison's part of summary.json, and the rows of its tables, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from argus.evaluation.history import FigureChange
from argus.measures.significance import DifferenceFigures, with_interval
from argus.measures.slices import SliceFigures, slice_lines


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
