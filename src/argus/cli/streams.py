"""The standard streams of the command line: their characters, failures and remarks."""

from __future__ import annotations

import io
import logging
import os
import sys
from contextlib import suppress
from typing import Any

from argus.hidden import without_known
from argus.visible import visible

INTERRUPTED = 130  # after Ctrl-C, as shells have it: 128 and the signal's number
GONE = 141  # the reader of the output has gone: 128 and SIGPIPE


# Columns, and lines, of a terminal that are believed: frames are drawn as wide as that.
WIDEST = 1_000
STANDARD_ERROR = 2
SIZES = ("COLUMNS", "LINES", "TERMINAL_WIDTH")  # environment variables that libraries read it from


class _Regardless(io.RawIOBase):
    """A stream that takes every text, and loses those that its descriptor does not take."""

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
    """Lose text that a standard error does not take. Its failure changes no exit code."""
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


# Loggers whose INFO a person at the command line is to read.
SPEAKERS = ("argus.retrievers.session", "argus.retrievers.results")


class _Standing(logging.Handler):
    """Writes to whatever the standard error is now: a progress bar may have put itself there."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"argus: {visible(without_known(record.getMessage()))}", file=sys.stderr, flush=True)


def open_the_closed() -> None:
    """Lead standard streams that are closed nowhere.

    Else the next file that is opened has their number, and gets the messages of libraries.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one


def takes_output() -> bool:
    """Return whether the standard output takes its text. If not, it leads nowhere from now on."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        return True
    except OSError:  # at the end of the process it would be raised again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False


def show_remarks() -> None:
    """Show them from now on. A second call changes nothing."""
    for name in SPEAKERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Standing) for handler in logger.handlers):
            logger.addHandler(_Standing())
            logger.setLevel(logging.INFO)


def escape_the_unprintable() -> None:
    """Write an escape where the encoding of a stream lacks a character: none ends a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def holds_all_characters() -> bool:
    """Return whether the standard output needs no escapes: its encoding is one of Unicode."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().replace("_", "-").startswith("utf")
