"""Text files that a person wrote, such as settings: read as a whole, and bounded."""

from __future__ import annotations

import codecs
import io
import tomllib
from pathlib import Path

from argus.errors import InputError, Location

MOST_BYTES = 16 << 20
"""Of a file that a person wrote: it is held in memory as a whole."""
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Encodings by the bytes that their files begin with; those of UTF-16 begin those of UTF-32."""


def read_text(path: Path, expected: str, fix: str = "Check the path.") -> str:
    """Return the text of a UTF-8 file, without a byte order mark, its line ends as line feeds.

    expected, fix: for messages. Raises InputError for what is no file (a pipe would be waited
    for), cannot be read, is larger than MOST_BYTES, or is not UTF-8.
    """
    try:
        check_file(path, expected, fix)
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", expected=expected, fix=fix, where=path
        ) from error
    if len(content) > MOST_BYTES:
        raise InputError(
            f"more than {MOST_BYTES:,} bytes",
            expected=f"{expected}, which a person wrote",
            fix="Check that this is the right file.",
            where=path,
        )
    try:
        return io.StringIO(content.decode("utf-8-sig"), newline=None).read()
    except UnicodeDecodeError as error:
        raise not_utf8(error, Location(path, 1)) from error


def read_toml(path: Path) -> dict[str, object]:
    """Return what a TOML file says; InputError where it is absent or broken, too."""
    text = read_text(path, "a TOML file")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"broken TOML ({error})", expected="TOML", fix="Mend the file.", where=path
        ) from error


def check_file(path: Path, expected: str, fix: str = "Check the path.") -> None:
    """Raise InputError unless a path leads to a file."""
    if not path.is_file():
        got = no_file(path)
        raise InputError(
            got,
            expected=expected,
            fix="Save what it gives to a file first, and name that." if got == _STREAM else fix,
            where=path,
        )


_STREAM = "is a pipe or a device"


def no_file(path: Path) -> str:
    """Return what is there in place of a file."""
    if path.is_dir():
        return "is a folder"
    return _STREAM if path.exists() else "no such file"


def not_utf8(error: UnicodeDecodeError, where: Location, *, packed: bool = False) -> InputError:
    """Return an error about bytes that are not UTF-8.

    where: of the line that the bytes begin with. packed: they came out of a compressed file.
    """
    content, line = error.object, where.line or 1
    before = content[: error.start]
    begins = (name for mark, name in _MARKS.items() if line == 1 and content.startswith(mark))
    encoding = next(begins, None)
    is_it = f"; the file begins as {encoding} does" if encoding else ""
    name, suffix = where.file.name, where.file.suffix
    position = len(before) - before.rfind(b"\n")
    convert = f"iconv -f {encoding or 'LATIN1'} -t UTF-8"
    return InputError(
        f"byte {content[error.start]:#04x} at position {position} is not UTF-8{is_it}",
        expected="a UTF-8 file",
        fix=f"Decompress and convert it ({convert})."
        if packed
        else f"Convert it: {convert} {name} > fixed{suffix}",
        where=Location(where.file, line + before.count(b"\n")),
    )
