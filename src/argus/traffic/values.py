"""Read values of foreign logs: results, feedback, questions and clicks, in whatever shape."""

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
from argus.retrievers.results import ID_NAMES, INNER, SCORE_NAMES, TEXT_NAMES, Known, items_of
from argus.traffic.exchange import FeedbackMarks, FeedbackScale, Passage, ReadingTally, Skip

Values = dict[str, Any]
"""A record of a foreign file: anything that JSON or Parquet can hold."""
FEEDBACK = ("feedback", "thumb", "thumbs", "vote", "rating", "user_feedback", "helpful", "reaction")
"""Usual names of a field of feedback."""
GOOD = {
    "up", "good", "positive", "yes", "true", "like", "liked", "helpful", "thumbs_up", "thumbsup",
    "thumb_up", "👍", "correct", "relevant", "satisfied",
}  # fmt: skip
BAD = {
    "down", "bad", "negative", "no", "false", "dislike", "disliked", "unhelpful", "thumbs_down",
    "thumbsdown", "thumb_down", "👎", "incorrect", "irrelevant", "unsatisfied", "not_helpful",
}  # fmt: skip
NO_FEEDBACK, NO_RESULTS = "feedback that is neither good nor bad", "results that cannot be read"
MARKS = ("score", "value", "label", "rating")
"""Fields of feedback that is an object."""
APART = re.compile(r"[,;|\s]+")
"""Separators of ids in one text."""
MAX_SPELT = 1 << 24
"""Characters of a list in text. A longer one is not read."""
OPENED = ("",)
"""Clicks where something was opened that the log does not name."""
_ANY = Known()
_WRAPPING = frozenset((*INNER, "metadata", "meta"))
"""Fields inside which a result may have its id."""
NOTHING: tuple[Any, ...] = (None, "", [])
"""Values of a field that are passed over for the next of its usual names."""


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
    """Return a value as a number, None for others and for those larger than any float."""
    with suppress(TypeError, ValueError, OverflowError):
        return float(value)
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


def passages(value: Any, tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return results, best first, None for unreadable ones."""
    value = unpacked(value)
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(Passage(id_) for id_ in APART.split(value.strip()) if id_)
    if type(value) is list and all(type(one) is str for one in value):
        return tuple(Passage(one) for one in value)
    if isinstance(value, Mapping) and "id" in value and "ids" not in value:
        value = [value]
    if type(value) is list:
        if (alike := _flat_objects(value)) is not None:
            return alike
        value = [_with_number(one) for one in value]
    try:
        return tuple(Passage(id_, score, _text(one)) for id_, score, one in items_of(value, _ANY))
    except RetrievalError:
        pass
    if isinstance(value, Sequence) and all(isinstance(one, Mapping) for one in value):
        scores = (next((one[n] for n in SCORE_NAMES if n in one), None) for one in value)
        numbers = (as_number(n) if isinstance(n, int | float) else None for n in scores)
        texts = [Passage("", n, _text(one)) for n, one in zip(numbers, value, strict=True)]
        if all(passage.text for passage in texts):
            return tuple(texts)
    tally.remarks[NO_RESULTS] += 1
    return None


def contexts(value: Any, tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return passages that are only texts, as in data sets."""
    value = unpacked(value)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = [part for part in value.split("|") if part.strip()]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(Passage("", None, one) for one in value)
    return passages(value, tally)


def _flat_objects(items: list[Any]) -> tuple[Passage, ...] | None:
    """Return results that are similar flat objects with an id, None for others.

    This is five times as fast as `items_of`.
    """
    if not items or set(map(type, items)) != {dict} or not _WRAPPING.isdisjoint(items[0]):
        return None
    names = items[0].keys()
    id_name = next((name for name in ID_NAMES if name in names), None)
    score_name = next((name for name in SCORE_NAMES if name in names), "")
    if id_name is None or any(item.keys() != names for item in items):
        return None
    ids = [item[id_name] for item in items]
    scores = [item.get(score_name) for item in items]
    if set(map(type, ids)) != {str} or not set(map(type, scores)) <= {float, int, type(None)}:
        return None
    return tuple(map(Passage, ids, map(as_number, scores)))


def _with_number(item: Any) -> Any:
    """Return a result whose score is a float: flat exports write it as text, JSON beyond floats."""
    name = next((n for n in SCORE_NAMES if n in item), "") if isinstance(item, Mapping) else ""
    score = item[name] if name else None
    if type(score) is int:
        return {**item, name: as_number(score)}
    if name == "score" and isinstance(score, str):
        with suppress(ValueError):
            return {**item, name: float(score)}
    return item


def _text(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    layers = (item, item.get("document"), item.get("node"), item.get("_source"))
    own = (one[n] for one in layers if isinstance(one, Mapping) for n in TEXT_NAMES if n in one)
    return next((text for text in own if isinstance(text, str)), "")


Opinion = tuple[int, int, FeedbackMarks | None]
"""Counts of approval and disapproval, and numbers whose meaning is not known yet."""


def opinion(value: Any, good_from: float | None, tally: ReadingTally, field: str = "") -> Opinion:
    """Return the opinion in a value of feedback. A list may approve and disapprove.

    good_from: least mark that approves. Without it, numbers are judged together by their field.
    """
    good, bad, waiting, thumbs = 0, 0, [value], []
    while waiting:  # no recursion: a log nests lists as deep as it likes
        one = unpacked(waiting.pop())
        number = None if isinstance(one, bool) else as_number(one)
        if isinstance(one, list | tuple):
            waiting += one
        elif isinstance(one, Mapping):
            waiting.append(next((one[name] for name in MARKS if name in one), None))
        elif number is not None and math.isfinite(number) and good_from is None:
            if tally.scales.setdefault(field, FeedbackScale()).add(number):
                thumbs.append(number)
        elif number is not None and good_from is not None and not math.isnan(number):
            good, bad = good + (number >= good_from), bad + (number < good_from)
        elif one is not None and one != "":
            text = str(one) if isinstance(one, str | bool) else ""
            word = text.strip().lower().replace(" ", "_").replace("-", "_").strip("_")
            good, bad = good + (word in GOOD), bad + (word in BAD)
            if word not in GOOD and word not in BAD:
                tally.remarks[NO_FEEDBACK] += 1
    return good, bad, FeedbackMarks(field, *map(thumbs.count, (1, 0, -1))) if thumbs else None


def clicks(name: str, value: Any, results: tuple[Passage, ...] | None) -> tuple[str, ...]:
    """Return the ids of opened results, "" for one that is not named.

    A field that is named after ids (`clicked_ids`) holds ids. Elsewhere 1 and 0 are marks, and in
    `clicks` every number is a count. results: those of the log, if any.
    """
    value = unpacked(value)
    if isinstance(value, list | tuple):
        return tuple(id_ for one in value if (id_ := _id(one)))
    if isinstance(value, Mapping):
        id_ = _id(value)
        return (id_,) if id_ else ()
    text = "" if value is None else str(value).strip()
    number = None if isinstance(value, bool) else as_number(text)
    if number is not None and not name.endswith(("id", "ids")):
        is_id = name != "clicks" and number not in (0, 1)
        return () if not number > 0 else (text,) if is_id else OPENED
    if text.lower() in ("true", "yes"):
        return OPENED
    if text.lower() in ("", "false", "no", "none", "null", "nan"):
        return ()
    known = {passage.id for passage in results or ()}
    parts = [one for one in APART.split(text) if one]
    return tuple(parts) if text not in known and known.issuperset(parts) else (text,)


def _id(value: Any) -> str:
    if isinstance(value, Mapping):
        value = next((value[name] for name in ID_NAMES if name in value), None)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
