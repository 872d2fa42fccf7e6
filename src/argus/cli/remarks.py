"""What the library says by the way, on the standard error of the command line."""

from __future__ import annotations

import logging
import sys

from argus.hidden import without_known

SPEAKERS = ("argus.retrievers.forecast",)
"""Loggers whose INFO a person at the command line is to read."""


class _Standing(logging.Handler):
    """Writes to whatever the standard error is now: a progress bar may have put itself there."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"argus: {without_known(record.getMessage())}", file=sys.stderr, flush=True)


def show_remarks() -> None:
    """Show them from now on; a second call changes nothing."""
    for name in SPEAKERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Standing) for handler in logger.handlers):
            logger.addHandler(_Standing())
            logger.setLevel(logging.INFO)
