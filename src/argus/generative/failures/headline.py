"""Summarise an analysis of failures in a few lines."""

from __future__ import annotations

from collections.abc import Iterator

from argus.generative.failures.summary import Comparison, FailureSummary, SystemSummary
from argus.generative.failures.tables.records import Value

SHOWN_MODES = 5
HITS = ("hit_1", "hit_k")


def headline(summary: FailureSummary) -> Iterator[str]:
    """Yield how each system fared, and the modes that tell its failures apart."""
    for system in summary["systems"]:
        yield from _system(system, summary["k"])
    if comparison := summary["comparison"]:
        names = [system["name"] for system in summary["systems"]]
        yield f"{names[1]} against {names[0]}, on {comparison['questions']:,} questions of both"
        yield from _differences(comparison, summary["k"])
    if summary["judge"]:
        for name, verdicts in summary["judge"]["systems"].items():
            counts = verdicts["questions"]
            yield (
                f"verdicts on {name}: {counts['YES']:,} YES, {counts['PARTIAL']:,} PARTIAL, "
                f"{counts['NO']:,} NO, {counts['failed']:,} failed"
            )
    yield from summary["needs"]


def _system(system: SystemSummary, k: int) -> Iterator[str]:
    counts = system["questions"]
    yield f"{system['name']}: {counts['total']:,} questions, {counts['judged']:,} judged"
    if counts["judged"]:
        hits = (counts["found"] + counts["late"]) / counts["judged"]
        yield (
            f"  {counts['found']:,} found first, {counts['late']:,} more among the first {k} "
            f"(hits@{k} {hits:.1%}), {counts['failed']:,} failed"
        )
    shown = [mode for mode in system["modes"] if mode["among_failed"]][:SHOWN_MODES]
    for mode in shown:
        held = _share(mode["among_failed"], mode["measured_failed"], "failed")
        if mode["among_found"] is not None:
            held += f", {_share(mode['among_found'], mode['measured_found'], 'found')}"
        yield f"  {held:<36} {mode['name']}"
    for problem in system["problems"]:
        yield f"  {problem['count']:,} {problem['what']} ({problem['first']})"


def _differences(comparison: Comparison, k: int) -> Iterator[str]:
    for row in comparison["rows"]:
        figure = dict(zip(comparison["columns"], row, strict=True))
        if figure["figure"] in HITS:
            yield f"  {_difference(figure, k)}"


def _share(share: float | None, of: int, what: str) -> str:
    return f"{round((share or 0.0) * of):,} of {of:,} {what}"


def _difference(row: dict[str, Value], k: int) -> str:
    between = "" if row["low"] is None else f" ({row['low']:+.3f} to {row['high']:+.3f})"
    name = {"hit_1": "hits@1", "hit_k": f"hits@{k}"}[str(row["figure"])]
    return f"{name} {row['first']:.3f}, {row['second']:.3f}: {row['difference']:+.3f}{between}"
