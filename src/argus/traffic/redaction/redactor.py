"""Texts without what is personal or secret, and how often each kind of it was there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.rows import read_lines
from argus.errors import InputError, Location
from argus.traffic.redaction.patterns import KINDS, SUSPECT, Hit

_NAMED = re.compile(r"([\w-]{1,40})\s*=\s*(.+)", re.DOTALL)
IN_IDS = ("token", "mail")
"""What is replaced in ids, too: a number there is the document's own."""


@dataclass
class Redactor:
    """Replaces what is looked for by a mark such as <mail>. own: patterns by name, tried first."""

    own: Sequence[tuple[str, re.Pattern[str]]] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """How often each kind was replaced so far."""

    def clean(self, text: str, kinds: Iterable[str] = KINDS) -> str:
        """Return a text with everything replaced that is looked for."""
        for name, pattern in self.own:
            spans = (match.span() for match in pattern.finditer(text))
            text = self._marked(text, name, spans)
        if SUSPECT.search(text) is None:
            return text
        for kind in kinds:
            text = self._marked(text, kind, KINDS[kind](text))
        return text

    def _marked(self, text: str, kind: str, spans: Iterator[Hit]) -> str:
        parts, end = [], 0
        for start, stop in sorted(spans):
            if start < end or start == stop:
                continue
            parts += [text[end:start], f"<{kind}>"]
            end = stop
            self.counts[kind] += 1
        return "".join([*parts, text[end:]]) if parts else text


def own_patterns(named: Sequence[str]) -> list[tuple[str, re.Pattern[str]]]:
    """Read patterns: NAME=REGEX each, or a file of such lines (# begins a remark).

    Raises InputError for what is neither, for a name that is taken, and for a broken pattern.
    """
    patterns: list[tuple[str, re.Pattern[str]]] = []
    for where, line in _lines(named):
        match = _NAMED.fullmatch(line)
        if match is None:
            raise InputError(
                f"{line!r}",
                expected="NAME=REGEX, or a file of such lines",
                fix="Write it as case=CASE-[0-9]+; check the path if it is a file.",
                where=where,
            )
        patterns.append((match[1], _compiled(match[2], where)))
    return patterns


def _lines(named: Sequence[str]) -> Iterator[tuple[str | Location, str]]:
    for one in named:
        if not _is_file(one):
            yield "--redact", one
            continue
        for number, line in read_lines(Path(one)):
            if line.strip() and not line.lstrip().startswith("#"):
                yield Location(Path(one), number), line.strip()


def _is_file(one: str) -> bool:
    """Return whether a file is called so: a pattern can be longer than any name."""
    with suppress(OSError):
        return Path(one).is_file()
    return False


def _compiled(pattern: str, where: str | Location) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:  # x{10**20}, "(" * 10_000
        raise InputError(
            f"{pattern!r} is no regular expression ({error})",
            expected="one of Python's re",
            fix="Correct it.",
            where=where,
        ) from error
    if compiled.match("") is not None and compiled.fullmatch("") is not None:
        raise InputError(
            f"{pattern!r} matches nothing at all",
            expected="a pattern of at least one character",
            fix="Use + in place of *.",
            where=where,
        )
    return compiled
