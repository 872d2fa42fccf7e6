"""Read files that may be damaged: each failure becomes an error that names the file.

Files that Argus wrote come back through here: JSON and arrays of numpy. Disks and
people change files, so every reader treats its input as foreign.
"""

from __future__ import annotations

import json
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.errors import ArgusError, InputError, Location

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_BYTES = 1 << 28  # of a file that is held in memory as a whole
WRITTEN = "Run the command again with the same --out; vectors are kept."  # mends a table of a job
UNREADABLE = (
    *(OSError, ValueError, LookupError, EOFError, TypeError, AttributeError, MemoryError),
    *(NotImplementedError, ArithmeticError, SyntaxError, RuntimeError, tokenize.TokenError),
    *(zipfile.BadZipFile, zlib.error),
)  # what numpy raises for a damaged file, or one that it did not write: headers are Python


def is_of_reader(error: BaseException) -> bool:
    """Return whether a library raised an error: a panic of Rust is no Exception."""
    is_panic = type(error).__name__ == "PanicException"
    return is_panic or (isinstance(error, Exception) and not isinstance(error, ArgusError))


def damage(error: BaseException) -> str:
    """Return the message of a library's error in one line, with the type where it has none."""
    text = getattr(error, "strerror", None) or str(error).strip()
    return next(iter(text.splitlines()), type(error).__name__)[:300]


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
        with file.open("rb") as content, zipfile.ZipFile(content) as members:
            promised, size = sum(one.file_size for one in members.infolist()), file.stat().st_size
        if promised > size:
            raise ValueError(f"arrays of {promised:,} bytes in a file of {size:,}")
        with file.open("rb") as content, np.load(content, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
