"""Sheets as people filled them, beside the key that says which side was which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from argus.data.reading import read_record
from argus.data.rows import FORMATS, Row, read_json_lines, read_rows, whole_number
from argus.errors import InputError
from argus.scenarios.study.config import Criterion, Versus
from argus.scenarios.study.sheets import PLACE, TIE, A, B, KeyRow

KEY = "key.jsonl"
Label = Literal["scenarios", "rival", "tie"]
SCENARIOS: Final = "scenarios"
RIVAL: Final = "rival"
"""Meaning of an answer, whichever side it names."""
_SIDES = {A.casefold(): A, B.casefold(): B, TIE: TIE, "": ""}
_EXAMPLE = "sheet,pair,specificity,comprehensibility,usefulness,overall"


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of one person on a pair by one criterion. side: A, B or tie. "" for no answer."""

    sheet: int
    pair: str
    versus: Versus
    query_id: str
    criterion: Criterion
    side: str
    label: Label | None
    """None for no answer."""


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers of the sheets that came back."""

    answers: Sequence[Answer]
    sheets: int
    """How many came back."""
    missing_sheets: tuple[int, ...]


def read_key(study: Path) -> dict[tuple[int, str], KeyRow]:
    """Read the key of a study by sheet and pair. InputError where the folder holds none."""
    path = study / KEY if study.is_dir() else study
    if not path.is_file():
        raise InputError(
            "no key.jsonl in it",
            expected="the folder that argus research scenarios study wrote",
            fix="Give its --out: the key stands there, beside the sheets.",
            where=study,
        )
    rows = (
        read_record(KeyRow, dict(row.values), where=path, section=f"line {row.line}")
        for row in read_json_lines(path)
    )
    return {(row["sheet"], row["pair"]): row for row in rows}


def read_answers(places: Sequence[Path], key: Mapping[tuple[int, str], KeyRow]) -> Answers:
    """Read filled sheets: files, or folders of them.

    Raises InputError, with the line, for a pair that the study has not, one that is answered twice
    on one sheet, and an answer that is neither A, B nor tie.
    """
    rows: dict[tuple[int, str], Row] = {}
    for file in _files(places):
        for row in read_rows(file):
            place = _place(row, key)
            if place in rows:
                raise InputError(
                    f"pair {place[1]!r} of sheet {place[0]} comes twice, first in "
                    f"{rows[place].at()}",
                    expected="each sheet once",
                    fix="Leave one of the two files out.",
                    where=row.at(),
                )
            rows[place] = row
    if not rows:
        raise InputError(
            "no answer", expected=f"sheets with the columns {_EXAMPLE}",
            fix="Name filled sheets, or their folder.", where="--answers",
        )  # fmt: skip
    sheets = {sheet for sheet, _ in rows}
    answers = [a for place, row in sorted(rows.items()) for a in _answers(row, key[place])]
    left = sorted({sheet for sheet, _ in key} - sheets)
    return Answers(answers, len(sheets), tuple(left))


def _files(places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        if not place.is_dir():
            yield place
            continue
        files = sorted(f for f in place.iterdir() if f.suffix.lower() in FORMATS and f.is_file())
        if not files:
            raise InputError(
                "no sheet in it", expected=f"files of {', '.join(FORMATS)}",
                fix="Put filled sheets there, or name them.", where=place,
            )  # fmt: skip
        yield from files


def _place(row: Row, key: Mapping[tuple[int, str], KeyRow]) -> tuple[int, str]:
    lacking = [name for name in (*PLACE, *Criterion) if name not in row.values]
    if lacking:
        raise InputError(
            f"no column {', '.join(map(repr, lacking))} among "
            f"{', '.join(map(repr, row.values)) or 'none'}",
            expected=_EXAMPLE,
            fix="Save the sheet as CSV with commas (not semicolons), its first line as it was.",
            where=row.at(),
        )
    sheet, pair = str(row.values["sheet"]).strip(), str(row.values["pair"]).strip()
    place = (whole_number(sheet) or 0, pair)
    if place not in key:
        raise InputError(
            f"pair {pair!r} on sheet {sheet!r}",
            expected="a pair that is on that sheet of this study",
            fix="Check that sheets and --study belong together, and that both columns are as they "
            "were.",
            where=row.at("pair"),
        )
    return place


def _answers(row: Row, key: KeyRow) -> Iterator[Answer]:
    for criterion in Criterion:
        text = str(row.values[criterion] or "").strip()
        side = _SIDES.get(text.casefold())
        if side is None:
            raise InputError(
                repr(text),
                expected=f"{A}, {B} or {TIE}; empty where there is no answer",
                fix="Correct the cell.",
                where=row.at(criterion),
            )
        yield Answer(
            key["sheet"], key["pair"], Versus(key["versus"]), key["query_id"], criterion, side,
            _label(side, key["side"]),
        )  # fmt: skip


def _label(side: str, of_scenarios: str) -> Label | None:
    if not side:
        return None
    if side == TIE:
        return "tie"
    return SCENARIOS if side == of_scenarios else RIVAL
