"""Names that titles give, and words that are too common to be one."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")
_FINAL_PARENTHESIS = re.compile(r"\s*\([^()]*\)$")


def without_parenthesis(title: str) -> str:
    """Return a title without a final parenthesis, as in "Mercury (planet)"."""
    return _FINAL_PARENTHESIS.sub("", title)


def lower_case_words(texts: Iterable[str]) -> set[str]:
    """Return the words that occur in the texts with a lower-case first letter."""
    return {word for text in texts for word in _WORD.findall(text) if word[0].islower()}


def is_common_word(name: str, lower_words: set[str]) -> bool:
    """Whether `name` is one word that also occurs in lower case, as in "Jaws"."""
    return not any(c.isspace() for c in name) and name.lower() in lower_words
