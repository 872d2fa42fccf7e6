"""Predicted RPS read from a diagnosis, every row checked; the highest in each document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from argus.data.rows import Row, read_rows
from argus.data.types import State
from argus.errors import InputError, Location

FILE = "diagnosis.parquet"
FIELDS = ("doc_id", "entity", "rps", "state")


@dataclass(frozen=True, slots=True)
class DiagnosedEntity:
    """One row of a diagnosis: an entity of a document."""

    doc_id: str
    entity: str
    rps: float | None
    """Within 0..1; None unless measured."""
    state: State
    reason: str


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


def read_entities(path: Path) -> Iterator[DiagnosedEntity]:
    """Yield the rows of a diagnosis, given its file or folder.

    Raises InputError for a missing file or column, an id that is no text, an unknown state, and an
    RPS that is no number in 0..1 or is missing although the row says that it was measured.
    """
    for row in read_rows(diagnosis_file(path)):
        absent = [name for name in FIELDS if name not in row.values]
        if absent:
            raise _wrong(
                f"no column {absent[0]!r}",
                f"the columns {', '.join(FIELDS)}",
                Location(row.file),
            )
        state = _state(row)
        yield DiagnosedEntity(
            _text(row, "doc_id"),
            _text(row, "entity"),
            _rps(row, state),
            state,
            str(row.values.get("reason") or ""),
        )


def documents_by_entity(path: Path) -> dict[str, set[str]]:
    """Return each entity of a diagnosis with the documents that name it; errors as above."""
    documents: dict[str, set[str]] = {}
    for entity in read_entities(path):
        documents.setdefault(entity.entity, set()).add(entity.doc_id)
    return documents


def highest_rps(path: Path) -> dict[str, float]:
    """Return doc_id -> highest predicted RPS among its entities, documents that have one.

    Rows that are not measured are no zeros and are left out. Raises InputError as `read_entities`
    does, and when nothing was measured.
    """
    highest: dict[str, float] = {}
    for row in read_entities(path):
        if row.rps is not None:
            highest[row.doc_id] = max(highest.get(row.doc_id, row.rps), row.rps)
    if not highest:
        raise InputError(
            "no entity in it has a predicted RPS",
            expected="at least one measured row",
            fix="See the diagnosis's own report for what failed.",
            where=diagnosis_file(path),
        )
    return highest


def _state(row: Row) -> State:
    try:
        return State(row.values["state"])
    except ValueError as error:
        expected = f"one of {', '.join(State)}"
        raise _wrong(repr(row.values["state"]), expected, row.at("state")) from error


def _text(row: Row, field: str) -> str:
    value = row.values[field]
    if not isinstance(value, str):
        raise _wrong(repr(value), "text", row.at(field))
    return value


def _rps(row: Row, state: State) -> float | None:
    value = row.values["rps"]
    if state is not State.MEASURED:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise _wrong(f"{value!r}", "a number from 0 to 1, since it was measured", row.at("rps"))
    return float(value)


def _wrong(got: str, expected: str, where: Location) -> InputError:
    return InputError(got, expected=expected, fix="Make the diagnosis again.", where=where)
