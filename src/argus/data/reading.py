"""Read any file safely: text, TOML, lines (packed as .gz or .bz2, too), columns, JSON and .npz.

`reading` turns each failure inside into an `InputError` that names the file and line and says how
to mend it. `read_own` and `parse_json` raise ValueError, to be used inside it. Disks and people
change the files that Argus wrote, so every reader treats its input as foreign. Readers elsewhere
stand on this one: `rows` for tables, `runs` for rankings, `documents` for corpora.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.errors import ArgusError, InputError, Location

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_BYTES = 1 << 28  # of a file that is held in memory as a whole
MAX_TEXT = 16 << 20  # bytes of a file that a person wrote
MAX_LINE = 1 << 28  # bytes, since a little .gz may hold a long line
WRITTEN = "Run the command again with the same --out; vectors are kept."  # mends a table of a job
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


def damage(error: BaseException) -> str:
    """Return the message of a library's error in one line, with the type where it has none."""
    text = getattr(error, "strerror", None) or str(error).strip()
    return next(iter(text.splitlines()), type(error).__name__)[:300]


def is_of_reader(error: BaseException) -> bool:
    """Return whether a library raised an error: a panic of Rust is no Exception."""
    is_panic = type(error).__name__ == "PanicException"
    return is_panic or (isinstance(error, Exception) and not isinstance(error, ArgusError))


@contextmanager
def reading(
    where: Path | Location | str, what: str = "cannot be read", *, expected: str, fix: str
) -> Iterator[None]:
    """Turn any error of a reader into an InputError: "WHERE: WHAT (message of the reader)"."""
    try:
        yield
    except BaseException as error:
        if not is_of_reader(error):
            raise
        got = f"{what} ({damage(error)})"
        raise InputError(got, expected=expected, fix=fix, where=where) from error


def no_file(path: Path) -> str:
    """Return the words for a path without a file: a folder, a pipe or nothing."""
    if path.is_dir():
        return "is a folder"
    return "is a pipe or a device" if path.exists() else "no such file"


def check_file(path: Path, expected: str, fix: str = "Check the path.") -> None:
    """Raise InputError unless a path leads to a file. A pipe would be waited for."""
    if not path.is_file():
        raise InputError(no_file(path), expected=expected, fix=fix, where=path)


def nothing_in(path: Path, what: str, expected: str = "") -> InputError:
    """Return the error of a file without one document, query, ...: `what`."""
    fix = "Check that this is the right file and that writing it did not break off."
    return InputError(
        f"no {what} in it", expected=expected or f"at least one {what}", fix=fix, where=path
    )


def read_text(path: Path, expected: str, fix: str = "Check the path.") -> str:
    """Return the text of a UTF-8 file, without a byte order mark, its line ends as line feeds.

    expected, fix: for messages. Raises InputError for a path without a file, a file that cannot be
    read, more than MAX_TEXT bytes, and text that is not UTF-8.
    """
    with reading(path, expected=expected, fix=fix):
        check_file(path, expected, fix)
        with path.open("rb") as file:
            content = file.read(MAX_TEXT + 1)
    if len(content) > MAX_TEXT:
        got, fix = f"more than {MAX_TEXT:,} bytes", "Check that this is the right file."
        raise InputError(got, expected=f"{expected}, which a person wrote", fix=fix, where=path)
    try:
        return io.StringIO(content.decode("utf-8-sig"), newline=None).read()
    except UnicodeDecodeError as error:
        raise _not_utf8(error, path, 1) from error


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
    number, line = 0, b""
    fix = "Make or fetch the file again; if it is not compressed, drop its last ending."
    with _OPENERS.get(path.suffix.lower(), open)(path, "rb") as raw:
        while True:
            number += 1
            with reading(Location(path, number), expected="a whole file", fix=fix):
                line = raw.readline(MAX_LINE + 1)
                if len(line) > MAX_LINE:
                    raise ValueError(f"a line of more than {MAX_LINE:,} bytes")
            if not line:
                return
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(error, path, number) from error


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


def _not_utf8(error: UnicodeDecodeError, file: Path, line: int) -> InputError:
    """Return the error for bytes that are not UTF-8. line: that the bytes begin with."""
    before = error.object[: error.start]
    position = len(before) - before.rfind(b"\n")
    got = f"byte {error.object[error.start]:#04x} at position {position} is not UTF-8"
    encoding = "UTF-16" if error.object[:2] in (b"\xff\xfe", b"\xfe\xff") else "LATIN1"
    fix = f"Convert it: iconv -f {encoding} -t UTF-8 {file.name} > fixed{file.suffix}"
    where = Location(file, line + before.count(b"\n"))
    return InputError(got, expected="a UTF-8 file", fix=fix, where=where)


def read_own(path: Path) -> str:
    """Return the text of a file that Argus wrote.

    Raises ValueError for a pipe, a device, more than MAX_BYTES, and text that is not UTF-8.
    """
    if not path.is_file() and path.exists():
        raise ValueError("is no file")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{size:,} bytes, of {MAX_BYTES:,} at most")
    return path.read_text(encoding="utf-8")


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError for any other text, however deep."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_arrays(file: Path, *, fix: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an .npz file by name. Raises InputError for one that is damaged.

    Argus never compresses arrays: a file that promises more bytes than it has is not unpacked.
    """
    import numpy as np

    with reading(file, expected="the arrays as Argus wrote them", fix=fix):
        with zipfile.ZipFile(file) as members:
            promised, size = sum(one.file_size for one in members.infolist()), file.stat().st_size
        if promised > size:
            raise ValueError(f"arrays of {promised:,} bytes in a file of {size:,}")
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
