"""sqlite-vec: a file that another process writes to meanwhile."""

from __future__ import annotations

import apsw
import pytest

from argus.errors import ArgusError
from argus.stores import sqlite_vec as module
from argus.stores.spec import open_store
from tests.support.stores import sqlite_vec


@pytest.fixture
def store(tmp_path):
    return sqlite_vec(tmp_path / "store")


@pytest.fixture
def writer(store, tmp_path):
    """Another connection, which holds the file."""
    other = apsw.Connection(str(tmp_path / "store" / "docs.db"))
    other.execute("BEGIN EXCLUSIVE")
    yield other
    other.close()


def test_a_file_that_stays_held_is_told_as_such(store, writer, monkeypatch):
    monkeypatch.setattr(module, "BUSY_MS", 100)
    with pytest.raises(ArgusError, match="docs: BusyError"), open_store(store.spec):
        pass
