"""Make foreign text safe: normal Unicode forms, cells of Markdown tables.

`holders` finds which texts contain a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from argus.visible import visible_line

MAX_MARKS = 30  # in a row: no writing system needs as many
JOINER = "\u034f"  # COMBINING GRAPHEME JOINER is invisible, and no mark is sorted past it
_MARKUP = re.compile(r"[\\`*\[\]<>|&~]|(?<![^\W_])_|_(?![^\W_])")  # not the _ within a word
# Where too many marks may stand. Of letters, only two are marks in another form.
_MARKS = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{MAX_MARKS + 1},}}")


def stream_safe(text: str) -> str:
    """Return a text with a joiner behind each MAX_MARKS marks in a row.

    A normal form sorts the marks behind a letter: 80,000 in a row keep it busy for minutes. This
    is Unicode's Stream-Safe Text Format (UAX #15). It leaves any other text as it is.
    """
    if text.isascii() or len(text) <= MAX_MARKS:
        return text

    def separate(run: re.Match[str]) -> str:
        parts, marks = [], 0
        for character in run[0]:
            first = unicodedata.normalize("NFKD", character)[0]
            marks = marks + 1 if unicodedata.combining(first) else 0
            if marks > MAX_MARKS:
                parts.append(JOINER)
                marks = 1
            parts.append(character)
        return "".join(parts)

    return _MARKS.sub(separate, text)


def holders(sentences: Sequence[str], texts: Sequence[str]) -> list[list[int]]:
    """Return the positions of the texts that hold each sentence, ascending.

    Equal sentences share a list.
    """
    from ahocorasick_rs import BytesAhoCorasick

    held: dict[str, list[int]] = {one: [] for one in sentences}
    distinct = [one for one in held if one]
    if "" in held:
        held[""] += range(len(texts))
    automaton = BytesAhoCorasick([one.encode("utf-8", "surrogatepass") for one in distinct])
    for position, text in enumerate(texts):
        data = text.encode("utf-8", "surrogatepass")
        matches = automaton.find_matches_as_indexes(data, overlapping=True)
        for sentence in {match[0] for match in matches}:
            held[distinct[sentence]].append(position)
    return [held[one] for one in sentences]


def in_cell(text: str) -> str:
    """Return a text for a cell of Markdown: white space as single blanks, markup escaped."""
    return _MARKUP.sub(r"\\\g<0>", visible_line(" ".join(text.split())))


def code_in_cell(text: str) -> str:
    """Return a text as code for a cell of Markdown, with any backticks, bars and line ends."""
    text = visible_line(text).replace("|", r"\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{text}{space}{fence}"
