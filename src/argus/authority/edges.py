"""Read explicit supersessions from a file."""

from __future__ import annotations

from pathlib import Path

from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import SUPERSEDES, Edge
from argus.data.rows import id_value, pick_field, read_rows, text_value
from argus.errors import InputError

SUPERSEDING = ("superseder", "superseding")


def read_edges(file: Path | str) -> list[Edge]:
    """Read edges from any row format.

    Columns: `superseder` (or `superseding`) and `superseded`, and optionally `rule`, `confidence`
    and `relation`. Raises InputError for a missing file or column, an empty id, an edge from a
    document to itself, a confidence that is none, and a file without rows.
    """
    edges = []
    for row in read_rows(Path(file)):
        newer = pick_field(row, SUPERSEDING, what="superseding document")
        older = pick_field(row, ["superseded"], what="superseded document")
        value = row.values.get("confidence")
        try:
            confidence = 1.0 if value is None or value == "" else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{value!r}",
                expected="a number above 0, at most 1",
                fix="Leave it out for a certain edge.",
                where=row.at("confidence"),
            ) from error
        try:
            edge = Edge(
                id_value(row, newer),
                id_value(row, older),
                rule=text_value(row, "rule") or "given",
                confidence=confidence,
                relation=text_value(row, "relation") or SUPERSEDES,
            )
        except InputError as error:
            if error.where is not None:
                raise
            raise InputError(
                error.got, expected=error.expected, fix=error.fix, where=row.at()
            ) from error
        edges.append(edge)
    if not edges:
        raise InputError(
            "no row in it",
            expected="rows of superseder, superseded",
            fix="Check that this is the right file.",
            where=file,
        )
    return edges


def read_authority(file: Path) -> Authority:
    """Read the relation that a file of edges makes by itself: its records are ids, no more.

    Raises InputError as `read_edges` does, and for a cycle, with the chain.
    """
    edges = read_edges(file)
    ids = dict.fromkeys(id_ for edge in edges for id_ in (edge.superseded, edge.superseder))
    try:
        return Authority([Record(id_, "document") for id_ in ids], edges=edges)
    except InputError as error:
        raise InputError(error.got, expected=error.expected, fix=error.fix, where=file) from error
