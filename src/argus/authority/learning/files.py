"""Proposals as a file that a person reviews: one row a pair, a decision in the first column."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from argus.authority.learning.pairs import CLUES, Pair
from argus.data.rows import Row, id_value, pick_field, read_rows, text_value
from argus.data.tables import as_written, harmless
from argus.data.writing import replacing
from argus.errors import InputError

EVIDENCE = 500
"""Characters of evidence that are shown of a pair."""
COLUMNS = (
    "decision", "confidence", "superseder", "superseded", "kind", "evidence",
    "superseder_title", "superseded_title",
)  # fmt: skip


class Decision(StrEnum):
    """What a person says of a proposal."""

    UNDECIDED = ""
    ACCEPT = "accept"
    REJECT = "reject"


@dataclass(frozen=True)
class Proposal:
    """A pair that may supersede one another. clues: by name, those that are not 0."""

    superseder: str
    superseded: str
    confidence: float
    kind: str
    evidence: str
    decision: Decision = Decision.UNDECIDED
    titles: tuple[str, str] = ("", "")
    clues: dict[str, float] = field(default_factory=dict)

    @property
    def pair(self) -> Pair:
        """Superseder and superseded."""
        return self.superseder, self.superseded

    @property
    def row(self) -> list[float]:
        """All clues in the order of CLUES."""
        return [self.clues.get(clue, 0.0) for clue in CLUES]


def write_proposals(file: Path, proposals: Iterable[Proposal]) -> None:
    """Write proposals as CSV, in their order, whole or not at all; no cell is a formula."""
    with replacing(file) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*COLUMNS, *CLUES])
        writer.writerows(
            [
                p.decision.value, f"{p.confidence:.4f}",
                *map(harmless, (p.superseder, p.superseded, p.kind)),
                *map(harmless, (p.evidence[:EVIDENCE], *p.titles)),
                *(f"{value:g}" for value in p.row),
            ]
            for p in proposals
        )  # fmt: skip


def read_proposals(file: Path) -> list[Proposal]:
    """Read reviewed proposals.

    Raises InputError for a decision or a number that is none, a pair that comes twice, and a file
    without rows.
    """
    proposals: dict[Pair, Proposal] = {}
    for row in read_rows(file):
        proposal = _proposal(row)
        if proposal.pair in proposals:
            raise InputError(
                f"{proposal.superseder!r} over {proposal.superseded!r} comes twice",
                expected="one row per pair",
                fix="Remove one of the two.",
                where=row.at(),
            )
        proposals[proposal.pair] = proposal
    if not proposals:
        raise InputError(
            "no proposal in it",
            expected="rows as argus authority propose writes them",
            fix="Check that this is the right file.",
            where=file,
        )
    return list(proposals.values())


def _proposal(row: Row) -> Proposal:
    pick_field(row, ["decision"], what="decision")
    text = text_value(row, "decision").strip().lower()
    if text not in set(Decision):
        raise InputError(
            f"decision {text!r}",
            expected="accept, reject, or nothing",
            fix="Write one of them, or leave it empty.",
            where=row.at("decision"),
        )
    newer, older = (
        as_written(id_value(row, pick_field(row, [name], what=name), coerce=True))
        for name in ("superseder", "superseded")
    )
    return Proposal(
        newer, older, _number(row, "confidence"), as_written(text_value(row, "kind")),
        as_written(text_value(row, "evidence")), Decision(text),
        (
            as_written(text_value(row, "superseder_title")),
            as_written(text_value(row, "superseded_title")),
        ),
        {clue: value for clue in CLUES if (value := _number(row, clue))},
    )  # fmt: skip


def _number(row: Row, column: str) -> float:
    value = row.values.get(column)
    try:
        number = float(value) if value not in (None, "") else 0.0
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_number(row, column, value) from error
    if not 0 <= number <= 1:
        raise _no_number(row, column, value)
    return number


def _no_number(row: Row, column: str, value: object) -> InputError:
    return InputError(
        f"{column} {value!r}",
        expected="a number from 0 to 1, as argus authority propose wrote it",
        fix="Change nothing but the decisions.",
        where=row.at(column),
    )


def edge_rows(proposals: Iterable[Proposal]) -> Iterator[dict[str, object]]:
    """Yield edges with their evidence; what a person accepted is certain."""
    for p in proposals:
        certain = p.decision is Decision.ACCEPT
        yield {
            "superseder": p.superseder, "superseded": p.superseded,
            "rule": f"{p.kind}, {'accepted' if certain else 'proposed'}",
            "confidence": 1.0 if certain else p.confidence, "evidence": p.evidence,
        }  # fmt: skip
