"""Questions with what was served: as `argus traffic` writes them, or of any table and run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from argus.data.corpus import find_file
from argus.data.provenance import content_hash
from argus.data.rows import Row, pick_field, read_rows, text_value
from argus.data.runs import ranking
from argus.data.types import Run
from argus.errors import InputError
from argus.traffic.values import as_number

STEMS = ("questions", "queries")
"""Tables that are looked for in a folder, in this order."""
IDS = ("query_id", "question_id", "_id", "id", "question")
TEXTS = ("text", "question", "query")
SERVED = ("documents", "served")
TIMES = ("asks", "times", "count")
ALIKE, LOOKED_AT = "alike", "looked_at"
"""Columns of `argus traffic`: the question that another is counted with; whether it was drawn."""


@dataclass(frozen=True, slots=True)
class ServedQuestion:
    """A question of a log.

    documents: what came back, best first, with `scores` where they are known. risk: the predicted
    probability that none of the first k is relevant; None where nothing was predicted. times: how
    often it was asked.
    """

    id: str
    text: str
    documents: tuple[str, ...]
    risk: float | None = None
    times: int = 1
    scores: tuple[float, ...] = ()


@dataclass(frozen=True)
class ServedLog:
    """The questions of a log of which it is known what came back, and how many others it has."""

    questions: Sequence[ServedQuestion]
    unknown: int = 0
    """Of these nothing is estimated."""


def read_served(path: Path, run: Run | None = None) -> ServedLog:
    """Read questions from a table, or from the one in a folder; see STEMS and the columns above.

    run: what was served, where the table does not say; a question that it has not was served
    nothing. Nearly equal questions, as `argus traffic` finds them, are counted with the one that
    stands for them. Raises InputError, with the line, for a question without an id or a text, one
    that comes twice, a risk or a count that is none, and a table that says nothing of what came.
    """
    file = path if path.is_file() else find_file(path, STEMS)
    if file is None:
        raise InputError(
            "no table of questions",
            expected=f"a file, or {' or '.join(STEMS)} in the folder (JSONL, CSV, TSV, Parquet)",
            fix="Give the folder that argus traffic wrote, or a file of questions.",
            where=path,
        )
    lines: dict[str, Row] = {}
    questions: dict[str, ServedQuestion] = {}
    alike: list[tuple[str, int]] = []
    unknown = 0
    for row in read_rows(file):
        id_ = _id(row)
        if id_ in lines:
            raise _twice(id_, lines[id_], row)
        lines[id_] = row
        if row.values.get(ALIKE):
            alike.append((str(row.values[ALIKE]), _times(row)))
            continue
        question = _question(id_, row, run)
        if question is None:
            unknown += 1
        else:
            questions[id_] = question
    for id_, times in alike:
        if (one := questions.get(id_)) is not None:
            questions[id_] = replace(one, times=one.times + times)
    return ServedLog(list(questions.values()), unknown)


def _twice(id_: str, first: Row, row: Row) -> InputError:
    return InputError(
        f"question {id_!r} comes twice, first in {first.at()}",
        expected="each question once, with a count of how often it was asked",
        fix="Leave one of the two lines out.",
        where=row.at(),
    )


def _id(row: Row) -> str:
    id_ = str(row.values[pick_field(row, IDS, what="id")] or "").strip()
    if id_:
        return id_
    raise InputError("no id", expected="a question's id", fix="Fill it in.", where=row.at())


def _question(id_: str, row: Row, run: Run | None) -> ServedQuestion | None:
    """Return a question; None where it is not known what came back for it."""
    if row.values.get(LOOKED_AT) is False:
        return None
    served = _served(row) if run is None else _ranked(run.get(id_, {}))
    if served is None:
        return None
    text = text_value(row, pick_field(row, TEXTS, what="text")).strip()
    if not text:
        raise InputError(
            f"question {id_!r} has no text",
            expected="its words: judges must read it",
            fix="Fill it in. Of a log that was read with --hash-only nothing can be judged.",
            where=row.at(),
        )
    return ServedQuestion(id_, text, served[0], _risk(row), _times(row), served[1])


Lists = tuple[tuple[str, ...], tuple[float, ...]]


def _ranked(scores: Mapping[str, float]) -> Lists:
    ids = ranking(dict(scores))
    return tuple(ids), tuple(scores[id_] for id_ in ids)


def _served(row: Row) -> Lists | None:
    name = pick_field(row, SERVED, what="what was served", option="--run")
    value: Any = row.values[name]
    if value is None:
        return None
    listed = _listed(value)
    ids = [_id_of(one, row, name) for one in listed]
    values = [one.get("score") for one in listed if isinstance(one, Mapping)]
    values = values or _listed(row.values.get("scores") or [])
    numbers = [as_number(value) for value in values if isinstance(value, int | float)]
    scores = tuple(number for number in numbers if number is not None)
    once = tuple(dict.fromkeys(ids))
    return once, scores if len(scores) == len(ids) == len(once) else ()


def _listed(value: Any) -> list[Any]:
    """Return what a field lists: the words of a text, and of a single value itself."""
    if isinstance(value, str):
        return value.split()
    return list(value) if isinstance(value, Iterable) else [value]


def _id_of(one: object, row: Row, name: str) -> str:
    id_ = next((one[n] for n in IDS if n in one), None) if isinstance(one, Mapping) else one
    if isinstance(id_, str) and id_:
        return id_
    raise InputError(
        f"{one!r} in a list of documents",
        expected="ids as strings, best first, or objects with an id",
        fix="Write the ids alone.",
        where=row.at(name),
    )


def _risk(row: Row) -> float | None:
    value = row.values.get("risk")
    if value in (None, ""):
        return None
    number = _number(value)
    if math.isnan(number) and not isinstance(value, str):
        return None  # a Parquet file's way to say that there is none
    if not 0 <= number <= 1:
        raise InputError(
            repr(value),
            expected="a probability from 0 to 1; empty where nothing was predicted",
            fix="Leave it empty: such questions are drawn as well.",
            where=row.at("risk"),
        )
    return number


def _times(row: Row) -> int:
    value = next((row.values[n] for n in TIMES if n in row.values), 1)
    number = _number(value)
    if number < 1 or not number.is_integer():
        raise InputError(
            repr(value),
            expected="how often the question was asked: 1 or more",
            fix="Correct it, or leave the column out.",
            where=row.at(),
        )
    return int(number)


def _number(value: object) -> float:
    number = as_number(value)
    return -1.0 if number is None or math.isinf(number) else number


def digest(questions: Sequence[ServedQuestion], k: int) -> str:
    """Return what tells logs apart: ids, texts, counts and what was served to the k-th place.

    Predicted risks are not part of it: whatever they are worth, the estimate is valid.
    """

    def parts() -> Iterator[str]:
        for q in sorted(questions, key=lambda q: q.id):
            yield from (q.id, q.text, str(q.times), "\n".join(q.documents[:k]))

    return content_hash(str(k), *parts()).hex()
