"""Records out of lines of delimited text, where a stray quote costs its line and no more.

A field in quotes may hold lines of its own, so a quote that nobody closed would take all lines up
to the next quote, or to the file's end. Where that is seen, the first line is counted as broken,
and the others are read again, each on its own.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from argus.errors import InputError
from argus.traffic.exchange import ReadingTally

STRAY = "a line with a quote that is not closed"
NO_FIELDS = "a line that cannot be split into fields"
OTHER_NUMBER = "a line with another number of fields than the header"
MOST = 1 << 22
"""Characters of several lines behind which a field is taken for one that is not closed."""
ALIKE = 5
"""Lines inside one field from which on it is not believed, where each of them is a record."""


class _Endless(Exception):
    """A record that runs over more lines than any does."""


class _Lines:
    """Hands out lines; those of the record that is read now can be handed out again."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._again: deque[str] = deque()
        self.held: list[str] = []
        self._size = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        if self.held:
            self._size += len(line)
            if self._size > MOST:
                self._again.appendleft(line)
                raise _Endless
        self.held.append(line)
        return line

    def forget(self) -> None:
        """Begin with the next record."""
        self.held.clear()
        self._size = 0

    def put_back(self) -> None:
        """Have every line of this record but its first handed out again."""
        self._again.extendleft(reversed(self.held[1:]))
        self.forget()


def read_delimited(
    path: Path, lines: Iterator[str], delimiter: str, tally: ReadingTally
) -> Iterator[dict[str, Any]]:
    """Yield the records of lines under a header; what is none is counted in `tally.skipped`.

    Raises InputError where the header cannot be split.
    """
    source = _Lines(lines)
    reader = (  # tabs stand in no field: there, a quote is a character as any other
        csv.reader(source, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        if delimiter == "\t"
        else csv.reader(source, delimiter=delimiter, strict=True)
    )
    header = _header(reader, path)
    while header:
        source.forget()
        try:
            fields = next(reader, None)
        except (csv.Error, _Endless):
            fields = _closed(source.held, delimiter, len(header))
        if fields is None:
            if not source.held:
                return
            tally.skipped[NO_FIELDS if '"' not in source.held[0] else STRAY] += 1
            source.put_back()
        elif len(source.held) > 1 and _swallowed(fields, source.held, delimiter, len(header)):
            tally.skipped[STRAY] += 1
            source.put_back()
        elif len(fields) == len(header):
            yield dict(zip(header, fields, strict=True))
        elif fields:
            tally.skipped[OTHER_NUMBER] += 1


def _header(reader: Iterator[list[str]], path: Path) -> list[str] | None:
    """Return the names of the columns; None for an empty file. Raises InputError for others."""
    try:
        return next(reader, None)
    except (csv.Error, _Endless) as error:
        raise InputError(
            f"the first line cannot be split into fields ({str(error) or 'a quote is not closed'})",
            expected="the names of the columns",
            fix="Close the quote, or remove the stray carriage return.",
            where=path,
        ) from error


def _closed(lines: list[str], delimiter: str, n: int) -> list[str] | None:
    """Return the n fields of one line with text behind a closed quote; None for what is broken."""
    if len(lines) != 1:
        return None
    behind = f"{lines[0].rstrip()}{delimiter}x"  # a field of its own, where no quote is open
    try:
        fields = next(csv.reader([behind], delimiter=delimiter), [])
    except csv.Error:
        return None
    return fields[:-1] if len(fields) == n + 1 and fields[-1] == "x" else None


def _swallowed(fields: list[str], lines: list[str], delimiter: str, n: int) -> bool:
    """Return whether a field over several lines holds what are records of their own.

    It is believed where it has the header's number of fields, n, unless each of many lines has it.
    """
    whole = [line.count(delimiter) == n - 1 for line in lines]
    if len(fields) == n:
        return n > 1 and len(lines) > ALIKE and all(whole)
    return 2 * sum(whole[1:]) >= len(lines) - 1
