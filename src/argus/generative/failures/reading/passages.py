"""The passages that a record lists, as the three formats write them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from argus.data.topics import TITLE_END
from argus.generative.failures.reading.problems import Notes, Problem
from argus.generative.failures.reading.settings import Record
from argus.generative.failures.reading.values import id_of, number, text_of

QUERY_START = " || "
PASSAGE_IDS = ("passage_id", "id", "psg_id", "docid", "doc_id")


@dataclass(frozen=True, slots=True)
class ListedPassage:
    """A passage as it is listed. id: None if it has none. place: in the record. keys: as is."""

    id: str | None
    place: str
    title: str
    text: str
    keys: object


def listed_passages(record: Record, note: Notes) -> list[ListedPassage]:
    """Return the passages of a record in its order, each once. Problems are noted."""
    place, listed = _list(record)
    if listed is not None and not isinstance(listed, list):
        note(Problem.PASSAGES, place, listed)
    passages: dict[str | tuple[str, str], ListedPassage] = {}
    last, falling = math.inf, True
    for position, value in enumerate(listed if isinstance(listed, list) else ()):
        where = f"{place}[{position}]"
        passage = _passage(value, where, in_kilt=place.startswith("output"))
        if passage is None:
            note(Problem.PASSAGES, where, value)
            continue
        if passage.id is None:
            note(Problem.NO_ID, where, passage.title or passage.text)
        score = number(value.get("score"), note, f"{where}.score")
        falling = falling and (score is None or score <= last)
        last = last if score is None else score
        same = (passage.title, passage.text) if passage.id is None else passage.id
        if same in passages:
            note(Problem.TWICE, where, passage.id or passage.title)
        passages.setdefault(same, passage)
    if not falling:
        note(Problem.ORDER, place, "a score is above the one before it")
    return list(passages.values())


def _list(record: Record) -> tuple[str, object]:
    """Return the name of the list of passages in a record, and its value."""
    for name in ("ctxs", "hits"):
        if name in record:
            return name, record[name]
    output = record.get("output")
    for position, one in enumerate(output if isinstance(output, list) else ()):
        if isinstance(one, dict) and "provenance" in one:
            return f"output[{position}].provenance", one["provenance"]
    return "ctxs", None


def _passage(value: object, place: str, *, in_kilt: bool) -> ListedPassage | None:
    """Return a passage. None without id, title and text."""
    if not isinstance(value, dict):
        return None
    id_, title = id_of(value, PASSAGE_IDS), text_of(value, "title")
    text = without_queries(text_of(value, "text"))
    if id_ is None and not title and not text:
        return None
    meta = value.get("meta")
    keys = value.get("keys", meta.get("keys") if isinstance(meta, dict) else None)
    if in_kilt:
        title, text = _apart(title, text)
    return ListedPassage(id_, place, title, text, keys)


def without_queries(text: str) -> str:
    """Return a text without the pseudo-queries that MINDER's files append: ` || query @@`, ...

    Text that a model made up cannot hold an answer.
    """
    at = text.find(QUERY_START)
    return text[:at] if at >= 0 and text.rstrip().endswith(TITLE_END.strip()) else text


def _apart(title: str, text: str) -> tuple[str, str]:
    """Return title and body of KILT's `title @@ body`."""
    head, marker, body = text.partition(TITLE_END)
    if title and text.startswith(title + TITLE_END):
        return title, text.removeprefix(title + TITLE_END)
    return (head, body) if marker and not title else (title, text)
