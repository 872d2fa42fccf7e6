"""Numpy's archives of arrays, whose damage is told as an error that a person can act on."""

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
DAMAGE = (
    *(OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, MemoryError),
    *(NotImplementedError, OverflowError, SyntaxError, RecursionError, RuntimeError),
    *(tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
"""What numpy raises for a file that it did not write, or of which a part is not as it wrote it."""


def read_arrays(file: Path, *, fix: str) -> Arrays:
    """Return the arrays of an .npz file by name. Raises InputError where it cannot be read."""
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except DAMAGE as error:
        raise InputError(
            f"cannot be read ({type(error).__name__}: {excerpt(error)})",
            expected="the arrays as Argus wrote them",
            fix=fix,
            where=file,
        ) from error


def excerpt(error: BaseException) -> str:
    """Return the first line of what an error says, of its kind where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
