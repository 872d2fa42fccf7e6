"""Lines of UTF-8 text files, plain, gzip or bzip2, each with its number."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from pathlib import Path

from argus.data.rows import read_lines
from argus.errors import InputError, Location

COMPRESSED = (".gz", ".bz2")


def ending(path: Path) -> str:
    """Return the ending in lower case, looking through a final `.gz` or `.bz2`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield `(line number, text)`; the text keeps its line end.

    Raises InputError for a missing file, bytes that are not UTF-8, damaged or cut compression,
    and a file without a line that holds something.
    """
    if not path.is_file():
        raise InputError(
            "is a folder" if path.is_dir() else "no such file",
            expected="a text file, which may be compressed (.gz, .bz2)",
            fix="Check the path.",
            where=path,
        )
    empty = True
    for number, line in _bz2_lines(path) if path.suffix.lower() == ".bz2" else read_lines(path):
        empty = empty and not line.strip()
        yield number, line
    if empty:
        raise InputError(
            "is empty",
            expected="at least one line",
            fix="Check that this is the right file and that writing it did not break off.",
            where=path,
        )


def _bz2_lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    with bz2.open(path, "rb") as raw:
        while True:
            number += 1
            try:
                line = raw.readline()
                if not line:
                    return
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"byte {error.object[error.start]:#04x} at position {error.start + 1}"
                    " is not UTF-8",
                    expected="a UTF-8 file",
                    fix="Decompress it, and convert it with iconv -f LATIN1 -t UTF-8.",
                    where=Location(path, number),
                ) from error
            except (EOFError, OSError, ValueError) as error:
                raise InputError(
                    f"the bzip2 data are damaged or cut off ({error})",
                    expected="a whole bzip2 file",
                    fix="Make or fetch the file again; if it is not compressed, drop the .bz2.",
                    where=Location(path, number),
                ) from error
            yield number, text
