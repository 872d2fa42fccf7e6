"""The files of an analysis: rows and diagnoses as Parquet and CSV, and one CSV file per table."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.artifacts import ArtifactFolder, replacing
from argus.generative.failures.jobs.summary import System, diagnosis_table
from argus.generative.failures.measures import to_table
from argus.generative.failures.tables import csv_tables

MEASURES, DIAGNOSIS, TABLES = "failures", "failure_diagnosis", "failure_tables"
PRUNED, JUDGED = "pruned", "judged"
PRUNED_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("system", "query_id", "ngram", "view")),
        ("weight", pa.float64()),
        *((name, pa.int64()) for name in ("left_at", "rank", "kept_by")),
    ]
)
MODE_COLUMNS = (
    "id", "name", "category", "threshold_text", "measured_failed", "among_failed", "measured_found",
    "among_found", "difference", "low", "high", "leading",
)  # fmt: skip
LISTED_BY = " | "
"""Between the parts of a list in a CSV file."""


def write_files(
    folder: ArtifactFolder,
    systems: Sequence[System],
    paired: Sequence[Sequence[str]],
    summary: Mapping[str, Any],
) -> None:
    """Write rows, diagnoses and tables; those of two systems stand in one file.

    Tables of an earlier analysis in the folder are removed. paired: of `pairs`.
    """
    measured = [
        to_table(system.rows).add_column(
            0, "system", pa.array([system.name] * len(system.rows), pa.string())
        )
        for system in systems
    ]
    _write(folder, MEASURES, pa.concat_tables(measured, promote_options="default"))
    _write(folder, DIAGNOSIS, diagnosis_table(systems, paired))
    shutil.rmtree(folder / TABLES, ignore_errors=True)
    (folder / TABLES).mkdir()
    tables = _joined({told["name"]: told["figures"] for told in summary["systems"]})
    for name, (columns, rows) in {**_own_tables(summary), **tables}.items():
        write_csv(folder / TABLES / f"{name}.csv", columns, rows)


def _own_tables(summary: Mapping[str, Any]) -> dict[str, tuple[list[str], list[list[Any]]]]:
    """Return the tables that are of all systems: modes, the comparison, and what k was."""
    about = [[name, summary[name]] for name in ("k", "correct", "tokens")]
    names = [*MODE_COLUMNS]
    modes = [
        [told["name"], *(mode[name] for name in names)]
        for told in summary["systems"]
        for mode in told["modes"]
    ]
    found = {"settings": (["setting", "value"], about), "modes": (["system", *names], modes)}
    compared = summary["comparison"]
    if compared:
        found["comparison"] = (compared["columns"], compared["rows"])
    return found


def write_optional(
    folder: ArtifactFolder, lost: Mapping[str, Sequence[Mapping[str, Any]]], judged: pa.Table | None
) -> None:
    """Write what a replay lost and what a judge said; remove those files of an earlier analysis.

    lost: rows of what the beam dropped, by system; empty without a replay.
    """
    for name in (PRUNED, JUDGED):
        for suffix in (".parquet", ".csv"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    if lost:
        rows = [{"system": system, **row} for system, of_one in lost.items() for row in of_one]
        _write(folder, PRUNED, pa.Table.from_pylist(rows, PRUNED_SCHEMA))
    if judged is not None:
        _write(folder, JUDGED, judged)


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
