"""Texts before they take one of Unicode's forms, so that it costs time in proportion to them.

A form sorts the marks behind a letter, each past the others: 80,000 in a row keep it busy for
minutes. Unicode's own answer is the Stream-Safe Text Format (UAX #15), which bounds their number.
"""

from __future__ import annotations

import re
import unicodedata

MOST = 30
"""Marks in a row: no writing system needs as many."""
JOINER = "\u034f"
"""COMBINING GRAPHEME JOINER, which nobody sees: no mark is sorted past it."""
_LONG = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{MOST + 1},}}")
"""Where too many marks may stand: of letters, only two are marks in another form."""


def stream_safe(text: str) -> str:
    """Return a text with a joiner behind each 30 marks in a row; any other text as it is."""
    if text.isascii() or len(text) <= MOST:
        return text
    return _LONG.sub(_apart, text)


def _apart(run: re.Match[str]) -> str:
    parts, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if _is_mark(character) else 0
        if marks > MOST:
            parts.append(JOINER)
            marks = 1
        parts.append(character)
    return "".join(parts)


def _is_mark(character: str) -> bool:
    """Return whether a character, or the first that it is made of, is sorted among marks."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
