"""What all pages of the reference have: who made them, and lines that can be read."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

MADE = "<!-- Made by `python -m argus.cli.reference docs/reference`; change the code, not this. -->"
MOST_WORDS = 1_800
"""A page that would have more is made two."""
WIDTH = 300


def page(title: str, body: str) -> str:
    """Return a page of Markdown."""
    return f"{MADE}\n\n# {title}\n\n{body.strip()}\n"


def wrapped(text: str) -> str:
    """Return prose whose long lines are broken between words; lines of a list stay one item."""
    lines = [
        line
        if len(line) <= WIDTH
        else textwrap.fill(
            line, WIDTH, subsequent_indent="  " if line.startswith("* ") else "",
            break_long_words=False, break_on_hyphens=False,
        )
        for line in text.splitlines()
    ]  # fmt: skip
    return "\n".join(lines)


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())


def cell(text: str) -> str:
    """Return a text as it may stand in a cell of a table."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def parts(entries: Iterable[str]) -> Iterator[list[str]]:
    """Yield runs of entries that each make a page which can be read."""
    part: list[str] = []
    words = 0
    for entry in entries:
        count = len(entry.split())
        if part and words + count > MOST_WORDS:
            yield part
            part, words = [], 0
        part.append(entry)
        words += count
    if part:
        yield part
