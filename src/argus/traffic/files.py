"""Read the records of a log's files one at a time, and count damaged ones.

A log may be written while you read it, or cut by a full disk: a broken line costs only itself. JSON
may be one value a line, a list, or values one after the other over several lines. In delimited
text, an unclosed quote would swallow all lines up to the next quote. Then the first line counts as
broken, and the others are read again one by one.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import re
import zlib
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from argus.data.reading import MAX_LINE
from argus.data.rows import ARROW, read_rows
from argus.errors import InputError
from argus.traffic.exchange import ReadingTally
from argus.traffic.values import Values

ENDINGS = (".jsonl", ".ndjson", ".json", ".log", ".csv", ".tsv", ".parquet", ARROW)
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
CHUNK = 1 << 20
"""Characters, or bytes, that are read at once of JSON over several lines, and of a long line."""
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
BROKEN = "half-written or broken JSON"
TOO_LONG = "a line longer than any record"
STRAY = "a line with a quote that is not closed"
MAX_FIELD = 1 << 22
"""Characters of a field over several lines. A longer one counts as not closed."""
MAX_ALIKE = 5
"""Lines inside one field. More are not believed if each of them is a record."""
BETWEEN = re.compile(r"[\s,\[\]]*")
"""Characters between the values of a list, and between values one after the other."""
Raw = io.BufferedReader | gzip.GzipFile | bz2.BZ2File


def log_files(log: Path) -> list[Path]:
    """Return the files of a log: itself, or those of a folder with a known ending, by name."""
    if log.is_file():
        return [log]
    is_folder = log.is_dir()
    files = [path for path in log.iterdir() if path.is_file()] if is_folder else []
    if own := sorted(path for path in files if _ending(path) in ENDINGS):
        return own
    endings = f"files that end in {', '.join(ENDINGS)}"
    got = "the folder holds no log" if is_folder else "no such file or folder"
    expected = endings if is_folder else f"a log, or a folder of {endings}"
    fix = "Name the file itself." if is_folder else "Check the path."
    raise InputError(got, expected=expected, fix=fix, where=log)


def read_values(path: Path, tally: ReadingTally) -> Iterator[Values]:
    """Yield the records of a file, and count unreadable ones in `tally.skipped`.

    Raises InputError for a table whose header cannot be split, and for UTF-16.
    """
    ending = _ending(path)
    if ending in (".parquet", ARROW):
        yield from (dict(row.values) for row in read_rows(path))
    elif ending in (".csv", ".tsv"):
        yield from _delimited(path, ending == ".tsv", tally)
    else:
        lines = (line for line in _lines(path, tally) if not line.isspace())
        head = list(islice(lines, 2))
        by_line = head and not head[0].lstrip().startswith("[") and any(map(_is_object, head))
        read = _by_line if by_line else _spread
        for value in read(chain(head, lines), tally):
            yield from flat(value, tally)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _lines(path: Path, tally: ReadingTally) -> Iterator[str]:
    opener = PACKED.get(path.suffix.lower(), open)
    with opener(path, "rb") as raw:
        try:
            for number, line in enumerate(_bounded(raw, tally)):
                if not number and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise InputError(
                        "a file in UTF-16", expected="text in UTF-8",
                        fix="Save it as UTF-8, such as by iconv -f UTF-16 -t UTF-8.", where=path,
                    )  # fmt: skip
                try:
                    yield line.decode("utf-8-sig" if not number else "utf-8")
                except UnicodeDecodeError:
                    tally.skipped["bytes that are not UTF-8"] += 1
        except (*DAMAGE, OSError) as error:
            if opener is open and not isinstance(error, DAMAGE):
                raise
            tally.skipped["compressed data that end early"] += 1


def _bounded(raw: Raw, tally: ReadingTally) -> Iterator[bytes]:
    """Yield the lines. One longer than MAX_LINE is counted, and never in memory as a whole.

    A list on one line comes in pieces that end with a whole character.
    """
    is_list = raw.peek(1).removeprefix(BOM_UTF8).lstrip().startswith(b"[")
    while line := raw.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
        elif is_list:
            for _ in range(3):  # UTF-8 has four bytes at most
                if b"\x80" <= raw.peek(1)[:1] < b"\xc0":
                    line += raw.read(1)
            yield line
        else:
            tally.skipped[TOO_LONG] += 1
            while line and not line.endswith(b"\n"):
                line = raw.readline(CHUNK)


def _is_object(line: str) -> bool:
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict)
    return False


def _by_line(lines: Iterator[str], tally: ReadingTally) -> Iterator[object]:
    for line in lines:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            tally.skipped[BROKEN] += 1


def _spread(lines: Iterator[str], tally: ReadingTally) -> Iterator[object]:
    """Yield JSON values that run over lines: the items of a list, or one after the other."""
    decode, buffer, at, least = json.JSONDecoder().raw_decode, "", 0, CHUNK
    ended = False
    while True:
        if len(buffer) - at < least and not ended:
            parts, size = [buffer[at:]], len(buffer) - at
            while size < 2 * least and not ended:
                line = next(lines, None)
                ended = line is None
                parts.append(line or "")
                size += len(parts[-1])
            buffer, at = "".join(parts), 0
        match = BETWEEN.match(buffer, at)
        at = match.end() if match else at
        if at >= len(buffer):
            if ended:
                return
            continue
        try:
            value, at = decode(buffer, at)
        except (ValueError, RecursionError):
            if not ended and len(buffer) - at < MAX_LINE:
                least = 2 * max(len(buffer) - at, CHUNK)
                continue
            tally.skipped[BROKEN] += 1
            start = buffer.find("\n{", at + 1)  # where the next value may begin
            at, least = (len(buffer), CHUNK) if start < 0 else (start + 1, CHUNK)
            continue
        least = CHUNK
        yield value


def flat(value: object, tally: ReadingTally) -> Iterator[Values]:
    """Yield the objects of a value and of the lists in it."""
    waiting = [value]
    while waiting:  # no recursion: a log nests lists as deep as it likes
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
        elif isinstance(one, list):
            waiting += reversed(one)
        else:
            tally.skipped[f"a JSON {type(one).__name__}, no object"] += 1


class _Endless(Exception):
    """A record that runs over more lines than any does."""


class _Lines:
    """Lines that remember those of the current record, to return them again."""

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
            if self._size > MAX_FIELD:
                self._again.appendleft(line)
                raise _Endless
        self.held.append(line)
        return line

    def begin(self, *, again: bool = False) -> None:
        """Begin the next record. again: return every line of this one but its first."""
        self._again.extendleft(reversed(self.held[1:]) if again else ())
        self.held.clear()
        self._size = 0


def _delimited(path: Path, has_tabs: bool, tally: ReadingTally) -> Iterator[Values]:
    every = _lines(path, tally)
    first = next(every, "")
    # spreadsheets separate by semicolons where a comma is part of numbers
    comma = ";" if "," not in first and ";" in first else ","
    source = _Lines(chain([first], every) if first else every)
    reader = (  # tabs stand in no field: there, a quote is a character like any other
        csv.reader(source, delimiter="\t", quoting=csv.QUOTE_NONE)
        if has_tabs
        else csv.reader(source, delimiter=comma, strict=True)
    )
    delimiter = "\t" if has_tabs else comma
    try:
        header = next(reader, None)
    except (csv.Error, _Endless) as error:
        raise InputError(
            f"the first line cannot be split into fields ({str(error) or 'a quote is not closed'})",
            expected="the names of the columns",
            fix="Close the quote, or remove the stray carriage return.",
            where=path,
        ) from error
    while header:
        source.begin()
        try:
            fields = next(reader, None)
        except (csv.Error, _Endless):
            fields = _closed(source.held, delimiter, len(header))
        if fields is None and not source.held:
            return
        if fields is None:
            no_fields = "a line that cannot be split into fields"
            tally.skipped[no_fields if '"' not in source.held[0] else STRAY] += 1
            source.begin(again=True)
        elif len(source.held) > 1 and _has_swallowed(fields, source.held, delimiter, len(header)):
            tally.skipped[STRAY] += 1
            source.begin(again=True)
        elif len(fields) == len(header):
            yield dict(zip(header, fields, strict=True))
        elif fields:
            tally.skipped["a line with another number of fields than the header"] += 1


def _closed(lines: list[str], delimiter: str, n: int) -> list[str] | None:
    """Return the n fields of one line with text behind a closed quote, None for a broken one."""
    if len(lines) != 1:
        return None
    behind = f"{lines[0].rstrip()}{delimiter}x"  # a field of its own if no quote is open
    with suppress(csv.Error):
        fields = next(csv.reader([behind], delimiter=delimiter), [])
        return fields[:-1] if len(fields) == n + 1 and fields[-1] == "x" else None
    return None


def _has_swallowed(fields: list[str], lines: list[str], delimiter: str, n: int) -> bool:
    """Return True if a field over several lines holds records of their own.

    A record with the header's number of fields, n, is believed unless each of many lines has it.
    """
    whole = [line.count(delimiter) == n - 1 for line in lines]
    if len(fields) == n:
        return n > 1 and len(lines) > MAX_ALIKE and all(whole)
    return 2 * sum(whole[1:]) >= len(lines) - 1
