"""Read results, feedback, questions and clicks from the fields of foreign query logs, in any shape.

Values of one record (JSON, CSV cells, printed lists) -> `Passage`s, approval or disapproval, and
counts of clicks, for `argus.traffic.formats`. A value of no known shape is counted in the tally.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from argus.data.fields import FieldPath
from argus.data.texts import stream_safe
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.results import TEXT_NAMES, Known, items_of
from argus.traffic.exchange import Passage, ReadingTally, Skip

Values = dict[str, Any]
"""A record of a foreign file: anything that JSON or Parquet can hold."""
# Usual names of a field of feedback.
FEEDBACK = ("feedback", "thumb", "thumbs", "vote", "rating", "user_feedback", "helpful", "reaction")
GOOD = {
    "up", "good", "positive", "yes", "true", "like", "liked", "helpful", "thumbs_up", "thumbsup",
    "thumb_up", "👍", "correct", "relevant", "satisfied",
}  # fmt: skip
BAD = {
    "down", "bad", "negative", "no", "false", "dislike", "disliked", "unhelpful", "thumbs_down",
    "thumbsdown", "thumb_down", "👎", "incorrect", "irrelevant", "unsatisfied", "not_helpful",
}  # fmt: skip
NO_FEEDBACK, NO_RESULTS = "feedback that is neither good nor bad", "results that cannot be read"
NUMBERS = "feedback in numbers, which counts only with --good-from"
# Fields of feedback that is an object.
MARKS = ("score", "value", "label", "rating")
# Separators of ids in one text.
APART = re.compile(r"[,;|\s]+")
# Characters of a list in text. A longer one is not read.
MAX_SPELT = 1 << 24
# Values of a field that are passed over for the next of its usual names.
NOTHING: tuple[Any, ...] = (None, "", [])
_ANY = Known()


def at_path(values: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field or at a dotted path, see `FieldPath.look`."""
    return values[name] if name in values else FieldPath.named(name, name).look(values)


def first_named(
    values: Mapping[str, Any], own: str | None, usual: Sequence[str]
) -> tuple[str, Any]:
    """Return name and value of the field `own`, else of the first usual one that holds anything.

    The name is empty if none does.
    """
    if own is not None:
        return own, at_path(values, own)
    for name in usual:
        value = values.get(name)
        if value not in NOTHING:
            return name, value
    return "", None


def first_of(
    values: Mapping[str, Any], own: str | None, usual: Sequence[str], tally: ReadingTally, role: str
) -> Any:
    """Return the value of `first_named`, and note its field under a role like "time"."""
    name, value = first_named(values, own, usual)
    if value not in NOTHING:
        tally.note(role, name)
    return value


def plain(value: object) -> str | None:
    """Return a plain value as text, None for nothing and for objects."""
    if value is None or value == "" or isinstance(value, Mapping | list):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_number(value: Any) -> float | None:
    """Return a value as a number, None for others, NaN, and those larger than any float."""
    with suppress(TypeError, ValueError, OverflowError):
        return None if math.isnan(number := float(value)) else number
    return None


def unpacked(value: Any) -> Any:
    """Return the content of a text that is JSON or a printed list of Python, or else the value."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{") or len(value) > MAX_SPELT:
        return value
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(value)
    return value


def question(value: Any) -> str:
    """Return a question's text: itself, or the last words of a person in a conversation.

    To normalise the text takes time that grows with its length. Raises Skip if there is none.
    """

    def words_of_person(message: Any) -> str:
        if not isinstance(message, Mapping):
            return message if isinstance(message, str) else ""
        role, text = message.get("role") or message.get("type") or "user", message.get("content")
        return text if role in ("user", "human") and isinstance(text, str) else ""

    value = unpacked(value)
    if isinstance(value, list):
        value = next((text for one in reversed(value) if (text := words_of_person(one))), None)
    if isinstance(value, Mapping):
        value = next((value[n] for n in ("query", "question", "text", "input") if n in value), None)
    if not isinstance(value, str) or not value.strip():
        raise Skip("no text of a question")
    return stream_safe(value.strip().encode("utf-8", "replace").decode())


def passages(
    value: Any, tally: ReadingTally, *, are_texts: bool = False
) -> tuple[Passage, ...] | None:
    """Return results, best first, None for unreadable ones.

    are_texts: strings are texts of passages, as in data sets, and no ids.
    """
    value = unpacked(value)
    if value is None:
        return None
    if isinstance(value, str):
        value = [value] if are_texts else [id_ for id_ in APART.split(value.strip()) if id_]
    if isinstance(value, Sequence):
        if all(isinstance(one, str) for one in value):
            return tuple(Passage("", None, one) if are_texts else Passage(one) for one in value)
        items = []
        for one in value:  # flat exports write scores as texts, JSON beyond floats
            if isinstance(one, Mapping) and isinstance(score := one.get("score"), str | int):
                one = {**one, "score": as_number(score)}
            items.append(one)
        value = items
    with suppress(RetrievalError):
        return tuple(Passage(id_, score, _text(one)) for id_, score, one in items_of(value, _ANY))
    if isinstance(value, Sequence) and all(map(_text, value)):  # objects without an id
        return tuple(Passage("", as_number(one.get("score")), _text(one)) for one in value)
    tally.remarks[NO_RESULTS] += 1
    return None


def _text(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    layers = (item, item.get("document"), item.get("node"), item.get("_source"))
    own = (one[n] for one in layers if isinstance(one, Mapping) for n in TEXT_NAMES if n in one)
    return next((text for text in own if isinstance(text, str)), "")


def opinion(value: Any, good_from: float | None, tally: ReadingTally) -> tuple[int, int]:
    """Return how often a value of feedback approves and disapproves. A list may do both.

    good_from: least number that approves. Without it, numbers are no opinion: on an unknown scale
    1 may be the best or the worst.
    """
    value = unpacked(value)
    if isinstance(value, list | tuple):
        both = [opinion(one, good_from, tally) for one in value]
        return sum(good for good, _ in both), sum(bad for _, bad in both)
    if isinstance(value, Mapping):
        value = next((value[name] for name in MARKS if name in value), None)
    if value is None or value == "":
        return 0, 0
    number = None if isinstance(value, bool) else as_number(value)
    if number is not None and good_from is not None:
        return int(number >= good_from), int(number < good_from)
    text = str(value) if isinstance(value, str | bool) else ""
    word = text.strip().lower().replace(" ", "_").replace("-", "_").strip("_")
    if word not in GOOD and word not in BAD:
        tally.remarks[NO_FEEDBACK if number is None else NUMBERS] += 1
    return int(word in GOOD), int(word in BAD)


def count_clicks(name: str, value: Any) -> int:
    """Return the number of opened results: of ids, or a number, or 1 for a mark such as true.

    A field that is named after ids (`clicked_ids`) holds ids also where these are numbers.
    """
    value = unpacked(value)
    if isinstance(value, list | tuple):
        return sum(one not in NOTHING for one in value)
    text = "" if value is None else str(value).strip().lower()
    if text in ("", "false", "no", "none", "null", "nan", "{}"):
        return 0
    number = as_number(text)
    if number is not None and not name.endswith(("id", "ids")):
        return max(0, int(number))
    return 1 if isinstance(value, Mapping) else sum(1 for one in APART.split(text) if one)
