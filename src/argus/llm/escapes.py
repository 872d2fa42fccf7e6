"""Backslashes in the JSON that models write: LaTeX comes with one where JSON needs two."""

from __future__ import annotations

import re

COMMANDS = (
    "nabla natural neg neq newcommand newline ngeq ngtr nleftarrow nLeftarrow nleq notin not norm "
    "nrightarrow nRightarrow nsubseteq rangle rbrace rbrack rceil renewcommand rfloor rho right "
    "rightarrow rightharpoonup rightleftharpoons rm root rtimes rvert rVert tan tanh tau tbinom "
    "text textbf textcolor textit textmd textrm textsc textsf textstyle textsubscript "
    "textsuperscript texttt textup tfrac therefore theta thickapprox thicksim tilde times tiny to "
    "top triangle triangleleft triangleq triangleright twoheadrightarrow"
)
"""LaTeX that begins like the escapes of newline, carriage return and tab. Commands whose rest is
what lines begin with (`ne`, `ni`, `nu`, `nless`, `nexists`, `trace`) are left out: a line break
before a word is what is meant there far more often. Between dollar signs those of IN_MATH count,
too."""
IN_MATH = "ne ni nu nless nexists"


def _but_for_commands(letter: str) -> str:
    rests = "|".join(name[1:] for name in COMMANDS.split() if name[0] == letter)
    return rf"{letter}(?!(?:{rests})(?![A-Za-z]))"


_KEPT = "|".join((r'["\\/]', "u[0-9a-fA-F]{4}", "[bf](?![A-Za-z])", *map(_but_for_commands, "nrt")))
_ESCAPE = re.compile(rf"\\({_KEPT}|)")
_MATH = re.compile(r"\$[^$\"\n]{1,200}\$")
_WORDLIKE = re.compile(rf"(?<!\\)\\({IN_MATH.replace(' ', '|')})(?![A-Za-z])")


def repair_escapes(text: str) -> str:
    r"""Return JSON with a second backslash where a single one stands before LaTeX.

    `\alpha`, `\(` and whatever else is no escape of JSON would not parse; `\frac` would be a form
    feed and "rac", `\times` a tab and "imes". A backslash is doubled where JSON knows no such
    escape, before `b` and `f` with a letter after them (nobody writes backspaces and form feeds),
    and before `n`, `r`, `t` where exactly one of COMMANDS stands (between dollars: or of IN_MATH).

    Escapes that were meant are left alone, but for the ambiguous: a backspace or form feed before a
    letter, and a line break or tab before a word that makes one of COMMANDS with it (a tab and
    "an"), come back as LaTeX.
    """
    if "\\" not in text:
        return text
    doubled = _MATH.sub(lambda math: _WORDLIKE.sub(r"\\\\\1", math[0]), text)
    return _ESCAPE.sub(lambda escape: f"\\{escape[1]}" if escape[1] else r"\\", doubled)
