"""Define a section of the HTML report, and build its sortable tables.

A job's `section(folder, summary)` returns a `Section`: named parts, which the template beside the
job lays out. `argus.reports.html` renders it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.reports.figures import Figure

MAX_ROWS = 20_000  # rows of one table that the report holds, of all in the Parquet and CSV files


Table = dict[str, Any]  # as `table` returns it


@dataclass(frozen=True)
class Section:
    """The parts of a section that its template shows, each by name.

    brief: one line for the top of a report of several sections.
    """

    plots: Mapping[str, Figure] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    brief: str = ""


def table(
    columns: Mapping[str, str], rows: Sequence[Sequence[object]], *, total: int | None = None
) -> Table:
    """Return a table for the report's script.

    columns: heading to kind (text, count, share, interval, band, signed, lines: text of several
    lines, said: pairs of words and their sort keys). rows: values in that order. The first
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


def slices_table(folder: Path, name: str = "slices") -> Table:
    """Return the shares of a folder's slices, the worst first. name: of the Parquet file."""
    rows: list[dict[str, Any]] = read_table(folder / f"{name}.parquet").to_pylist()
    columns = dict.fromkeys(("field", "slice", "share of"), "text") | {
        "share": "share", "95% interval": "interval", "n": "count", "all": "share",
        "worse by": "share", "": "text",
    }  # fmt: skip
    cells = [
        [
            row["field"], row["slice"], row["share_of"], row["share"], [row["low"], row["high"]],
            row["n"], row["whole"], row["worse_by"], "few" if row["is_few"] else "",
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, cells, total=len(rows))
