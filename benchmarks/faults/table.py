"""The table of docs/reliability.md, made of benchmarks/results/faults.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results" / "faults.json"
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- begin: python -m benchmarks.faults -->", "<!-- end -->"
HEAD = "| test | of | tries | lost | wrong | escaped | slow or left |"
WORDS = {
    "kills": "killed at a write",
    "disk": "disk full from a write on",
    "together": "two at once",
    "fuzz": "damaged input",
}


def write_table() -> None:
    """Put the table of all figures there are into the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}{END}{after}", encoding="utf-8")


def table() -> str:
    """Return a row per command and fault, and per reader."""
    results: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text("utf-8"))["result"]
    rows = [
        "| test | of | tries | lost | wrong | escaped | slow or left |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for part, words in WORDS.items():
        records = results.get(part, {})
        if not records:
            continue
        rows.append(_row(f"**{words}**", f"all {len(records)}", _summed(records)))
        rows += [_row("", f"`{name}`", record) for name, record in records.items()]
    return "\n".join(rows) + "\n"


def _summed(records: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    names = ("tries", "lost", "wrong", "escaped", "left", "slow")
    return {name: sum(record.get(name, 0) for record in records.values()) for name in names}


def _row(test: str, of: str, record: Mapping[str, Any]) -> str:
    other = record.get("left", 0) + record.get("slow", 0)
    figures = (record.get(name, 0) for name in ("tries", "lost", "wrong", "escaped"))
    return f"| {test} | {of} | {' | '.join(f'{n:,}' for n in figures)} | {other} |"
