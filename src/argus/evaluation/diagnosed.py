"""Read predicted RPS from a diagnosis: by entity, and the highest in each document."""

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
    """One row of a diagnosis: an entity of a document. rps: from 0 to 1, None if not measured."""

    doc_id: str
    entity: str
    rps: float | None
    state: str
    reason: NotRequired[str | None]


def diagnosis_file(path: Path) -> Path:
    """Return the file of a diagnosis, given it or its folder. Raises InputError without one."""
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

    Raises InputError for a missing file or column, for an RPS beyond 0 to 1, and for a measured row
    without an RPS.
    """
    file = diagnosis_file(path)
    rows = read_records(DiagnosedEntity, file, fix=AGAIN)
    require_shares([row["entity"] for row in rows], [row["rps"] for row in rows], file, "rps")
    for row in rows:
        if row["rps"] is None and row["state"] == State.MEASURED:
            problem = f"{row['entity']!r} was measured, without an RPS"
            raise InputError(problem, expected="a number from 0 to 1", fix=AGAIN, where=file)
    return rows


def documents_by_entity(path: Path) -> dict[str, set[str]]:
    """Return each entity of a diagnosis with the documents that name it."""
    documents: dict[str, set[str]] = {}
    for row in read_entities(path):
        documents.setdefault(row["entity"], set()).add(row["doc_id"])
    return documents


def highest_rps(path: Path) -> dict[str, float]:
    """Return doc_id -> highest predicted RPS of its entities, for documents that have one.

    Raises InputError if nothing was measured.
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
