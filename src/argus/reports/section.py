"""What a section of the report is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argus.reports.figures import Figure

MAX_ROWS = 20_000
"""Rows of one table that the report holds; the Parquet and CSV files hold all."""


@dataclass(frozen=True)
class Section:
    """The figures and tables that a section's template shows, by name, and what it comes to."""

    plots: dict[str, Figure] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    brief: str = ""
    """One line for the top of a report of several sections."""


Build = Callable[[Path, dict[str, Any]], Section]
"""From a folder of results and the job's part of summary.json to its section."""


def table(columns: dict[str, str], rows: list[list[Any]], *, total: int | None = None) -> Any:
    """Return a table for the report's script.

    columns: heading to kind (text, count, share, interval, band, signed; lines: text of several
    lines; said: pairs of words and what they sort by). rows: values in that order; the first
    MAX_ROWS are kept. total: rows there are, when `rows` was cut before.
    """
    return {
        "columns": [{"name": name, "kind": kind} for name, kind in columns.items()],
        "rows": rows[:MAX_ROWS],
        "total": len(rows) if total is None else total,
    }


def naming(label: str | None, id_: str) -> str:
    """Return how an entity or document is called in a table: label and id, once if equal."""
    return f"{label} · {id_}" if label and label != id_ else id_
