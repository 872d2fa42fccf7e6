"""A statement that runs on is stopped; a file that stays held is named."""

import threading

import apsw
import psycopg
import pytest

from argus.errors import ArgusError
from argus.stores import sqlite_vec as module
from argus.stores.spec import open_store
from tests.support.stores import N, pgvector, sqlite_vec


def test_a_statement_is_stopped_from_another_thread(postgres):
    with open_store(pgvector(postgres).spec) as store:
        store.interrupt()  # where none is under way
        stopped = threading.Event()

        def interrupt():
            while not stopped.wait(0.1):  # one that comes before the statement stops nothing
                store.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            store._db.execute("SELECT pg_sleep(30)")
        stopped.set()
        thread.join()
        assert store.describe().records == N


def test_a_file_that_stays_held_is_told_as_such(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BUSY_MS", 100)
    spec = sqlite_vec(tmp_path / "store").spec
    other = apsw.Connection(str(tmp_path / "store" / "docs.db"))
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ArgusError, match="docs: BusyError"), open_store(spec):
        pass
    other.close()
