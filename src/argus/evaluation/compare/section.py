"""The comparison's section: documents and entities gained and lost, queries whose lists changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from argus.data.parquet import read_table
from argus.evaluation.compare.slices import FILE as SLICES
from argus.evaluation.compare.summary import ComparisonRow, ComparisonSummary
from argus.measures.significance import with_interval
from argus.reports.section import MAX_ROWS, Section, naming, table
from argus.reports.slices import slices_table

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
