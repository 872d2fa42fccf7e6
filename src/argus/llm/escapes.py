"""Backslashes in the JSON that models write: LaTeX comes with one where JSON needs two."""

from __future__ import annotations

import re

COMMANDS = (
    "nabla natural neg neq newline ngeq ngtr nleq notin not norm "
    "rangle rbrace rbrack rceil rfloor rho right rightarrow rightharpoonup rightleftharpoons root "
    "tan tanh tau text textbf textit textrm textsc textsf textstyle texttt tfrac therefore theta "
    "tilde times tiny to top triangle triangleleft triangleright twoheadrightarrow"
)
"""LaTeX that begins like the escapes of newline, carriage return and tab. Commands whose rest is
what lines begin with (`ne`, `ni`, `nu`, `nless`, `nexists`, `trace`) are left out: a line break
before a word is what is meant there far more often."""


def _but_for_commands(letter: str) -> str:
    rests = "|".join(name[1:] for name in COMMANDS.split() if name[0] == letter)
    return rf"{letter}(?!(?:{rests})(?![A-Za-z]))"


_KEPT = "|".join((r'["\\/]', "u[0-9a-fA-F]{4}", "[bf](?![A-Za-z])", *map(_but_for_commands, "nrt")))
_ESCAPE = re.compile(rf"\\({_KEPT}|)")


def repair_escapes(text: str) -> str:
    r"""Return JSON with a second backslash where a single one stands before LaTeX.

    `\alpha`, `\(` and whatever else is no escape of JSON would not parse; `\frac` would be a form
    feed and "rac", `\times` a tab and "imes". A backslash is doubled where JSON knows no such
    escape, before `b` and `f` with a letter after them (nobody writes backspaces and form feeds),
    and before `n`, `r`, `t` where exactly one of COMMANDS stands.

    Escapes that were meant are left alone, but for the ambiguous: a backspace or form feed before a
    letter, and a line break or tab before a word that makes one of COMMANDS with it (a tab and
    "an"), come back as LaTeX.
    """
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: f"\\{found[1]}" if found[1] else r"\\", text)
