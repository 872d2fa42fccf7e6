"""Lines of UTF-8 text files, plain, gzip or bzip2, each with its number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from argus.data.text_files import no_file, read_lines
from argus.errors import InputError

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
            no_file(path),
            expected="a text file, which may be compressed (.gz, .bz2)",
            fix="Check the path.",
            where=path,
        )
    empty = True
    for number, line in read_lines(path):
        empty = empty and not line.strip()
        yield number, line
    if empty:
        raise InputError(
            "is empty",
            expected="at least one line",
            fix="Check that this is the right file and that writing it did not break off.",
            where=path,
        )
