"""pgvector: the indexes, columns and keys that its tables may have."""

from __future__ import annotations

import threading

import psycopg
import pytest

from argus.stores.spec import open_store
from tests.support.stores import N, pgvector


@pytest.fixture
def database(postgres):
    """A connection to a database whose table `docs` holds the records, without an index."""
    pgvector(postgres)
    with psycopg.connect(postgres, autocommit=True) as connection:
        for (index,) in connection.execute(
            "SELECT indexrelid::regclass::text FROM pg_index "
            "WHERE indrelid = 'docs'::regclass AND NOT indisprimary"
        ).fetchall():
            connection.execute(f"DROP INDEX {index}")
        yield connection
        connection.execute("DROP TABLE IF EXISTS bare, chunks, half")


def test_a_statement_is_stopped_from_another_thread(postgres, database):
    with open_store(f"pgvector:{postgres}/docs") as store:
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
