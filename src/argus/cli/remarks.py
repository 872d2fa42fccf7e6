"""What is said on the streams of the command line, and what of it they can hold."""

from __future__ import annotations

import io
import logging
import os
import sys

from argus.hidden import without_known
from argus.visible import visible

SPEAKERS = ("argus.retrievers.forecast", "argus.retrievers.results")
"""Loggers whose INFO a person at the command line is to read."""


class _Standing(logging.Handler):
    """Writes to whatever the standard error is now: a progress bar may have put itself there."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"argus: {visible(without_known(record.getMessage()))}", file=sys.stderr, flush=True)


def open_the_closed() -> None:
    """Lead standard streams that are closed nowhere.

    Else the next file that is opened has their number, and what a library says there is in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one


def takes_output() -> bool:
    """Return whether the standard output takes what it holds; else it leads nowhere from now on."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        return True
    except OSError:  # at the end of the process it would be raised again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False


def show_remarks() -> None:
    """Show them from now on; a second call changes nothing."""
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
