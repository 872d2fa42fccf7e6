"""DPR JSON as SEAL and MINDER write it: questions, answers, passages, and what found each.

A file is one list of `{question, answers, ctxs: [{title, text, score, passage_id, keys}]}`, keys
being `[[n-gram, occurrences in the corpus, weight], ...]`. Results are written one at a time.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from argus.data.reading import parse_json
from argus.data.rows import Row, id_value, read_lines, text_value
from argus.data.types import Query, Topic
from argus.data.writing import replacing
from argus.errors import InputError, Location

INDENT = 4
"""Of the published files."""
ID_FIELDS = ("id", "_id", "query_id", "qid")
KeyRow = list[str | int | float]
"""A key as it is written: text, count, weight."""
_TOPIC = '[{"question": "...", "answers": ["..."]}, ...]'
_QAS = "question<TAB>['answer', ...]"


@dataclass(frozen=True, slots=True)
class DprKey:
    """An n-gram that speaks for a passage.

    text: decoded, special tokens shown. count: occurrences in the corpus. weight: what it adds to
    the score of that passage.
    """

    text: str
    count: int
    weight: float


@dataclass(frozen=True, slots=True)
class DprPassage:
    """A passage that was found; keys is None in files that were written without them."""

    passage_id: str
    title: str
    text: str
    score: float
    keys: tuple[DprKey, ...] | None = None


class DprContext(TypedDict):
    """A passage as it stands among the ctxs of a question."""

    title: str
    text: str
    score: float
    passage_id: str
    keys: list[KeyRow] | None


@dataclass(frozen=True, slots=True)
class DprResult:
    """One question and the passages that were found for it, best first."""

    topic: Topic
    passages: tuple[DprPassage, ...]


def write_dpr(path: Path, results: Iterable[DprResult], *, indent: int | None = INDENT) -> Path:
    """Write results as they come, the file whole or not at all; return the path.

    indent: spaces per level, or None for one line per question. Holds one result in memory.
    """
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, result in enumerate(results):
            file.write("," if number else "")
            file.write("\n" + _item(as_item(result), indent))
        file.write("\n]\n")
    return path


def as_item(result: DprResult) -> dict[str, object]:
    """Return a result as the object that stands in the file: the topic's own fields, then ctxs."""
    topic = result.topic
    own = {"id": topic.query.id, "question": topic.query.text, "answers": list(topic.answers)}
    rest = {name: value for name, value in topic.given.items() if name not in {*own, "ctxs"}}
    return {**own, **rest, "ctxs": [_context(passage) for passage in result.passages]}


def keys_as_lists(passage: DprPassage) -> list[KeyRow] | None:
    """Return the keys as they are written, `[text, count, weight]` each."""
    if passage.keys is None:
        return None
    return [[key.text, key.count, key.weight] for key in passage.keys]


def read_dpr_topics(path: Path, *, coerce_ids: bool = False) -> Iterator[Topic]:
    """Yield the questions of a DPR JSON file.

    `answers` may be missing; the id is that of the record, else its position from 0. Raises
    InputError naming the record for a file that is no such list and fields of another type.
    """
    for _, topic in _records(path, coerce_ids=coerce_ids):
        yield topic


def read_dpr(path: Path, *, coerce_ids: bool = False) -> Iterator[DprResult]:
    """Yield the questions of a file of results with their passages, in file order.

    Raises InputError as `read_dpr_topics`, and naming the passage for one without id or score, and
    for keys that are no `[text, count, weight]`.
    """
    for row, topic in _records(path, coerce_ids=coerce_ids):
        contexts = row.values.get("ctxs")
        if not isinstance(contexts, list):
            raise InputError(
                f"{_short(contexts)}",
                expected="ctxs: a list of the passages that were found",
                fix="Check that these are results, not questions alone.",
                where=row.at("ctxs"),
            )
        yield DprResult(topic, tuple(_passage(row, c, i) for i, c in enumerate(contexts)))


def _records(path: Path, *, coerce_ids: bool) -> Iterator[tuple[_Item, Topic]]:
    for position, values in enumerate(_items(path)):
        row = _Item(values, path, position + 1)
        if not isinstance(values, dict) or not isinstance(values.get("question"), str):
            raise InputError(
                f"item {position + 1} is {_short(values)}",
                expected=f"a question in each: {_TOPIC}",
                fix="Mend or remove the item.",
                where=row.at(),
            )
        yield row, _topic(row, str(position), coerce_ids=coerce_ids)


def read_qas(path: Path) -> Iterator[Topic]:
    """Yield the questions of a `dpr_qas` file: question, tab, Python list of answers per line.

    Ids are line numbers from 0. Raises InputError naming the line.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        where = Location(path, number)
        question, tab, answers = line.rstrip("\r\n").partition("\t")
        if not tab or not question.strip():
            raise InputError(
                f"{_short(line.strip())} without " + ("a question" if tab else "a tab"),
                expected=_QAS,
                fix="Write question and answers on one line, a tab between.",
                where=where,
            )
        yield Topic(Query(str(number - 1), question), _literal(answers, where))


def looks_like_qas(path: Path) -> bool:
    """Return whether the first line is a question, a tab and the beginning of a list."""
    _, line = next(iter(read_lines(path)), (0, ""))
    _, tab, rest = line.partition("\t")
    return bool(tab) and rest.lstrip(' "')[:1] in {"[", "("}


def _literal(text: str, where: Location) -> tuple[str, ...]:
    if text.startswith('"') and text.endswith('"'):  # as csv quotes a list with quotes in it
        text = text[1:-1].replace('""', '"')
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise InputError(
            f"{_short(text)} is no Python list",
            expected=_QAS,
            fix="Quote each answer and close the list; backslashes are doubled.",
            where=where,
        ) from error
    if not isinstance(value, (list, tuple)) or not all(isinstance(a, str) for a in value):
        raise InputError(
            f"{_short(text)} is no list of strings",
            expected=_QAS,
            fix="Quote each answer, numbers too.",
            where=where,
        )
    return tuple(value)


class _Item(Row):
    """A record of a JSON list; its line is its place in the list."""

    __slots__ = ()

    def at(self, field: str | None = None) -> Location:
        return Location(self.file, None, f"[{self.line - 1}]" + (f".{field}" if field else ""))


def _topic(row: Row, position: str, *, coerce_ids: bool) -> Topic:
    id_field = next((name for name in ID_FIELDS if row.values.get(name) is not None), None)
    id_ = id_value(row, id_field, coerce=coerce_ids) if id_field else position
    answers = row.values.get("answers", [])
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise InputError(
            f"{_short(answers)}",
            expected="a list of strings",
            fix="Quote each answer; leave the field out where none is known.",
            where=row.at("answers"),
        )
    own = {"question", "answers", "ctxs", id_field}
    rest = {name: value for name, value in row.values.items() if name not in own}
    return Topic(Query(id_, text_value(row, "question")), tuple(answers), rest)


def _passage(row: _Item, values: object, position: int) -> DprPassage:
    """Return one of the ctxs; title and text may be missing, as keys may."""
    fields = values if isinstance(values, dict) else {}
    try:
        id_, keys = fields["passage_id"], fields.get("keys")
        if isinstance(id_, bool) or not isinstance(id_, (str, int)):
            raise TypeError("passage_id is neither text nor a whole number")
        title, text = str(fields.get("title") or ""), str(fields.get("text") or "")
        return DprPassage(str(id_), title, text, float(fields["score"]), _keys(keys))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{_short(values)} ({type(error).__name__}: {error})",
            expected="passage_id, score, and keys of [n-gram, count, weight]",
            fix="Write the file again; keys may be left out.",
            where=row.at(f"ctxs[{position}]"),
        ) from error


def _keys(rows: list[KeyRow] | None) -> tuple[DprKey, ...] | None:
    return None if rows is None else tuple(DprKey(str(t), int(n), float(w)) for t, n, w in rows)


def _items(path: Path) -> list[Any]:  # as JSON has them: a topic's own fields may be anything
    try:
        content = parse_json("".join(line for _, line in read_lines(path)))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"broken JSON ({error})",
            expected=_TOPIC,
            fix="Mend the file; questions with one JSON object per line must be named .jsonl.",
            where=path,
        ) from error
    if not isinstance(content, list):
        raise InputError(
            f"a JSON {type(content).__name__}",
            expected=f"a list, {_TOPIC}",
            fix="Check that this is a file of questions.",
            where=path,
        )
    return content


def _context(passage: DprPassage) -> DprContext:
    return {
        "title": passage.title,
        "text": passage.text,
        "score": passage.score,
        "passage_id": passage.passage_id,
        "keys": keys_as_lists(passage),
    }


def _item(item: dict[str, object], indent: int | None) -> str:
    """Return an item of the list as `json.dump` would write it there."""
    text = json.dumps(item, ensure_ascii=False, allow_nan=False, indent=indent)
    if indent is None:
        return text
    margin = " " * indent
    return margin + text.replace("\n", "\n" + margin)  # a text's own line breaks are escaped


def _short(value: object, width: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= width else text[:width] + "..."
