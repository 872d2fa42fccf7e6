"""Read UTF-8 text files: settings as a whole, data line by line, packed or not."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from argus.data.reading import reading
from argus.errors import InputError, Location

MAX_BYTES = 16 << 20  # of a file that a person wrote: it is held in memory as a whole
MAX_LINE = 1 << 28  # bytes, since a little .gz may hold a long line
_PIPE = "is a pipe or a device"
# Encodings by the bytes that their files begin with. Those of UTF-16 begin those of UTF-32.
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_Opener = Callable[[Path, Literal["rb"]], io.BufferedIOBase]
# Opener, name and errors of damage of packed files, by their ending.
_PACKINGS: dict[str, tuple[_Opener, str, tuple[type[Exception], ...]]] = {
    ".gz": (gzip.open, "gzip", (EOFError, zlib.error, gzip.BadGzipFile)),
    ".bz2": (bz2.open, "bzip2", (EOFError, OSError, ValueError)),
}


def no_file(path: Path) -> str:
    """Return the words for a path without a file: a folder, a pipe or nothing."""
    if path.is_dir():
        return "is a folder"
    return _PIPE if path.exists() else "no such file"


def check_file(path: Path, expected: str, fix: str = "Check the path.") -> None:
    """Raise InputError unless a path leads to a file. A pipe would be waited for."""
    if not path.is_file():
        got = no_file(path)
        fix = "Save what it gives to a file first, and name that." if got == _PIPE else fix
        raise InputError(got, expected=expected, fix=fix, where=path)


def nothing_in(path: Path, what: str, expected: str = "") -> InputError:
    """Return the error of a file without one document, query, ...: `what`."""
    fix = "Check that this is the right file and that writing it did not break off."
    return InputError(
        f"no {what} in it", expected=expected or f"at least one {what}", fix=fix, where=path
    )


def read_text(path: Path, expected: str, fix: str = "Check the path.") -> str:
    """Return the text of a UTF-8 file, without a byte order mark, its line ends as line feeds.

    expected, fix: for messages. Raises InputError for a path without a file, a file that cannot be
    read, more than MAX_BYTES, and text that is not UTF-8.
    """
    with reading(path, expected=expected, fix=fix):
        check_file(path, expected, fix)
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        got, fix = f"more than {MAX_BYTES:,} bytes", "Check that this is the right file."
        raise InputError(got, expected=f"{expected}, which a person wrote", fix=fix, where=path)
    try:
        return io.StringIO(content.decode("utf-8-sig"), newline=None).read()
    except UnicodeDecodeError as error:
        raise not_utf8(error, Location(path, 1)) from error


def read_toml(path: Path) -> dict[str, object]:
    """Return the content of a TOML file. Raises InputError as `read_text`, and for broken TOML."""
    text = read_text(path, "a TOML file")
    with reading(path, "broken TOML", expected="TOML", fix="Mend the file."):
        return tomllib.loads(text)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield `(line number, text)` of a UTF-8 file, plain, .gz or .bz2.

    Raises InputError, which names the line, for text that is not UTF-8, a line longer than
    MAX_LINE, and damaged compression.
    """
    opener, packing, damage = _PACKINGS.get(path.suffix.lower(), (open, "", ()))
    number = 0
    with opener(path, "rb") as raw:
        while True:
            number += 1
            where = Location(path, number)
            try:
                line = raw.readline(MAX_LINE + 1)
                if len(line) <= MAX_LINE:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise not_utf8(error, where, packed=bool(packing)) from error
            except damage as error:
                got = f"the {packing} data are damaged or cut off ({error})"
                expected, end = f"a whole {packing} file", path.suffix
                fix = f"Make or fetch the file again; if it is not compressed, drop the {end}."
                raise InputError(got, expected=expected, fix=fix, where=where) from error
            if not line:
                return
            if len(line) > MAX_LINE:
                got = f"a line of more than {MAX_LINE:,} bytes"
                fix = "Break it up; of a document, give its parts."
                raise InputError(got, expected="shorter lines", fix=fix, where=where)
            yield number, text


def read_ids(path: Path, expected: str = "a file with one id per line") -> list[tuple[int, str]]:
    """Return `(line number, id)` of each line that is not empty.

    An id may hold spaces and other separators: a line feed alone ends it.
    """
    check_file(path, expected)
    ids = ((number, line.rstrip("\r\n")) for number, line in read_lines(path))
    return [(number, id_) for number, id_ in ids if id_]


def read_columns(
    path: Path, columns: Sequence[str], *, fix: str
) -> Iterator[tuple[Location, list[str]]]:
    """Yield the place of each line and its columns, split at white space (TREC files).

    Empty lines are skipped. Raises InputError with `fix` for another number of columns.
    """
    for number, line in read_lines(path):
        fields, where = line.split(), Location(path, number)
        if fields and len(fields) != len(columns):
            expected = f"{len(columns)}, split at white space: {', '.join(columns)}"
            raise InputError(f"{len(fields)} columns", expected=expected, fix=fix, where=where)
        if fields:
            yield where, fields


def not_utf8(error: UnicodeDecodeError, where: Location, *, packed: bool = False) -> InputError:
    """Return the error for bytes that are not UTF-8.

    where: of the line that the bytes begin with. packed: they came out of a compressed file.
    """
    content, line = error.object, where.line or 1
    before = content[: error.start]
    marks = _MARKS if line == 1 else {}
    encoding = next((name for mark, name in marks.items() if content.startswith(mark)), None)
    is_it = f"; the file begins as {encoding} does" if encoding else ""
    position = len(before) - before.rfind(b"\n")
    convert, file = f"iconv -f {encoding or 'LATIN1'} -t UTF-8", where.file
    got = f"byte {content[error.start]:#04x} at position {position} is not UTF-8{is_it}"
    fix = f"Convert it: {convert} {file.name} > fixed{file.suffix}"
    if packed:
        fix = f"Decompress and convert it ({convert})."
    where = Location(file, line + before.count(b"\n"))
    return InputError(got, expected="a UTF-8 file", fix=fix, where=where)
