"""pgvector: the indexes, columns and keys that its tables may have."""

from __future__ import annotations

import threading

import numpy as np
import psycopg
import pytest

from argus.errors import InputError
from argus.stores.opening import open_store
from argus.stores.protocol import Metric, Records
from argus.stores.spec import StoreConfig
from tests.support.stores import DIM, N, pgvector, vectors


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


@pytest.fixture
def describe(postgres, database):
    def facts(**options):
        with open_store(f"pgvector:{postgres}/docs", StoreConfig(**options)) as store:
            store.search(vectors()[:1], 5)
            return store.describe()

    return facts


@pytest.mark.parametrize(
    "index", ["embedding vector_l1_ops", "(embedding::halfvec(16)) halfvec_cosine_ops",
              "(binary_quantize(embedding)::bit(16)) bit_hamming_ops"],
)  # fmt: skip
def test_an_index_by_another_ranking_is_passed_over(index, database, describe):
    database.execute(f"CREATE INDEX ON docs USING hnsw ({index})")
    facts = describe()
    assert (facts.metric, facts.index, facts.is_exact) == (Metric.COSINE, "exact", True)


def test_of_several_indexes_the_metric_tells(database, describe):
    database.execute("CREATE INDEX a ON docs USING hnsw (embedding vector_cosine_ops)")
    database.execute(
        "CREATE INDEX b ON docs USING ivfflat (embedding vector_l2_ops) WITH (lists = 3)"
    )
    seen = {metric: describe(metric=metric) for metric in (None, "cosine", "l2", "dot")}
    assert {metric: (f.metric, f.index) for metric, f in seen.items()} == {
        None: (Metric.COSINE, "hnsw"),
        "cosine": (Metric.COSINE, "hnsw"),
        "l2": (Metric.L2, "ivfflat (lists=3)"),
        "dot": (Metric.DOT, "exact"),
    }


def test_numbers_of_16_bits_are_read_and_searched(postgres, database):
    database.execute(f"CREATE TABLE half (id text PRIMARY KEY, embedding halfvec({DIM}))")
    database.execute("INSERT INTO half SELECT id, embedding::halfvec FROM docs")
    database.execute("CREATE INDEX ON half USING hnsw (embedding halfvec_cosine_ops)")
    with open_store(f"pgvector:{postgres}/half") as store:
        facts = store.describe()
        assert (facts.dim, facts.metric, facts.index) == (DIM, Metric.COSINE, "hnsw")
        for exact in (False, True):
            hits = store.search(vectors()[:3], 1, exact=exact)
            assert [[id_ for id_, _ in row] for row in hits] == [["d0"], ["d1"], ["d2"]]
        assert np.allclose(next(store.iterate(9)).vectors, vectors()[:9], atol=1e-2)
        store.upsert(Records(["d0"], vectors()[5:6], [{}]))
        assert store.search(vectors()[5:6], 1)[0][0][0] in {"d0", "d5"}


def test_ids_are_of_the_primary_key(postgres, database):
    database.execute(
        f"CREATE TABLE chunks (doc_id text, chunk int PRIMARY KEY, embedding vector({DIM}))"
    )
    for i, row in enumerate(vectors()):
        database.execute(
            "INSERT INTO chunks VALUES (%s, %s, %s)", [f"d{i // 4}", i, str(row.tolist())]
        )
    spec = f"pgvector:{postgres}/chunks"
    with open_store(spec) as store:
        assert sorted(int(i) for page in store.iterate(25) for i in page.ids) == list(range(N))
    with open_store(spec, StoreConfig(id_field="doc_id")) as store:
        assert len({id_ for page in store.iterate(25) for id_ in page.ids}) == N // 4


def test_two_columns_of_vectors_are_told_apart(postgres, database):
    database.execute(f"ALTER TABLE docs ADD COLUMN other vector({DIM})")
    database.execute("UPDATE docs SET other = embedding WHERE tenant = 1")
    spec = f"pgvector:{postgres}/docs"
    with pytest.raises(InputError) as error, open_store(spec):
        pass
    assert "embedding, other" in error.value.expected and "--vector-field" in error.value.fix
    with open_store(spec, StoreConfig(vector_field="other")) as store:
        broken = sum(len(page.broken) for page in store.iterate(25))
        assert broken == N - N // 3
        assert len(store.search(vectors()[:1], N)[0]) == N // 3


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
