"""KILT JSONL: `{id, input, output: [{provenance: [{title, text, score, passage_id, meta}]}]}`.

The text of a passage is `title @@ body`, as SEAL writes it, and its n-grams are in `meta.keys`.
There is no `wikipedia_id`, which KILT's own scorer reads: passages need not be pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from typing_extensions import TypedDict

from argus.data.dpr import DprPassage, DprResult, KeyRow, keys_as_lists
from argus.data.rows import Row, id_value, read_rows, text_value
from argus.data.types import Query, Topic
from argus.data.writing import replacing
from argus.errors import InputError

TITLE_END = " @@ "


class KiltMeta(TypedDict):
    """What is said of a passage beside the fields of KILT."""

    keys: list[KeyRow] | None


class KiltPassage(TypedDict):
    """A passage of the provenance."""

    title: str
    text: str
    score: float
    passage_id: str
    meta: KiltMeta


class KiltOutput(TypedDict):
    """The passages of a question."""

    provenance: list[KiltPassage]


class KiltLine(TypedDict):
    """One line of the file."""

    id: str
    input: str
    output: list[KiltOutput]


def write_kilt(path: Path, results: Iterable[DprResult]) -> Path:
    """Write one line per question as they come, the file whole or not at all; return the path."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for result in results:
            line = json.dumps(as_line(result), ensure_ascii=False, allow_nan=False)
            file.write(line + "\n")
    return path


def as_line(result: DprResult) -> KiltLine:
    """Return one line of the file as an object."""
    query = result.topic.query
    provenance = [_provenance(passage) for passage in result.passages]
    return {"id": query.id, "input": query.text, "output": [{"provenance": provenance}]}


def read_kilt_topics(path: Path, *, coerce_ids: bool = False) -> Iterator[Topic]:
    """Yield the questions of a KILT JSONL file, with the different answers in `output`.

    Raises InputError naming file, line and field.
    """
    for row in read_rows(path):
        yield topic_of(row, coerce_ids=coerce_ids)


def topic_of(row: Row, *, coerce_ids: bool = False) -> Topic:
    """Return the question of a row, with the different answers in `output`; errors likewise."""
    if "input" not in row.values or "id" not in row.values:
        missing = "input" if "input" not in row.values else "id"
        raise InputError(
            f"no {missing!r} among {', '.join(map(repr, row.values))}",
            expected='{"id": "...", "input": "...", "output": [{"answer": "..."}]}',
            fix="Mend or remove the line.",
            where=row.at(),
        )
    query = Query(id_value(row, "id", coerce=coerce_ids), text_value(row, "input"))
    return Topic(query, _answers(row))


def _answers(row: Row) -> tuple[str, ...]:
    output = row.values.get("output") or []
    if not isinstance(output, list) or not all(isinstance(one, dict) for one in output):
        raise InputError(
            f"{output!r:.60}",
            expected='a list of objects, [{"answer": "..."}, ...]',
            fix="Leave the field out where no answer is known.",
            where=row.at("output"),
        )
    answers = (one.get("answer") for one in output)
    return tuple(dict.fromkeys(a for a in answers if isinstance(a, str) and a))


def _provenance(passage: DprPassage) -> KiltPassage:
    return {
        "title": passage.title,
        "text": f"{passage.title}{TITLE_END}{passage.text}",
        "score": passage.score,
        "passage_id": passage.passage_id,
        "meta": {"keys": keys_as_lists(passage)},
    }
