"""Open SQLite files that may be damaged, or be links."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argus.data.writing import check_plain

# The second is raised for names in the file, and for messages about them, that are not UTF-8.
DAMAGED = (sqlite3.Error, UnicodeDecodeError)


def connect(path: Path, **options: Any) -> sqlite3.Connection:
    """Open a file. Raises InputError where it, or a file of SQLite beside it, is a link or a pipe.

    options: of `sqlite3.connect`.
    """
    for ending in ("", "-journal", "-wal", "-shm"):
        check_plain(path.with_name(path.name + ending))
    connection: sqlite3.Connection = sqlite3.connect(path, **options)
    return connection


@contextmanager
def closing_if_it_fails(connection: Any) -> Iterator[None]:
    """Close a connection whose preparation fails: left open, it would lock its files."""
    try:
        yield
    except BaseException:
        connection.close()
        raise
