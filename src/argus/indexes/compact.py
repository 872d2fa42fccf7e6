"""Compacting the table, and removing its old versions: what frees the disk.

LanceDB keeps the files of every version: what was deleted or rolled back stays on the disk until
its versions are removed. No state of an index is a version (`as_of` and `rollback` read the columns
`added` and `remedy`), so versions serve readers alone: a handle that was opened before a change
reads the files of its version until `refresh`, and fails when they are gone. A version's age is
that of its commit, and says nothing of when it was last current; so the cutoff is the version that
was current `kept` ago.

A file of which less than a tenth of the rows were deleted, and which there is no other to merge
with, is not rewritten: those few rows can be read by no query, and stay on the disk.

This is not done after every change: LanceDB removes versions in one step with compaction, which
rewrites what was appended in parts (for a while all is there twice), and with the extension of an
approximate index, behind which later views are to stay exact.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

ATTEMPTS, PAUSE_S = 5, 0.01
KEPT = timedelta(hours=1)
"""For how long after a change the state before it can be read by those who have it open."""
MARGIN = timedelta(minutes=10)
"""Added to the cutoff, for LanceDB takes it after compaction, which may take minutes."""


def compact(table: Any, kept: timedelta = KEPT) -> None:
    """Merge small files; remove versions that nobody who opened the table within `kept` reads.

    kept: 0 removes every version but the latest. What compaction itself commits may be younger than
    the shortest age that LanceDB takes, so it is asked again where one is left.
    """
    for _ in range(ATTEMPTS):
        table.optimize(cleanup_older_than=retention(table, kept))
        if kept or len(table.list_versions()) == 1:
            return
        time.sleep(PAUSE_S)


def retention(table: Any, kept: timedelta, margin: timedelta = MARGIN) -> timedelta:
    """Return the age beyond which no version was current within `kept`."""
    if not kept:
        return timedelta(milliseconds=1)
    now = datetime.now(UTC)
    ages = [now - version["timestamp"].astimezone(UTC) for version in table.list_versions()]
    return min((age for age in ages if age >= kept), default=kept) + margin
