"""Files of SQLite that are perhaps damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

DAMAGED = (sqlite3.Error, UnicodeDecodeError)
"""The second is of names in the file, and of messages about them, that are no UTF-8."""


@contextmanager
def closing_if_it_fails(connection: sqlite3.Connection) -> Iterator[None]:
    """Close a file that cannot be made ready: left open, it stays locked for whoever comes next."""
    try:
        yield
    except BaseException:
        connection.close()
        raise
