"""Texts that people gave, in a table of Markdown."""

from __future__ import annotations

import re

from argus.visible import visible_line

_MARKUP = re.compile(r"[\\`*\[\]<>|&~]|(?<![^\W_])_|_(?![^\W_])")
"""What may begin markup; an underscore within a word does not."""


def in_cell(text: str) -> str:
    """Return a text as a cell shows it: white space as single blanks, and none of it markup."""
    return _MARKUP.sub(r"\\\g<0>", visible_line(" ".join(text.split())))


def code_in_cell(text: str) -> str:
    """Return a text as code in a cell, whatever it has of backticks, bars and ends of lines."""
    text = visible_line(text).replace("|", r"\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{text}{space}{fence}"
