"""The files of an analysis: rows and diagnoses as Parquet and CSV, and one CSV file per table."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.artifacts import ArtifactFolder, replacing
from argus.generative.failures.measures import to_table
from argus.generative.failures.tables import csv_tables
from argus.workflows.generative.failures.summary import System, diagnosis_table

MEASURES, DIAGNOSIS, TABLES = "failures", "failure_diagnosis", "failure_tables"
LISTED_BY = " | "
"""Between the parts of a list in a CSV file."""


def write_files(
    folder: ArtifactFolder, systems: Sequence[System], figures: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write rows, diagnoses and tables; those of two systems stand in one file.

    figures: by the system's name.
    """
    measured = [
        to_table(system.rows).add_column(
            0, "system", pa.array([system.name] * len(system.rows), pa.string())
        )
        for system in systems
    ]
    _write(folder, MEASURES, pa.concat_tables(measured, promote_options="default"))
    _write(folder, DIAGNOSIS, diagnosis_table(systems))
    (folder / TABLES).mkdir(exist_ok=True)
    for name, (columns, rows) in _joined(figures).items():
        write_csv(folder / TABLES / f"{name}.csv", columns, rows)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file, whole or not at all; None is empty."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _write(folder: ArtifactFolder, name: str, table: pa.Table) -> None:
    folder.write_table(name, table)
    rows = ([row[c] for c in table.column_names] for row in table.to_pylist())
    write_csv(folder / f"{name}.csv", table.column_names, rows)


def _cell(value: Any) -> Any:
    return LISTED_BY.join(str(part) for part in value) if isinstance(value, list) else value


def _joined(
    figures: Mapping[str, Mapping[str, Any]],
) -> dict[str, tuple[list[str], list[list[Any]]]]:
    """Return every table that applies to some system, with the system in its first column."""
    found: dict[str, tuple[list[str], list[list[Any]]]] = {}
    for system, tables in figures.items():
        for name, columns, rows in csv_tables(tables):
            held = found.setdefault(name, (["system", *columns], []))[1]
            held += [[system, *row] for row in rows]
    return found
