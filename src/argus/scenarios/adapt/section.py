"""The correction in words: its headline, and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argus.indexes.views import BEFORE
from argus.reports.section import Section

UNLABELLED = ("titles", "sentences")


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sources, the result on held-out needs, and the advice."""
    needs, learnt = summary["needs"], summary["learnt"]
    if summary["prescribed"] and not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    what = needs["source"] if needs["source"] in UNLABELLED else "needs"
    yield (
        f"{summary['remedy']}: learnt from {needs['used']:,} {what} of {needs['documents']:,} of "
        f"{summary['documents']:,} documents in {learnt['seconds']:.0f} s"
    )
    if needs["elsewhere"]:
        yield f"needs of {needs['elsewhere']:,} documents that the index does not hold: left out"
    if needs["failed"]:
        yield f"{needs['failed']:,} {what} could not be embedded and are left out"
    yield _held_out(learnt, what)
    yield from _kept(summary) if summary["prescribed"] else _abstained(summary)


def _held_out(learnt: Mapping[str, Any], what: str) -> str:
    held = learnt["held_out"]
    interval = (
        f"no interval: {held['no_interval']}"
        if held["low"] is None
        else f"95% {held['low']:+.3f} to {held['high']:+.3f}"
    )
    return (
        f"{what} held out, mean reciprocal rank of their documents among all: "
        f"{held['mean_before']:.3f} → {held['mean_after']:.3f} "
        f"({held['mean_difference']:+.3f}, {interval}); {held['improved']:,} documents improved, "
        f"{held['harmed']:,} harmed"
    )


def _kept(summary: Mapping[str, Any]) -> Iterator[str]:
    learnt, remedy, index = summary["learnt"], summary["remedy"], summary["index"]
    yield (
        f"rank {learnt['rank']}, α = {learnt['alpha']:g}: {summary['bytes'] / 1024:.0f} KiB, "
        f"{summary['multiplications']:,} multiplications more per query, no view"
    )
    if summary["others"]:
        yield f"in place of {', '.join(summary['others'])}: the latest correction counts"
    judged = summary["judged"]
    if judged is not None and judged["with_needs"]:
        yield (
            f"{judged['with_needs']:,} of the {judged['questions']:,} judged questions want a "
            "document that it was learnt from; what it does for others is told by the rest"
        )
    if summary["needs"]["source"] in UNLABELLED:
        yield (
            f"WARNING: learnt from {summary['needs']['source']}, which did not carry over to "
            "questions where that was measured (docs/results.md): judge it before you serve it"
        )
    if judged is None:
        yield (
            "what it does to real questions was not measured: with --queries and --qrels the same "
            "command says so"
        )
    yield (
        f"every query of {index} is corrected from now on; {index}@{BEFORE}{remedy} is as before. "
        f"A store with the same vectors is asked with --correction {summary['file']}"
    )


def _abstained(summary: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"nothing was prescribed: held out, {summary['needs']['source']} do not improve beyond "
        f"chance; {summary['index']} is searched as before"
    )
    yield "Needs of more documents may tell more (argus tune apply scenarios writes them)."


def section(folder: Path, adapt: Mapping[str, Any]) -> Section:
    """Build it from the summary alone."""
    if not adapt["prescribed"]:
        return Section(brief="no correction: held-out needs do not improve")
    held = adapt["learnt"]["held_out"]
    return Section(
        brief=f"held-out needs, mean reciprocal rank: {held['mean_before']:.3f} → "
        f"{held['mean_after']:.3f}"
    )
