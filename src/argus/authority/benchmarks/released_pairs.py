"""Pairs of a document and what supersedes it, as CAR published them, each list in its own form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argus.authority.records import Record
from argus.authority.times import parse_moment
from argus.data.rows import Row, id_value, pick_field, text_value
from argus.errors import InputError


@dataclass(frozen=True)
class Side:
    """One of the two documents of a pair: its type, and which fields are its text, time and scope.

    scope: key of the scope to the field of the pair.
    """

    type: str
    text: str
    scope: tuple[tuple[str, str], ...]
    time: str = ""


@dataclass(frozen=True)
class PairShape:
    """A list of pairs. question: a template, where pairs may have none; of_question: its fields."""

    name: str
    older: Side
    newer: Side
    question: str = ""
    of_question: tuple[str, ...] = ()


_ADVISORY = (("product", "product"), ("cve_id", "cve_id"), ("ghsa_id", "id"))
_DRUG = (("norm_name", "norm_name"),)
SHAPES = (
    PairShape(
        "GHSA",
        Side("disclosure", "disclosure_text", _ADVISORY),
        Side("patch", "patch_text", _ADVISORY),
    ),
    PairShape(
        "FDA",
        Side("label", "anchor_text", _DRUG),
        Side("recall", "superseder_text", _DRUG, "recall_date"),
    ),
    PairShape(
        "SCOTUS",
        Side(
            "original",
            "original_text",
            (("case_name", "original_case"), ("us_cite", "original_citation")),
        ),
        Side(
            "overruling",
            "overruling_text",
            (("case_name", "overruling_case"), ("us_cite", "overruling_citation")),
        ),
        "Is {original_case} still good law and controlling precedent?",
        ("original_case",),
    ),
)


def shape_of(row: Row | None, file: Path) -> PairShape:
    """Return the form of a list by its first pair; InputError for none, and for an unknown one."""
    if row is None:
        raise InputError(
            "no pair in it", expected="at least one", fix="Check that this is the right file.",
            where=file,
        )  # fmt: skip
    for shape in SHAPES:
        if {shape.older.text, shape.newer.text} <= row.values.keys():
            return shape
    known = "; ".join(f"{s.older.text} and {s.newer.text} ({s.name})" for s in SHAPES)
    raise InputError(
        f"fields {', '.join(map(repr, row.values))}",
        expected=f"questions with their events (kb), or pairs: {known}",
        fix="Check that this is a released file of CAR.",
        where=row.at(),
    )


def read_pair(row: Row, shape: PairShape) -> tuple[Record, Record]:
    """Return the superseded document of a pair, and the superseding one."""
    return _record(row, shape.older), _record(row, shape.newer)


def _record(row: Row, side: Side) -> Record:
    pick_field(row, [side.text], what="text")
    text = text_value(row, side.text)
    if not text.strip():
        raise InputError(
            "no text", expected="the text of the document",
            fix="Write it, or remove the pair.", where=row.at(side.text),
        )  # fmt: skip
    scope = {key: text_value(row, field) for key, field in side.scope if row.values.get(field)}
    time = parse_moment(row.values.get(side.time), where=row.at(side.time)) if side.time else None
    return Record(f"{id_value(row, 'id')}#{side.type}", side.type, time, scope, text)
