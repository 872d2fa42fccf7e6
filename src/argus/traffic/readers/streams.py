"""Records out of a log's files, one at a time, with what is damaged counted and passed over.

A log is written while it is read, and cut where a disk was full: a broken line costs that line.
JSON may come a value a line, as one list, or as values one after the other over several lines.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from argus.data.rows import ARROW, LONGEST, read_rows
from argus.errors import InputError
from argus.traffic.exchange import ReadingTally
from argus.traffic.readers.delimited import read_delimited

ENDINGS = (".jsonl", ".ndjson", ".json", ".log", ".csv", ".tsv", ".parquet", ARROW)
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
CHUNK = 1 << 20
"""Characters, or bytes, that are read at once of JSON over several lines, and of a long line."""
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
BROKEN, NOT_TEXT = "half-written or broken JSON", "bytes that are not UTF-8"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
TOO_LONG = "a line longer than any record"
CUT = "compressed data that end early"
BETWEEN = re.compile(r"[\s,\[\]]*")
"""What stands between the values of a list, and of values one after the other."""
Raw = io.BufferedReader | gzip.GzipFile | bz2.BZ2File
Values = dict[str, Any]
"""A record of a foreign file: anything that JSON or Parquet can hold."""


def log_files(log: Path) -> list[Path]:
    """Return the files of a log: itself, or those of a folder that end as one does, by name."""
    if log.is_file():
        return [log]
    if not log.is_dir():
        raise InputError(
            "no such file or folder",
            expected=f"a log, or a folder of files that end in {', '.join(ENDINGS)}",
            fix="Check the path.",
            where=log,
        )
    files = sorted(path for path in log.iterdir() if path.is_file() and _ending(path) in ENDINGS)
    if not files:
        raise InputError(
            "the folder holds no log",
            expected=f"files that end in {', '.join(ENDINGS)}",
            fix="Name the file itself.",
            where=log,
        )
    return files


def values_of(path: Path, tally: ReadingTally) -> Iterator[Values]:
    """Yield the records of a file; what cannot be read is counted in `tally.skipped`."""
    ending = _ending(path)
    if ending in (".parquet", ARROW):
        yield from (dict(row.values) for row in read_rows(path))
    elif ending in (".csv", ".tsv"):
        yield from _delimited(path, "\t" if ending == ".tsv" else ",", tally)
    else:
        yield from _json(path, tally)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _lines(path: Path, tally: ReadingTally) -> Iterator[str]:
    """Yield the lines; those that are no UTF-8 are counted, and where packed data end, it ends."""
    opener = PACKED.get(path.suffix.lower(), open)
    with opener(path, "rb") as raw:
        try:
            for number, line in enumerate(_bounded(raw, tally)):
                if not number and line.startswith(UTF_16):
                    raise InputError(
                        "a file in UTF-16",
                        expected="text in UTF-8",
                        fix="Save it as UTF-8, such as by iconv -f UTF-16 -t UTF-8.",
                        where=path,
                    )
                try:
                    yield line.decode("utf-8-sig" if not number else "utf-8")
                except UnicodeDecodeError:
                    tally.skipped[NOT_TEXT] += 1
        except (*DAMAGE, OSError) as error:
            if opener is open and not isinstance(error, DAMAGE):
                raise
            tally.skipped[CUT] += 1


def _bounded(raw: Raw, tally: ReadingTally) -> Iterator[bytes]:
    """Yield the lines; a longer one than LONGEST is counted, and never held as a whole.

    A list on one line comes in pieces: it is read item by item.
    """
    is_list = raw.peek(1).removeprefix(BOM_UTF8).lstrip().startswith(b"[")
    while line := raw.readline(LONGEST):
        if len(line) < LONGEST or line.endswith(b"\n"):
            yield line
        elif is_list:
            yield _whole(line, raw)
        else:
            tally.skipped[TOO_LONG] += 1
            while line and not line.endswith(b"\n"):
                line = raw.readline(CHUNK)


def _whole(piece: bytes, raw: Raw) -> bytes:
    """Return a piece of a line with the bytes that its last character lacks."""
    for _ in range(3):  # UTF-8 has four at most
        if b"\x80" <= raw.peek(1)[:1] < b"\xc0":
            piece += raw.read(1)
    return piece


def _delimited(path: Path, delimiter: str, tally: ReadingTally) -> Iterator[Values]:
    every = _lines(path, tally)
    first = next(every, "")
    if delimiter == "," and "," not in first and ";" in first:
        delimiter = ";"  # as spreadsheets write it where a comma is part of numbers
    lines = chain([first], every) if first else every
    yield from read_delimited(path, lines, delimiter, tally)


def _json(path: Path, tally: ReadingTally) -> Iterator[Values]:
    lines = (line for line in _lines(path, tally) if not line.isspace())
    head = [line for _, line in zip(range(2), lines, strict=False)]
    rest = chain(head, lines)
    if head and not head[0].lstrip().startswith("[") and any(map(_is_object, head)):
        yield from _by_line(rest, tally)
        return
    for value in _spread(rest, tally):
        yield from _flat(value, tally)


def _is_object(line: str) -> bool:
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict)
    return False


def _by_line(lines: Iterator[str], tally: ReadingTally) -> Iterator[Values]:
    for line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            tally.skipped[BROKEN] += 1
            continue
        if type(value) is dict:
            yield value
        else:
            yield from _flat(value, tally)


def _flat(value: object, tally: ReadingTally) -> Iterator[Values]:
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
            if not ended and len(buffer) - at < LONGEST:
                least = 2 * max(len(buffer) - at, CHUNK)
                continue
            tally.skipped[BROKEN] += 1
            start = buffer.find("\n{", at + 1)  # where the next value may begin
            at, least = (len(buffer), CHUNK) if start < 0 else (start + 1, CHUNK)
            continue
        least = CHUNK
        yield value
