"""Numpy's files of arrays, whose damage is told as an error that a person can act on."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.errors import InputError

Arrays = dict[str, npt.NDArray[Any]]
UNREADABLE = (
    *(OSError, ValueError, LookupError, EOFError, TypeError, AttributeError, MemoryError),
    *(NotImplementedError, ArithmeticError, SyntaxError, RuntimeError, tokenize.TokenError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What numpy raises for a file that it did not write, or that is damaged: headers are Python."""


def read_arrays(file: Path, *, fix: str) -> Arrays:
    """Return the arrays of an .npz file by name. Raises InputError where it cannot be read.

    Argus packs none: what says that it holds more bytes than the file has is not unpacked.
    """
    try:
        with file.open("rb") as content, zipfile.ZipFile(content) as members:
            _check_bytes(sum(one.file_size for one in members.infolist()), file.stat().st_size)
        with file.open("rb") as content, np.load(content, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except UNREADABLE as error:
        raise InputError(
            f"cannot be read ({damage(error)})",
            expected="the arrays as Argus wrote them",
            fix=fix,
            where=file,
        ) from error


def _check_bytes(held: int, size: int) -> None:
    if held > size:
        raise ValueError(f"arrays of {held:,} bytes in a file of {size:,}")


def damage(error: BaseException) -> str:
    """Return what is wrong with a file, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
