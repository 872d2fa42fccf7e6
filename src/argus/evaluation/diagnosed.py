"""Predicted RPS, read from a diagnosis; the highest in each document."""

from __future__ import annotations

from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.tables import read_records, require_shares
from argus.data.types import State
from argus.errors import InputError

FILE = "diagnosis.parquet"
AGAIN = "Make the diagnosis again."


class DiagnosedEntity(TypedDict):
    """One row of a diagnosis: an entity of a document. rps: within 0..1, None unless measured."""

    doc_id: str
    entity: str
    rps: float | None
    state: str
    reason: NotRequired[str | None]


def diagnosis_file(path: Path) -> Path:
    """Return the file of a diagnosis, given it or its folder; InputError when there is none."""
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            f"no {FILE}",
            expected="a folder that holds a diagnosis",
            fix="Make one with `argus diagnose`, or leave out --diagnosis.",
            where=path,
        )
    return file


def read_entities(path: Path) -> list[DiagnosedEntity]:
    """Return the rows of a diagnosis, given its file or folder.

    Raises InputError for a missing file or column, and for an RPS outside of 0..1, or none in a row
    that was measured.
    """
    file = diagnosis_file(path)
    rows = read_records(DiagnosedEntity, file, fix=AGAIN)
    require_shares([row["entity"] for row in rows], [row["rps"] for row in rows], file, "rps")
    for row in rows:
        if row["rps"] is None and row["state"] == State.MEASURED:
            raise InputError(
                f"{row['entity']!r} was measured, without an RPS", expected="a number from 0 to 1",
                fix=AGAIN, where=file,
            )  # fmt: skip
    return rows


def documents_by_entity(path: Path) -> dict[str, set[str]]:
    """Return each entity of a diagnosis with the documents that name it."""
    documents: dict[str, set[str]] = {}
    for row in read_entities(path):
        documents.setdefault(row["entity"], set()).add(row["doc_id"])
    return documents


def highest_rps(path: Path) -> dict[str, float]:
    """Return doc_id -> highest predicted RPS among its entities, documents that have one.

    Rows that are not measured are left out. Raises InputError when nothing was measured.
    """
    highest: dict[str, float] = {}
    for row in read_entities(path):
        if row["rps"] is not None:
            highest[row["doc_id"]] = max(highest.get(row["doc_id"], row["rps"]), row["rps"])
    if not highest:
        raise InputError(
            "no entity in it has a predicted RPS",
            expected="at least one measured row",
            fix="See the diagnosis's own report for what failed.",
            where=diagnosis_file(path),
        )
    return highest
