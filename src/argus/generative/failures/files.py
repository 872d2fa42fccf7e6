"""The files of an analysis: rows and diagnoses as Parquet and CSV, and one CSV file per table."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.tables import harmless
from argus.data.writing import replacing
from argus.generative.failures.diagnosis import System, diagnosis_table
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
    summary: dict[str, Any],
    lost: Mapping[str, Sequence[dict[str, Any]]],
    judged: pa.Table | None,
) -> None:
    """Write rows, diagnoses and tables. Those of two systems stand in one file.

    Files of an earlier analysis in the folder are removed. paired: of `pairs`. lost: rows of
    dropped n-grams by system, empty without a replay. judged: verdicts of a judge.
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
    folder.own(TABLES).mkdir()
    for name, (columns, rows) in _tables(summary).items():
        _write_csv(folder / TABLES / f"{name}.csv", columns, rows)
    for name in (PRUNED, JUDGED):
        for suffix in (".parquet", ".csv"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    if lost:
        ngrams = [{"system": system, **row} for system, rows in lost.items() for row in rows]
        _write(folder, PRUNED, pa.Table.from_pylist(ngrams, PRUNED_SCHEMA))
    if judged is not None:
        _write(folder, JUDGED, judged)


def _tables(summary: dict[str, Any]) -> dict[str, tuple[Sequence[str], list[Sequence[object]]]]:
    """Return columns and rows of every table that applies, the system in the first column."""
    modes: list[Sequence[object]] = [
        [system["name"], *(mode[name] for name in MODE_COLUMNS)]
        for system in summary["systems"]
        for mode in system["modes"]
    ]
    tables: dict[str, tuple[Sequence[str], list[Sequence[object]]]] = {
        "settings": (
            ["setting", "value"], [[name, summary[name]] for name in ("k", "correct", "tokens")],
        ),
        "modes": (["system", *MODE_COLUMNS], modes),
    }  # fmt: skip
    if compared := summary["comparison"]:
        tables["comparison"] = compared["columns"], compared["rows"]
    for system in summary["systems"]:
        for name, columns, rows in csv_tables(system["figures"]):
            _, all_rows = tables.setdefault(name, (["system", *columns], []))
            all_rows += ([system["name"], *row] for row in rows)
    return tables


def _write(folder: ArtifactFolder, name: str, table: pa.Table) -> None:
    folder.write_table(name, table)
    rows = ([row[c] for c in table.column_names] for row in table.to_pylist())
    _write_csv(folder.own(f"{name}.csv"), table.column_names, rows)


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, whole or not at all. None is empty."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    text = LISTED_BY.join(str(part) for part in value) if isinstance(value, list) else value
    return harmless(text) if isinstance(text, str) else text
