"""The standard streams of the command line: their characters, failures and remarks."""

from __future__ import annotations

import io
import logging
import os
import sys

from argus.hidden import without_known
from argus.visible import visible

INTERRUPTED = 130  # after Ctrl-C, as shells have it: 128 and the signal's number
GONE = 141  # the reader of the output has gone: 128 and SIGPIPE
# Loggers whose INFO a person at the command line is to read.
SPEAKERS = ("argus.retrievers.session", "argus.retrievers.results", "argus.traffic.job")


class _Standing(logging.Handler):
    """Writes to whatever the standard error is now: a progress bar may have put itself there."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"argus: {visible(without_known(record.getMessage()))}", file=sys.stderr, flush=True)


def takes_output() -> bool:
    """Return whether the standard output takes its text. If not, it leads nowhere from now on."""
    try:
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
