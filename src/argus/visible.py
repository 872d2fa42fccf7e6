"""Escape characters in foreign text that would steer a terminal or a web page.

Control characters steer terminals. Those that turn the direction of writing let a text stand in
another order than it has. Halves of surrogate pairs cannot be written at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Control characters of honest texts: they end words and lines.
BREAKS = "\t\n\r"
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
# Embeddings, overrides and isolates. Marks of Arabic and Hebrew texts (U+200F) turn nothing.
_TURNING = r"\u202a-\u202e\u2066-\u2069"
_STEERING = re.compile(rf"[{_CONTROLS}{_TURNING}\ud800-\udfff]")
_STEERING_LINES = re.compile(rf"[{_CONTROLS}{_TURNING}\ud800-\udfff{BREAKS}\u2028\u2029]")


def visible(text: str) -> str:
    r"""Return a text with steering characters as escapes, like `\u202e`. Its lines stay."""
    return _STEERING.sub(_escape, text)


def visible_line(text: str) -> str:
    r"""Return a text as one line: characters that would end it are escapes, too."""
    return _STEERING_LINES.sub(_escape, text)


def without_half_pairs(text: str) -> str:
    """Return `text` with U+FFFD for each half surrogate pair, which UTF-8 cannot carry."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table as lines, each column as wide as its longest text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()


def visible_json(value: object) -> object:
    """Return a value of JSON with every text in it as `visible` has it. Keys stay."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: visible_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [visible_json(one) for one in value]
    return value


def _escape(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"
