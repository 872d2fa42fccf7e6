"""The standard error and the width of a terminal, made such that no command ends over them."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

WIDEST = 1_000
"""Columns, and lines, of a terminal that are believed: frames are drawn as wide as that."""
STANDARD_ERROR = 2
SIZES = ("COLUMNS", "LINES", "TERMINAL_WIDTH")
"""Environment variables that libraries read it from."""


class _Regardless(io.RawIOBase):
    """A stream that takes whatever it is given, and loses what its descriptor does not take."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        whole = len(rest)
        with suppress(OSError):
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        return whole

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)


def outlive_standard_error() -> None:
    """Lose what a standard error does not take: that it is full or gone changes no exit code."""
    there: Any = sys.stderr
    if there is None:  # it was closed, and leads nowhere by now
        sys.stderr = _regardless("utf-8", "backslashreplace")
    elif isinstance(there, io.TextIOWrapper):
        with suppress(OSError, ValueError):  # of a test, which has no descriptor
            if there.fileno() == STANDARD_ERROR:
                sys.stderr = _regardless(there.encoding, there.errors)


def _regardless(encoding: str, errors: str | None) -> io.TextIOWrapper:
    """Return a standard error that takes all."""
    lines = io.BufferedWriter(_Regardless(STANDARD_ERROR))
    return io.TextIOWrapper(lines, encoding=encoding, errors=errors, line_buffering=True)


def bound_terminal() -> None:
    """Have no size of a terminal in the environment that libraries fail on, or draw for hours."""
    for name in SIZES:
        size = os.environ.get(name)
        if size is None:
            continue
        if not (size.isascii() and size.isdigit() and size.strip("0")):
            del os.environ[name]
        elif len(size) > len(str(WIDEST)) or int(size) > WIDEST:
            os.environ[name] = str(WIDEST)
