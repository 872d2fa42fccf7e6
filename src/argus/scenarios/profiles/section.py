"""Scenarios in words: headlines of profiles and of additions, and the section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argus.jobs.recorded_model import spent
from argus.reports.section import MAX_ROWS, Section, table
from argus.scenarios.files import FILE, read_profiles
from argus.scenarios.profile import ProfileState


def profiles_headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many documents have scenarios, why others have none, and the cost."""
    documents = summary["documents"]
    yield (
        f"{documents['ok']:,} of {documents['total']:,} documents have "
        f"{summary['scenarios']:,} scenarios; {documents['noise']:,} are noise, "
        f"{documents['failed']:,} failed"
    )
    for failure in summary["failures"][:3]:
        yield f"failed, {failure['documents']:,} documents: {failure['reason']}"
    for note in summary["notes"][:3]:
        yield f"noted, {note['documents']:,} documents: {note['note']}"
    yield spent(summary["language_model"])


def added_headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the additions to an index, and which documents have nothing in it."""
    if not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    yield (
        f"{summary['remedy']}: {summary['views']:,} views ({summary['bytes'] / 2**20:.1f} MiB) of "
        f"{summary['documents_with_views']:,} documents"
    )
    if choice := summary.get("choice"):
        yield from choice_lines(choice)
    if known := summary["views_known"]:
        yield f"{known:,} more were in the index already"
    if others := summary["other_scenarios"]:
        yield (
            f"{', '.join(others)} also in the index: the best scenario of all counts. To have one "
            "component alone, roll the others back (argus tune undo ID)"
        )
    without = ", ".join(f"{n:,} ({why})" for why, n in summary["documents_without"].items())
    if without:
        yield f"documents without scenarios, found by their own text alone: {without}"
    if summary["profiles_of_other_documents"]:
        yield f"profiles of other documents: {summary['profiles_of_other_documents']:,}"
    if summary["views_failed"]:
        yield f"{summary['views_failed']:,} scenarios could not be embedded and are left out"


def choice_lines(choice: Mapping[str, Any]) -> Iterator[str]:
    """Yield the choice, its worth, and its cost to other documents."""
    yield (
        f"chosen by {choice['needs']:,} held-out needs of {choice['documents']:,} documents: "
        f"{choice['component']} at λ = {choice['lambda']:g}, mean reciprocal rank "
        f"{choice['mrr']['mean']:.3f} ({choice['mrr']['low']:.3f} to {choice['mrr']['high']:.3f}); "
        f"M+E at 0.7 {choice['usual']['mean']:.3f}, documents alone {choice['alone']['mean']:.3f}"
    )
    gain = choice["to_usual"]
    if gain["low"] is not None and gain["high"] is not None:
        yield (
            f"against M+E at 0.7 {gain['mean']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f}), "
            "chosen on the other half of the documents"
        )
    without = choice["without_scenarios"]
    if without["documents"]:
        yield (
            f"{without['documents']:,} documents have no scenarios: for the needs of such, "
            f"{without['mrr']:.3f}, {without['alone']:.3f} by documents alone"
        )


def section(folder: Path, scenarios: Mapping[str, Any]) -> Section:
    """Build it from profiles.jsonl."""
    profiles = read_profiles(folder / FILE).values()
    rows = [
        [p.doc_id, p.profile.main_topic, s.information_need, s.explanation]
        for p in profiles
        if p.profile is not None
        for s in p.profile.scenarios
    ]
    columns = dict.fromkeys(["document", "main topic", "information need", "explanation"], "text")
    tables = {"scenarios": table(columns, rows[:MAX_ROWS], total=len(rows))}
    missing = [
        [p.doc_id, str(p.state), p.reason] for p in profiles if p.state is not ProfileState.OK
    ]
    if missing:
        heads = dict.fromkeys(["document", "state", "reason"], "text")
        tables["without_scenarios"] = table(heads, missing[:MAX_ROWS], total=len(missing))
    d = scenarios["documents"]
    brief = f"{scenarios['scenarios']:,} scenarios for {d['ok']:,} of {d['total']:,} documents"
    return Section({}, tables, brief)
