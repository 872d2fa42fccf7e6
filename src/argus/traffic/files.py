"""Read the records of a log's files one at a time (JSON, CSV, Parquet), and count damaged ones.

File or folder, perhaps gz or bz2 -> dictionaries, for `argus.traffic.formats`. A log may be written
while you read it: a broken line costs only itself. JSON may be one object a line, a list, or
objects one after the other over several lines.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from argus.data.rows import read_rows
from argus.errors import InputError
from argus.traffic.exchange import ReadingTally
from argus.traffic.values import Values

ENDINGS = (".jsonl", ".ndjson", ".json", ".log", ".csv", ".tsv", ".parquet")
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
BROKEN = "half-written or broken JSON"
# The first character of a value in a list, or of one after the other.
_VALUE = re.compile(r"[^\s,\[\]]")


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
    """Yield the records of a file, and count unreadable ones in `tally.skipped`."""
    ending = _ending(path)
    if ending == ".parquet":
        yield from (dict(row.values) for row in read_rows(path))
    elif ending in (".csv", ".tsv"):
        yield from _delimited(_lines(path, tally), ending == ".tsv", tally)
    else:
        lines = _lines(path, tally)
        first = next((line for line in lines if not line.isspace()), "")
        every = chain([first], lines)
        is_by_line = False
        with suppress(ValueError, RecursionError):
            is_by_line = isinstance(json.loads(first), dict)
        for text in every if is_by_line else ["".join(every)]:
            yield from json_values(text, tally)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _lines(path: Path, tally: ReadingTally) -> Iterator[str]:
    opener = PACKED.get(path.suffix.lower(), open)
    with opener(path, "rb") as raw:
        try:
            for number, line in enumerate(raw):
                try:
                    yield line.decode("utf-8" if number else "utf-8-sig")
                except UnicodeDecodeError:
                    tally.skipped["bytes that are not UTF-8"] += 1
        except (EOFError, zlib.error, gzip.BadGzipFile):
            tally.skipped["compressed data that end early"] += 1


def json_values(text: str, tally: ReadingTally) -> Iterator[Values]:
    """Yield the objects of a text, in lists or one after the other."""
    decode, at = json.JSONDecoder().raw_decode, 0
    while match := _VALUE.search(text, at):
        try:
            value, at = decode(text, match.start())
        except (ValueError, RecursionError):
            tally.skipped[BROKEN] += 1
            at = text.find("\n{", match.start())  # where the next object may begin
            if at < 0:
                return
            continue
        if isinstance(value, dict):
            yield value
        else:
            tally.skipped[f"a JSON {type(value).__name__}, no object"] += 1


def _delimited(lines: Iterator[str], has_tabs: bool, tally: ReadingTally) -> Iterator[Values]:
    first = next(lines, "")
    # spreadsheets separate by semicolons where a comma is part of numbers
    comma = ";" if "," not in first and ";" in first else ","
    every = chain([first], lines)
    reader = (  # tabs stand in no field: there, a quote is a character like any other
        csv.reader(every, delimiter="\t", quoting=csv.QUOTE_NONE)
        if has_tabs
        else csv.reader(every, delimiter=comma)
    )
    header = next(reader, None)
    while header:
        try:
            fields = next(reader, None)
        except csv.Error:
            tally.skipped["a line that cannot be split into fields"] += 1
            continue
        if fields is None:
            return
        if len(fields) == len(header):
            yield dict(zip(header, fields, strict=True))
        elif fields:
            tally.skipped["a line with another number of fields than the header"] += 1
