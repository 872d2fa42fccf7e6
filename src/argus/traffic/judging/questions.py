"""Questions with what was served: as `argus traffic` writes them, or of any table and run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.corpus import find_file
from argus.data.provenance import content_hash
from argus.data.rows import Row, pick_field, read_rows, text_value
from argus.data.runs import ranking
from argus.data.types import Run
from argus.errors import InputError

STEMS = ("traffic", "questions", "queries")
"""Tables that are looked for in a folder, in this order."""
IDS = ("query_id", "question_id", "_id", "id")
TEXTS = ("text", "question", "query")
SERVED = ("documents", "served", "results")
TIMES = ("times", "count", "asked")


@dataclass(frozen=True, slots=True)
class ServedQuestion:
    """A question of a log.

    documents: what came back, best first. risk: the predicted probability that none of the first k
    is relevant; None where nothing was predicted. times: how often it was asked.
    """

    id: str
    text: str
    documents: tuple[str, ...]
    risk: float | None = None
    times: int = 1


def read_served(path: Path, run: Run | None = None) -> list[ServedQuestion]:
    """Read questions from a table, or from the one in a folder; see STEMS and the columns above.

    run: what was served, where the table does not say. Raises InputError, with the line, for a
    question without an id or a text, one that comes twice, a risk or a count that is none, and a
    table that says nothing of what was served.
    """
    file = path if path.is_file() else find_file(path, STEMS)
    if file is None:
        raise InputError(
            "no table of questions",
            expected=f"a file, or {', '.join(STEMS)} in the folder (JSONL, CSV, TSV, Parquet)",
            fix="Give the folder that argus traffic wrote, or a file of questions.",
            where=path,
        )
    lines: dict[str, Row] = {}
    questions = []
    for row in read_rows(file):
        question = _question(row, run)
        if (first := lines.get(question.id)) is not None:
            raise InputError(
                f"question {question.id!r} comes twice, first in {first.at()}",
                expected="each question once, with a count of how often it was asked",
                fix="Leave one of the two lines out.",
                where=row.at(),
            )
        lines[question.id] = row
        questions.append(question)
    return questions


def _question(row: Row, run: Run | None) -> ServedQuestion:
    id_ = str(row.values[pick_field(row, IDS, what="id")] or "").strip()
    text = text_value(row, pick_field(row, TEXTS, what="text")).strip()
    if not id_ or not text:
        raise InputError(
            "no id" if not id_ else "no text",
            expected="a question with both; judges must read it",
            fix="Fill it in, or leave the line out. With --hash-only nothing can be judged.",
            where=row.at(),
        )
    documents = _served(row) if run is None else tuple(ranking(run.get(id_, {})))
    return ServedQuestion(id_, text, documents, _risk(row), _times(row))


def _served(row: Row) -> tuple[str, ...]:
    name = pick_field(row, SERVED, what="what was served", option="--run")
    value: Any = row.values[name]
    if isinstance(value, str):
        value = value.split()
    ids = [_id_of(one, row, name) for one in value] if value is not None else []
    return tuple(dict.fromkeys(ids))


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
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return -1.0
    return number if not math.isinf(number) else -1.0


def digest(questions: Sequence[ServedQuestion], k: int) -> str:
    """Return what tells logs apart: ids, texts, counts and what was served to the k-th place.

    Predicted risks are not part of it: whatever they are worth, the estimate is valid.
    """

    def parts() -> Iterator[str]:
        for q in sorted(questions, key=lambda q: q.id):
            yield from (q.id, q.text, str(q.times), "\n".join(q.documents[:k]))

    return content_hash(str(k), *parts()).hex()
