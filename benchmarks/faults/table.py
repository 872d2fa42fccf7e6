"""The tables of docs/results/reliability.md and readers.md, their sums in docs/reliability.md.

All are made of benchmarks/results/faults.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.pages import DOCS, put

RESULTS = Path(__file__).parents[1] / "results" / "faults.json"
SUMS = DOCS / "reliability.md"
COMMANDS, OF_READERS = DOCS / "results" / "reliability.md", DOCS / "results" / "readers.md"
BEGIN = "<!-- begin: python -m benchmarks.faults -->"
PARTS = {
    "kill": "killed at a write (SIGKILL)",
    "term": "ended at a write (SIGTERM)",
    "full": "disk full from a write on",
    "gone": "mount gone from a write on",
    "behind": "clock set back by 400 days at a write",
    "ahead": "clock set ahead by 400 days at a write",
    "together": "two at once",
    "serve": "killed while jobs run and records stream in",
    "soak": "asked for long, with jobs and a stream",
    "fuzz": "damaged input",
    "coverage": "input that follows coverage",
}
HELD = {
    "kill": "kills", "term": "kills", "full": "disk", "gone": "mount", "behind": "clock",
    "ahead": "clock",
}  # fmt: skip
"""Part of the campaign whose records are of a fault."""
OF_SERVICE = ("serve", "soak")
OF_WHAT = {"fuzz": "readers", "coverage": "parsers", "together": "commands and pairs"}
A_LINE = 5
"""Names in a line of a list."""
BAD = ("lost", "wrong", "escaped", "left", "slow")
Records = Mapping[str, Mapping[str, Any]]


def write_table() -> None:
    """Put the tables of all figures that there are into the pages."""
    results: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text("utf-8"))["result"]
    put(SUMS, BEGIN, sums(results))
    put(COMMANDS, BEGIN, [*commands(results), *served(results), *soaked(results)])
    put(OF_READERS, BEGIN, readers(results))


def sums(results: Mapping[str, Records]) -> Iterator[str]:
    """Yield a row for each kind of fault."""
    yield "| fault | of | tries | lost | wrong | escaped | left | slow |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for part, words in PARTS.items():
        records = [r for name, r in _of(results, part) if r.get("tries")]
        if records:
            of = f"{len(records)} {OF_WHAT.get(part, 'commands')}"
            of = "`argus serve`" if part in OF_SERVICE else of
            yield _row(words, of, f"{_sum(records, 'tries'):,}", *(_sum(records, b) for b in BAD))


def commands(results: Mapping[str, Records]) -> Iterator[str]:
    """Yield a row for each command: its writes, its tries by fault, and what became of them."""
    yield "## Commands"
    yield ""
    yield "| command | writes | kill | term | full | gone | clock | lost | wrong | escaped | left |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    by_command: dict[str, dict[str, Mapping[str, Any]]] = {}
    for fault in HELD:
        for name, record in _of(results, fault):
            by_command.setdefault(name.rpartition(", ")[0], {})[fault] = record
    silent = [name for name, faults in by_command.items() if not _sum(faults.values(), "tries")]
    for name, faults in by_command.items():
        if name not in silent:
            tries = [faults.get(f, {}).get("tries", "") for f in ("kill", "term", "full", "gone")]
            tries.append(
                _sum([faults[f] for f in ("behind", "ahead") if f in faults], "tries") or ""
            )
            figures = (_sum(faults.values(), bad) for bad in BAD[:4])
            writes = max(record["writes"] for record in faults.values())
            yield _row(f"`{name.removeprefix('argus ')}`", f"{writes:,}", *tries, *figures)
    if silent:
        yield ""
        yield f"Changed no file: {_listed(silent)}."
    failed = [name for name, record in results.get("kills", {}).items() if "failed" in record]
    if failed:
        yield ""
        yield f"Could not be run whole, and so not struck: {_listed(failed)}."
    yield from _together(results.get("together", {}))


def _together(met: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a row for each two that came to harm; the others are named."""
    if not met:
        return
    harmed = {name: record for name, record in met.items() if _harmed(record)}
    yield ""
    yield "## Two at once"
    yield ""
    if harmed:
        yield "| two at once | tries | lost | wrong | escaped | left |"
        yield "|---|--:|--:|--:|--:|--:|"
    for name, record in harmed.items():
        yield _row(f"`{name}`", *(record.get(key, 0) for key in ("tries", *BAD[:4])))
    alone = [name for name in met if name not in harmed and "|" not in name]
    pairs = [name for name in met if name not in harmed and "|" in name]
    for what, names in (("Each twice at once", alone), ("In pairs", pairs)):
        if names:
            yield ""
            yield f"{what}, with nothing lost, wrong, escaped or left:"
            yield ""
            short = [name.replace("argus ", "") for name in names]
            lines = range(0, len(short), A_LINE)
            yield from (f"* {_listed(short[i : i + A_LINE])}." for i in lines)


def _harmed(record: Mapping[str, Any]) -> bool:
    return "failed" in record or any(record.get(bad) for bad in BAD)


def served(results: Mapping[str, Records]) -> Iterator[str]:
    """Yield what became of servers that were killed while jobs ran and records streamed in."""
    for record in results.get("serve", {}).values():
        yield ""
        yield "## The service"
        yield ""
        names = ("tries", "starting", "rounds", "resumed", "unanswered", *BAD[:4])
        yield _row("kills", *names[1:])
        yield f"|{'--:|' * len(names)}"
        yield _row(*(record[name] for name in names))


def soaked(results: Mapping[str, Records]) -> Iterator[str]:
    """Yield what a service answered and held that was asked for long."""
    for record in results.get("soak", {}).values():
        samples = [record["warm"], record["samples"][-1], record["idle"]]
        yield ""
        yield f"## The service for {record['minutes']:g} minutes"
        yield ""
        yield "| requests | answered | p50, ms: first tenth | last tenth | p95: first | last |"
        yield "|---|--:|--:|--:|--:|--:|"
        for name, told in record["requests"].items():
            times = (told[key] for key in TIMES)
            yield _row(name, f"{told['n']:,}", *(f"{time:,.0f}" for time in times))
        yield ""
        yield "| it holds | before | at the end | idle again |"
        yield "|---|--:|--:|--:|"
        for name, words in HOLDS.items():
            yield _row(words, *(f"{sample[name]:,.0f}" for sample in samples))
        jobs = ", ".join(f"{n} of `{name}`" for name, n in record["jobs"].items())
        bad = ", ".join(f"{bad} {record[bad]}" for bad in ("lost", "escaped", "left"))
        yield ""
        yield f"Jobs: {jobs}. After SIGTERM: {bad}."


TIMES = ("first_p50_ms", "last_p50_ms", "first_p95_ms", "last_p95_ms")
HOLDS = {
    "resident_mb": "memory, MB", "anonymous_mb": "of it no file's", "files": "open files",
    "sockets": "of them sockets", "threads": "threads", "processes": "processes it started",
    "temporary": "temporary files", "served_files": "files in what is served",
    "served_mb": "MB of them",
}  # fmt: skip


def readers(results: Mapping[str, Records]) -> Iterator[str]:
    """Yield a row for each reader."""
    yield "## Blind"
    yield ""
    yield "| reader | mutations | refused | escaped | slow |"
    yield "|---|--:|--:|--:|--:|"
    for name, record in results.get("fuzz", {}).items():
        yield _row(
            name, f"{record['tries']:,}", f"{record['refused']:,}", *map(record.get, BAD[2::2])
        )
    followed = results.get("coverage", {})
    if followed:
        yield ""
        yield "## By coverage"
        yield ""
        yield "| parser | s | inputs | refused | edges, first | at last | escaped | slow |"
        yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, record in followed.items():
        sums = (f"{record[key]:,}" for key in ("tries", "refused", "edges_first", "edges"))
        yield _row(name, round(record["seconds"]), *sums, *map(record.get, BAD[2::2]))


def _of(results: Mapping[str, Records], part: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the records of one kind of fault by their names."""
    held = HELD.get(part, part)
    for name, record in results.get(held, {}).items():
        if held == part or name.endswith(f", {part}"):
            yield name, record


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _sum(records: Iterable[Mapping[str, Any]], name: str) -> int:
    return sum(record.get(name, 0) for record in records)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    write_table()
