"""What asking is going to take: how many queries, and how long at the pace of the first.

Said once each through `logging`, by the logger of this module at level INFO: the command line
prints it on the standard error, in a pipe too; a Python caller hears it if it listens.
"""

from __future__ import annotations

import logging
import time

from argus.progress import Advance, duration

LOG = logging.getLogger(__name__)
FEW = 20
"""Queries that need no word beforehand."""
FIRST, FIRST_S = 5, 2.0
"""The pace is that of so many queries at least, over so many seconds at least."""
LONG_S = 60.0
"""What takes less is not worth a line."""


def forecast(name: str, n: int, n_kept: int, advance: Advance) -> Advance:
    """Say how many queries a retriever is asked; return `advance`, which also tells the pace.

    n: queries that are asked. n_kept: those that were answered in an earlier run.
    """
    if n < FEW:
        return advance
    LOG.info(
        "asking %s %s queries%s", name, f"{n:,}", f" ({n_kept:,} more are kept)" if n_kept else ""
    )
    start, done, is_open = time.monotonic(), 0, True

    def tell(more: int) -> None:
        nonlocal done, is_open
        advance(more)
        if not is_open:
            return
        done += more
        passed = time.monotonic() - start
        if done >= FIRST and passed >= FIRST_S:
            is_open = False
            left = (n - done) * passed / done
            if left >= LONG_S:
                LOG.info("about %s more at the pace of the first %s", duration(left), f"{done:,}")

    return tell
