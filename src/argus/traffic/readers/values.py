"""What a field of a foreign log holds: results, feedback, text; each in the shapes that occur."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from argus.data.normal_forms import stream_safe
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.results import (
    ID_NAMES,
    INNER,
    SCORE_NAMES,
    TEXT_NAMES,
    Known,
    items_of,
)
from argus.traffic.exchange import Passage, ReadingTally, Skip
from argus.traffic.marks import FeedbackMarks, FeedbackScale

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
"""What stands between ids in one text."""
_NOTHING = Known()
SCORES = frozenset((float, int, type(None)))
WRAPPING = frozenset((*INNER, "metadata", "meta"))
"""Fields inside which a result may have its id."""
SPELT = 1 << 24
"""Characters of a list in text, behind which it is not read."""


def unpacked(value: Any) -> Any:
    """Return what a text holds that is JSON, or a list as Python prints it; else the value."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{") or len(value) > SPELT:
        return value
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(value)
    return value


def passages(value: Any, tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return results, best first; None where there is nothing to be read."""
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
        plain = _plain_objects(value)
        if plain is not None:
            return plain
        value = [_with_number(one) for one in value]
    try:
        items = list(items_of(value, _NOTHING))
    except RetrievalError:
        return _without_ids(value, tally)
    return tuple(Passage(id_, score, text_of(item)) for id_, score, item in items)


def _plain_objects(items: list[Any]) -> tuple[Passage, ...] | None:
    """Return results that are flat objects alike with an id, as most are; None for others."""
    if not items or set(map(type, items)) != {dict} or not WRAPPING.isdisjoint(items[0]):
        return None
    id_name = next((name for name in ID_NAMES if name in items[0]), None)
    score_name = next((name for name in SCORE_NAMES if name in items[0]), "")
    names = items[0].keys()
    if id_name is None or any(item.keys() != names for item in items):
        return None
    ids = [item[id_name] for item in items]
    scores = [item.get(score_name) for item in items]
    kinds = set(map(type, scores))
    if set(map(type, ids)) != {str} or not kinds <= SCORES:
        return None
    return tuple(map(Passage, ids, map(as_number, scores) if int in kinds else scores))


def _with_number(item: Any) -> Any:
    """Return a result whose score is a number: flat exports write it as text."""
    if isinstance(item, Mapping) and isinstance(item.get("score"), str):
        with suppress(ValueError):
            return {**item, "score": float(item["score"])}
    return item


def _without_ids(value: Any, tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return results that have texts and no ids."""
    if isinstance(value, Sequence) and all(isinstance(one, Mapping) for one in value):
        texts = [Passage("", _score(one), text_of(one)) for one in value]
        if all(passage.text for passage in texts):
            return tuple(texts)
    tally.remarks[NO_RESULTS] += 1
    return None


def contexts(value: Any, tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return passages that are nothing but texts, as data sets hold them."""
    value = unpacked(value)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = [part for part in value.split("|") if part.strip()]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(Passage("", None, one) for one in value)
    return passages(value, tally)


def text_of(item: Any) -> str:
    """Return the text of a result, where it has one."""
    if not isinstance(item, Mapping):
        return ""
    for layer in (item, item.get("document"), item.get("node"), item.get("_source")):
        if isinstance(layer, Mapping):
            for name in TEXT_NAMES:
                if isinstance(layer.get(name), str):
                    return str(layer[name])
    return ""


def _score(item: Mapping[str, Any]) -> float | None:
    score = next((item[name] for name in SCORE_NAMES if name in item), None)
    return as_number(score) if isinstance(score, int | float) else None


def as_number(value: Any) -> float | None:
    """Return what a value is as a number; None for what is none, or larger than any float."""
    with suppress(TypeError, ValueError, OverflowError):
        return float(value)
    return None


class Opinion(NamedTuple):
    """How often a value approves, and how often it does not; marks: what numbers in it may mean."""

    good: int
    bad: int
    marks: FeedbackMarks | None = None


NO_OPINION = Opinion(0, 0)


def opinion(value: Any, good_from: float | None, tally: ReadingTally, field: str = "") -> Opinion:
    """Return what a value of feedback says; a list may approve and disapprove.

    field: whose numbers are judged together, where `good_from` does not tell what they mean.
    """
    if value is None:
        return NO_OPINION
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
        elif one is not None and one != "":
            approves, disapproves = _one_opinion(one, number, good_from, tally)
            good, bad = good + approves, bad + disapproves
    marks = FeedbackMarks(field, *map(thumbs.count, (1, 0, -1))) if thumbs else None
    return Opinion(good, bad, marks)


def _one_opinion(
    value: Any, number: float | None, good_from: float | None, tally: ReadingTally
) -> tuple[int, int]:
    if isinstance(value, bool):
        return int(value), int(not value)
    if number is not None and good_from is not None and number == number:
        return int(number >= good_from), int(number < good_from)
    text = value if isinstance(value, str) else ""
    word = text.strip().lower().replace(" ", "_").replace("-", "_").strip("_")
    if word in GOOD or word in BAD:
        return int(word in GOOD), int(word in BAD)
    tally.remarks[NO_FEEDBACK] += 1
    return 0, 0


def question(value: Any) -> str:
    """Return a question's text: itself, or of a conversation what a person said last.

    Whoever normalises it does so in time that grows with its length.
    Raises Skip for what is none.
    """
    value = unpacked(value)
    if isinstance(value, list):
        value = next((text for one in reversed(value) if (text := _said_by_person(one))), None)
    if isinstance(value, Mapping):
        value = next((value[n] for n in ("query", "question", "text", "input") if n in value), None)
    if not isinstance(value, str) or not value.strip():
        raise Skip("no text of a question")
    return stream_safe(value.strip().encode("utf-8", "replace").decode())


def _said_by_person(message: Any) -> str:
    if isinstance(message, str):
        return message
    if not isinstance(message, Mapping):
        return ""
    role = message.get("role") or message.get("type") or "user"
    text = message.get("content")
    return text if role in ("user", "human") and isinstance(text, str) else ""
