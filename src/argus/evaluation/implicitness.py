"""How implicit questions are: whether they name what they ask for, or only describe it.

A question that names its entity is found by the name; repairs of the index show on the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_HUMP_OR_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[._]")
_WORD = re.compile(r"[^\W\d_]{2,}")
STEM = 4
"""Letters that two words must share from their start to count as forms of one word."""

_STOP = """
a about all an and any are as at be been but by can do does each for from get give had has have how
if in into is it its just like make me more most my need no not of off on one only or other our out
over own same should so some something such than that the their them then there these they thing
this those to too two up use used using want was way we what when where which who why will with
without work would you your
"""
STOP_WORDS = frozenset(_STOP.split())


def content_words(text: str) -> set[str]:
    """Return the lower-cased words of a question or a dotted, underscored or camel-case name."""
    words = _WORD.findall(_HUMP_OR_JOINT.sub(" ", text))
    return {word.lower() for word in words} - STOP_WORDS


def is_implicit(question: str, wanted: Sequence[str]) -> bool:
    """Return whether a question shares no content word with any name of what it asks for."""
    asked = content_words(question)
    names = {word for name in wanted for word in content_words(name)}
    return not any(_alike(a, b) for a in asked for b in names)


def names_something(names: Sequence[str]) -> bool:
    """Return whether any of the names has a content word: without one nothing can be shared."""
    return any(content_words(name) for name in names)


def overlap(question: str, texts: Sequence[str]) -> float | None:
    """Return the share of the question's content words that its best relevant text holds.

    None when the question has no content word or there is no text.
    """
    asked = content_words(question)
    if not asked or not texts:
        return None
    return max(len(asked & content_words(text)) for text in texts) / len(asked)


def _alike(a: str, b: str) -> bool:
    """Return whether two words are the same up to their ending ("sorted" and "sort")."""
    return a == b or (len(a) >= STEM and a[:STEM] == b[:STEM])
