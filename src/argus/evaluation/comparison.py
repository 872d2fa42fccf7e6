"""Write a comparison of two systems, and build its headline and its section of the report.

Two folders of results, indexes, retrievers or runs become rows of documents and entities, each with
a verdict: lost, gained or the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.evaluation.judged import Slicer
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.measures.significance import DifferenceFigures, with_interval
from argus.measures.slices import Trials, slice_lines
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, naming, slices_table, table

GAINED, LOST, SAME = "gained", "lost", "same"
ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE = "only before", "only after", "not comparable"
VERDICTS = (LOST, GAINED, ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE, SAME)
MAX_NAMED = 200  # gained and lost documents and entities in the summary; the table holds all
SLICES = "comparison_slices"
Levels: TypeAlias = Sequence[int | None]
"""How a side brings an id back, before and after: more is better, None if it is not measured."""

_TEXT, _COUNT, _VALUE = pa.string(), pa.int64(), pa.float64()
SCHEMA = pa.schema(
    dict.fromkeys(("kind", "id", "label", "verdict", "before", "after"), _TEXT)
    | dict.fromkeys(("value_before", "value_after", "rps_change"), _VALUE)
    | {"rank_change": _COUNT}
)
"""One row per entity or document, as `comparison_row` makes it."""
QUERY_SCHEMA = pa.schema(
    dict.fromkeys(("query_id", "text", "entered", "left"), _TEXT) | {"changed": _COUNT}
)
"""One row per query: documents that enter and leave its top k, as titles, and their number."""
ONLY_SCHEMA = pa.schema(
    dict.fromkeys(("query_id", "text", "doc_id", "label", "only"), _TEXT)
    | dict.fromkeys(("rank", "grade"), _COUNT)
)
"""One row per query and document that one side alone brings into the top k.

only: that side, before or after. rank: on that side, from 1. grade: judged grade, null without.
"""


@dataclass(frozen=True, repr=False)
class CompareResult(Result):
    """Gains and losses between two results, indexes, retrievers or runs. All is in `folder`, too.

    summary:
        of: kind of the two sides: results, indexes, retrievers or runs.
        names, fingerprints: name and encoder of each side, before and after.
        notes: warnings for the reader.
        verdicts: number of entities and documents, by verdict.
        gained, lost: the first 200 rows that were gained, or lost.
        slices: shares of losses and gains by slice, if fields were named.

    Of two folders of results:
        same_corpus: whether both are of one corpus. None if that was not noted.
        kinds: figures of audit and exposure, before and after.
        changes: figures of the same documents and entities, by a paired test.
        measures: measures of judged questions, by a paired test, of two encoders.

    Of two indexes, retrievers or runs:
        k: length of the lists that are compared.
        queries: number of titles, entities and given queries, and of those that failed.
        without_title: documents without a title, which cannot be a query.
        changed_queries: queries with another top k.
        only_before, only_after: results that one side alone brings back. Not of two indexes.
        judged: relevant documents within k, by side. Not of two indexes.
    """

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    """One row per entity or document, see `argus.evaluation.comparison.SCHEMA`."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


def comparison_row(
    kind: str,
    id_: str,
    label: str,
    levels: Levels,
    sides: Sequence[str | None],
    values: Sequence[float | None] = (None, None),
    *,
    held: Sequence[bool] = (True, True),
    is_rps: bool = False,
) -> dict[str, Any]:
    """Return a row of SCHEMA. Each pair is before and after.

    kind: entity or document. levels: decide between lost and gained. sides: states in words.
    values: RPS of an entity, or rank by its name or title. held: whether a side has the id at all.
    is_rps: whether more is better, as of RPS.
    """
    verdict = _verdict(levels)
    if not all(held):
        verdict = ONLY_BEFORE if held[0] else ONLY_AFTER
    change = None if values[0] is None or values[1] is None else values[1] - values[0]
    changes = (change, None) if is_rps else (None, change)
    cells = (kind, id_, label, verdict, *sides, *values, *changes)
    return dict(zip(SCHEMA.names, cells, strict=True))


def _verdict(levels: Levels) -> str:
    before, after = levels
    if before is None or after is None:
        return NOT_COMPARABLE
    return SAME if before == after else GAINED if after > before else LOST


def write_comparison(
    folder: ArtifactFolder,
    record: Record,
    about: Sequence[Path],
    slicer: Slicer | None,
    summary: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    queries: Sequence[Mapping[str, Any]] | None = None,
    only: Sequence[Mapping[str, Any]] | None = None,
    relevant: Sequence[tuple[str, Levels]] = (),
) -> CompareResult:
    """Write tables, summary, manifest and report of two sides, before and after.

    about: folders of the two sides. slicer: by which losses and gains are counted, too. Documents
    count if both sides could bring them back. A relevant document counts once per query. summary:
    all but what is counted of rows. queries, only: rows of QUERY_SCHEMA and ONLY_SCHEMA. relevant:
    relevant documents by query, each with whether it comes back before and after.
    """

    def order(row: Mapping[str, Any]) -> tuple[str, int, float, str]:
        """Sort by kind, then losses first, then the greatest change first, then by id."""
        change = row["rps_change"] or row["rank_change"] or 0
        return row["kind"], VERDICTS.index(row["verdict"]), -abs(change), row["id"]

    compared = pa.Table.from_pylist(sorted(rows, key=order), schema=SCHEMA)
    listed = compared.to_pylist()  # a rank is a float here
    verdicts = {
        kind: {v: sum(r["kind"] == kind and r["verdict"] == v for r in listed) for v in VERDICTS}
        for kind in sorted({row["kind"] for row in listed})
    }
    tables = {"comparison": compared}
    if queries is not None:
        tables["comparison_queries"] = pa.Table.from_pylist(queries, schema=QUERY_SCHEMA)
    if only is not None:
        tables["comparison_only"] = pa.Table.from_pylist(only, schema=ONLY_SCHEMA)
    summary = {**summary, "verdicts": verdicts}
    if slicer is not None:
        own = ((row["id"], row["verdict"]) for row in listed if row["kind"] == "document")
        documents = [one for one in own if one[1] in (LOST, GAINED, SAME)]
        judged = [(id_, _verdict(levels)) for id_, levels in relevant]
        ids = dict.fromkeys(id_ for id_, _ in (*documents, *judged))
        place = {id_: i for i, id_ in enumerate(ids)}
        trials = []
        for name, outcomes in (("documents", documents), ("relevant documents", judged)):
            items = np.array([place[id_] for id_, _ in outcomes], dtype=np.int64)
            for verdict in (LOST, GAINED):
                values = np.array([float(outcome == verdict) for _, outcome in outcomes])
                trials.append(Trials(f"{name} {verdict}", items, values, verdict == LOST))
        summary["slices"], sliced = slicer(([id_] for id_ in ids), trials)
        tables = {SLICES: sliced} | tables
    for verdict in (GAINED, LOST):
        summary[verdict] = [row for row in listed if row["verdict"] == verdict][:MAX_NAMED]
    record.encoder["fingerprint"] = " | ".join(dict.fromkeys(summary["fingerprints"]))
    record.open(folder, about=about)
    for name, content in tables.items():
        folder.write_table(name, content, csv=True)
    folder.write_results("comparison", summary, record.manifest(verdicts))
    return CompareResult(folder.path, write_report(folder.path), summary, compared)


LOST_MEANS = {
    "document": " (lost: no probe brings it back any more)",
    "entity": " (lost: it falls by a band of RPS)",
}
"""Meaning of a loss between two folders of results."""


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many were gained and lost, and the first of them by name."""
    yield from summary["notes"]
    exposure = summary.get("kinds", {}).get("exposure", {})
    for probe, name in (("their title", "title"), ("a sentence of their own", "sentence")):
        before, after = exposure.get(name, (None, None))
        if before is not None and after is not None:
            top = f"found by {probe}, top {exposure['k'][0]}"
            yield f"{top}: {before:.1%} before, {after:.1%} after"
    for change in summary.get("changes", ()):
        if (test := change["test"]) is not None:
            yield f"{change['figure']}, {change['common']:,} in both: {_tested(test)}"
    for measure, test in summary.get("measures", {}).items():
        yield f"{measure} of {test['queries']:,} judged questions: {_tested(test)}"
    for kind, verdicts in summary["verdicts"].items():
        shown = ", ".join(f"{n:,} {verdict}" for verdict, n in verdicts.items() if n)
        yield f"{kind}: {shown}{LOST_MEANS.get(kind, '') if 'kinds' in summary else ''}"
    if "only_before" in summary:
        yield only_one(summary)
    if "judged" in summary:
        yield relevant_sides(summary["judged"])
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    for row in (*summary["lost"][:5], *summary["gained"][:5]):
        name = row["label"] or row["id"]
        yield f"  {row['verdict']} {row['kind']} {name}: {row['before']} -> {row['after']}"


def _tested(test: DifferenceFigures) -> str:
    return (
        f"{test['mean_before']:.3f} -> {test['mean_after']:.3f}, {with_interval(test)}, "
        f"p={test['p_value']:.3g}{': ' + test['verdict'] if test['verdict'] else ''}"
    )


def only_one(summary: Mapping[str, Any]) -> str:
    """Return the sentence on results that one side alone brings back."""
    return (
        f"top {summary['k']} of {summary['queries']['given']:,} queries: "
        f"{summary['only_before']:,} results only before, {summary['only_after']:,} only after"
    )


def relevant_sides(judged: Mapping[str, int]) -> str:
    """Return the sentence on relevant documents, by side."""
    return (
        f"{judged['relevant']:,} relevant documents of {judged['queries']:,} queries: "
        f"{judged['both']:,} by both, {judged['only_before']:,} only before, "
        f"{judged['only_after']:,} only after, {judged['neither']:,} by neither"
    )


_RANKS = {"rank by title, before": "count", "rank by title, after": "count"}
_NAMES = {"rank by name, before": "count", "rank by name, after": "count"}
_VALUES: dict[str, dict[str, dict[str, str]]] = {
    "results": {"entity": {"RPS before": "share", "RPS after": "share"}, "document": _RANKS},
    "retrievers": {"document": {}},
    "runs": {"document": {}},
    "indexes": {"entity": _NAMES, "document": _RANKS},
}


def section(folder: Path, comparison: Mapping[str, Any]) -> Section:
    """Build the report's section from the summary and the tables in the folder."""
    values, verdicts = _VALUES[comparison["of"]], comparison["verdicts"]
    kinds = [kind for kind in values if kind in verdicts]
    columns = dict.fromkeys(("what", "name", "verdict", "before", "after"), "text")
    for kind in kinds:
        columns |= values[kind]
    rows = read_table(folder / "comparison.parquet").to_pylist()
    changes = [row for row in rows if row["verdict"] != SAME]
    shown = []
    for row in changes[:MAX_ROWS]:
        words = [row["verdict"], row["before"] or "", row["after"] or ""]
        pairs = ((row["value_before"], row["value_after"]) if row["kind"] == kind else (None, None)
                 for kind in kinds)  # fmt: skip
        name = naming(row["label"], row["id"])
        shown.append([row["kind"], name, *words, *(value for pair in pairs for value in pair)])
    tables = {"comparison": table(columns, shown, total=len(changes))}
    tests = {change["figure"]: change["test"] for change in comparison.get("changes", ())}
    changed = [
        [
            figure, f"{test['queries']:,}", f"{test['mean_before']:.3f}",
            f"{test['mean_after']:.3f}", with_interval(test), f"{test['p_value']:.3g}",
            test["verdict"] or "not told from chance",
        ]
        for figure, test in (tests | comparison.get("measures", {})).items()
        if test is not None
    ]  # fmt: skip
    if changed:
        names = ("figure", "items", "before", "after", "difference (95%)", "p", "verdict")
        tables["comparison_changes"] = table(dict.fromkeys(names, "text"), changed)
    if comparison["of"] != "results":
        queries = read_table(folder / "comparison_queries.parquet").to_pylist()
        moved = [list(row.values())[1:] for row in queries if row["changed"]]
        texts = ("query", "enter the top k", "leave it")
        columns = dict.fromkeys(texts, "text") | {"changes": "count"}
        tables["comparison_queries"] = table(columns, moved)
    if "judged" in comparison:
        only = read_table(folder / "comparison_only.parquet").to_pylist()
        wanted = (r for r in only if (r["grade"] or 0) > 0)
        cells = ((r["text"], naming(r["label"], r["doc_id"]), r["only"], r["rank"]) for r in wanted)
        relevant = [list(row) for row in cells]
        columns = dict.fromkeys(("query", "relevant document", "only"), "text") | {"rank": "count"}
        tables["comparison_only"] = table(columns, relevant)
    if "slices" in comparison:
        tables[SLICES] = slices_table(folder, SLICES)
    parts = [f"{v['gained']:,} {kind} gained, {v['lost']:,} lost" for kind, v in verdicts.items()]
    return Section({}, tables, "; ".join(parts))
