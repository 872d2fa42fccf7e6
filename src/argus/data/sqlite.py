"""Files of SQLite that are perhaps damaged, or lead elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argus.data.writing import check_plain

DAMAGED = (sqlite3.Error, UnicodeDecodeError)
"""The second is of names in the file, and of messages about them, that are no UTF-8."""


def connect(path: Path, **options: Any) -> sqlite3.Connection:
    """Open a file; InputError where it, or what SQLite writes beside it, is a link or a pipe."""
    for ending in ("", "-journal", "-wal", "-shm"):
        check_plain(path.with_name(path.name + ending))
    connection: sqlite3.Connection = sqlite3.connect(path, **options)
    return connection


@contextmanager
def closing_if_it_fails(connection: sqlite3.Connection) -> Iterator[None]:
    """Close a file that cannot be made ready: left open, it stays locked for whoever comes next."""
    try:
        yield
    except BaseException:
        connection.close()
        raise
