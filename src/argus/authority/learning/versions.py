"""Versions and dates in titles: what is the same document in a later version."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DATE = re.compile(
    rf"\b(?:(?:{_MONTHS})\s+)?(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b|\b(?:{_MONTHS})\b", re.I
)
_VERSION = re.compile(
    r"\b(?:version|ver|v|revision|rev|edition|release|draft|r)?[.\s_-]*(\d+(?:\.\d+)*)"
    r"(?:st|nd|rd|th)?(?:\s+(?:edition|revision|draft))?\b",
    re.I,
)
_NOISE = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\d{1,18}")
LEAST_STEM = 6
"""Letters of a title without its versions for it to tell a document."""


@dataclass(frozen=True, slots=True)
class Titled:
    """A title in two: stem, what stays from version to version, and numbers that order versions."""

    stem: str
    numbers: tuple[int, ...]


def titled(title: str) -> Titled | None:
    """Take a title apart; None where it says too little without its numbers."""
    numbers = tuple(map(int, _NUMBER.findall(title)))
    bare = _VERSION.sub(" ", _DATE.sub(" ", title))
    stem = _NOISE.sub(" ", bare).strip().lower()
    if len(stem) < LEAST_STEM:
        return None
    return Titled(stem, numbers)
