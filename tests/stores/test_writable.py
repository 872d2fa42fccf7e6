"""Collections that Argus makes beside the user's, in every store that keeps fields."""

from __future__ import annotations

import uuid

import numpy as np
import pytest

from argus.stores.opening import open_store
from argus.stores.protocol import Metric, Records, WritableStore
from argus.stores.records import FIELDS
from argus.stores.spec import StoreConfig
from tests.support.stores import DIM, LOCAL, N, lancedb, pgvector

OWN = {
    "argus_remedy": "blend-1", "argus_parent": "d1", "argus_kind": "sentence",
    "argus_encoder": "words", "argus_scale": 0.875, "argus_penalty": 0.0625,
}  # fmt: skip


@pytest.fixture(params=[*(kind for kind in LOCAL if kind != "faiss"), "pgvector"])
def store(request, tmp_path):
    """Each of the stores that keep fields."""
    if request.param == "pgvector":
        uri = request.getfixturevalue("postgres")
        drop(uri, "docs_argus")
        filled = pgvector(uri)
    else:
        filled = LOCAL[request.param](tmp_path / "store")
    with open_store(filled.spec, StoreConfig(**filled.options)) as opened:
        yield opened


def drop(uri: str, *tables: str) -> None:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as database:
        database.execute(f"DROP TABLE IF EXISTS {', '.join(tables)}")


def payload(store, i: int, remedy: str) -> dict:
    """Return a record of a remedy's payload: that of the first record, and its own."""
    (first,) = next(iter(store.payloads(1)))[1]
    return {**first, **OWN, "argus_remedy": remedy, "argus_parent": f"d{i}"}


def records(store, remedy: str, n: int = 5) -> Records:
    rows = np.eye(DIM, dtype=np.float32)[:n]
    ids = [store.record_id(f"d{i}#{remedy}") for i in range(n)]
    return Records(ids, rows, [payload(store, i, remedy) for i in range(n)])


def test_a_sibling_takes_the_fields_of_both(store):
    assert isinstance(store, WritableStore) and store.sibling("docs_argus") is None
    made = store.make_sibling("docs_argus")
    facts = made.describe()
    assert facts.records == 0 and facts.metric is Metric.COSINE and facts.dim in (0, DIM)
    assert made.name == f"{store.name}_argus" and made.collection == "docs_argus"
    assert made.columns is None or {*FIELDS, *store.columns} <= {*made.columns}
    made.upsert(records(store, "blend-1"))
    made.upsert(records(store, "blend-2", 3))
    payloads = [p for page in made.iterate(100) for p in page.payloads]
    assert len(payloads) == 8 and payload(store, 4, "blend-1") in payloads
    again = store.sibling("docs_argus")
    assert again is not None and again.describe().records == 8
    assert store.describe().records == N


def test_payloads_are_read_alone_and_by_filter(store):
    ids = {id_ for page, _ in store.payloads(7) for id_ in page}
    assert ids == {id_ for page in store.iterate(50) for id_ in page.ids} and len(ids) == N
    pages = list(store.payloads(4, {"tenant": 1}))
    assert max(len(page) for page, _ in pages) <= 4
    assert [p["tenant"] for _, payloads in pages for p in payloads] == [1] * (N // 3)
    made = store.make_sibling("docs_argus")
    made.upsert(records(store, "blend-1"))
    made.upsert(records(store, "blend-2", 3))
    pages = list(made.payloads(100, {"argus_remedy": "blend-2"}))
    ids, payloads = ([x for page in pages for x in page[i]] for i in (0, 1))
    assert {*ids} == {*records(store, "blend-2", 3).ids}
    assert {p["argus_scale"] for p in payloads} == {0.875}
    (hits,) = made.search(
        np.eye(DIM, dtype=np.float32)[:1], 8, matching={"argus_remedy": "blend-2"}
    )
    assert hits[0][0] == store.record_id("d0#blend-2") and len(hits) == 3


def test_only_an_empty_collection_of_argus_is_removed(store):
    made = store.make_sibling("docs_argus")
    written = records(store, "blend-1")
    made.upsert(written)
    assert not store.drop_sibling("docs_argus")
    made.delete(written.ids)
    assert made.describe().records == 0
    assert store.drop_sibling("docs_argus") and store.sibling("docs_argus") is None
    store.delete([id_ for page in store.iterate(N) for id_ in page.ids])
    assert store.describe().records == 0 and not store.drop_sibling(store.collection)
    assert store.sibling(store.collection) is not None


def test_a_table_of_argus_says_how_it_ranks(tmp_path):
    filled = lancedb(tmp_path / "store", Metric.COSINE)
    with open_store(filled.spec, StoreConfig(metric="cosine")) as store:
        store.make_sibling("docs_argus")
    with open_store(f"{filled.spec}_argus") as made:
        assert made.describe().metric is Metric.COSINE
    with open_store(filled.spec) as store:
        assert store.describe().metric is Metric.L2  # as LanceDB has it where nothing is said


@pytest.fixture
def table(postgres):
    """A table as teams have them: half precision, JSON, lists, times, ids that are UUIDs."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute("DROP TABLE IF EXISTS teams, teams_argus")
        database.execute(
            "CREATE TABLE teams (id uuid PRIMARY KEY, v halfvec(4), text text NOT NULL, "
            "meta jsonb, note json, tags text[], at timestamptz, score numeric(6, 2))"
        )
        database.execute("CREATE INDEX ON teams USING hnsw (v halfvec_cosine_ops) WITH (m = 8)")
        database.execute(
            "INSERT INTO teams VALUES (gen_random_uuid(), '[1,0,0,0]', 'a', '{\"a\": [1]}', "
            "'\"text\"', '{x,y}', '2026-01-01Z', 1.25)"
        )
    return f"pgvector:{postgres}/teams"


def test_columns_of_any_type_are_copied(table):
    with open_store(table) as store:
        ((_, (before,)),) = store.payloads(10)
        made = store.make_sibling("teams_argus")
        assert "m=8" in made.describe().index and not made.describe().is_exact
        row = Records(["r#1"], np.array([[0.0, 1, 0, 0]], np.float32), [{**before, **OWN}])
        made.upsert(row)
        ((ids, (after,)),) = made.payloads(10)
        assert ids == ["r#1"] and after == {**before, **OWN}
        np.testing.assert_array_equal(next(iter(made.iterate(5))).vectors, row.vectors)
        assert made.search(row.vectors, 1)[0][0] == ("r#1", pytest.approx(0, abs=1e-6))
        assert store.record_id("r#1") == str(uuid.uuid5(uuid.NAMESPACE_OID, "r#1"))
        store.upsert(Records([store.record_id("r#1")], row.vectors, [before]))
        assert store.describe().records == 2
        store.delete([store.record_id("r#1"), "no uuid"])
        assert store.describe().records == 1
