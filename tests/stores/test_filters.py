"""A filter is by a field and a value: neither can say more to the store."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest

from argus.errors import InputError
from argus.stores.opening import open_store
from argus.stores.protocol import Records
from argus.stores.records import shown_rows, typed
from argus.stores.spec import StoreConfig
from tests.support.stores import DIM, LOCAL, N, pgvector, vectors

INJECTED = ["1=1 OR tenant", 'tenant" = 1 OR "tenant', "tenant` = 1 OR `tenant", "nothing = 1 --"]


def _filled(kind, request, tmp_path):
    if kind == "pgvector":
        return pgvector(request.getfixturevalue("postgres"))
    return LOCAL[kind](tmp_path / "store")


@pytest.mark.parametrize("kind", ["lancedb", "milvus", "pgvector", "sqlite-vec"])
def test_a_filter_by_no_column_is_refused_by_name(kind, request, tmp_path):
    filled = _filled(kind, request, tmp_path)
    with open_store(filled.spec, StoreConfig(**filled.options)) as store:
        for key in INJECTED:
            with pytest.raises(InputError) as error:
                store.search(vectors()[:1], N, matching={key: 1})
            assert repr(key) in error.value.got and "id" in error.value.expected


@pytest.mark.parametrize("kind", ["lancedb", "milvus", "pgvector", "qdrant", "chroma"])
@pytest.mark.parametrize("value", ['\\" or id != "', "' OR '1' = '1", "\\", 'a" or 1 == 1 or "b'])
def test_a_value_is_only_ever_a_value(kind, value, request, tmp_path):
    filled = _filled(kind, request, tmp_path)
    with open_store(filled.spec, StoreConfig(**filled.options)) as store:
        assert store.search(vectors()[:1], N, matching={"text": value}) == [[]]


USUAL = {
    "collection": (f"{UUID(int=7)}", "not a uuid"),
    "day": ("2024-01-08", "soon"),
    "moment": ("2024-01-08T12:00:00", "later"),
    "price": ("7.50", "cheap"),
    "tags": ("t7", None),
    "cmetadata.source": ("s7", None),
    "cmetadata.page.number": ("7", "seven"),
    "cmetadata.tags": ("t7", None),
}
"""A table as applications make it: field to a value of record 7, and one that it cannot hold."""


@pytest.fixture(scope="module")
def usual(postgres):
    """The name of a table with columns of many types."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            f"CREATE TABLE usual (id int PRIMARY KEY, embedding vector({DIM}), collection uuid, "
            "day date, moment timestamptz, price numeric, tags text[], cmetadata jsonb)"
        )
        for i, row in enumerate(vectors()):
            moment = datetime(2024, 1, 1, 12) + timedelta(i)
            metadata = {"source": f"s{i}", "page": {"number": i}, "tags": [f"t{i}", "all"]}
            connection.execute(
                "INSERT INTO usual VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                [i, str(row.tolist()), UUID(int=i), moment.date(), moment, Decimal(f"{i}.5"),
                 [f"t{i}", "all"], json.dumps(metadata)],
            )  # fmt: skip
    yield f"pgvector:{postgres}/usual"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP TABLE usual")


@pytest.mark.parametrize("field", USUAL)
def test_pgvector_filters_by_usual_columns(usual, field):
    text, other = USUAL[field]
    with open_store(usual) as store:
        matching = typed({field: text}, store, N)
        assert [id_ for id_, _ in store.search(vectors()[:1], N, matching=matching)[0]] == ["7"]
        page = next(store.iterate(N))
        assert [page.ids[row] for row in shown_rows(page, matching)] == ["7"]
        if other is not None:
            with pytest.raises(InputError) as error:
                typed({field: other}, store, N)
            assert error.value.where == "--where"
        if "." in field:
            injected = field + """'}' = '' OR '1' = '1"""
            assert store.search(vectors()[:1], N, matching={injected: text}) == [[]]


def test_milvus_filters_by_what_is_within_json(tmp_path):
    filled = LOCAL["milvus"](tmp_path / "store")
    with open_store(filled.spec) as store:
        rows = [{"meta": {"source": f"s{i}", "page": {"number": i}}} for i in range(N)]
        store.upsert(Records(filled.ids, vectors(), rows))
        for field, value in (("meta.source", "s7"), ("meta.page.number", 7)):
            hits = store.search(vectors()[:1], N, matching={field: value})
            assert [id_ for id_, _ in hits[0]] == ["d7"]
        injected = 'meta.source"] != "" or meta["source'
        assert store.search(vectors()[:1], N, matching={injected: "s"}) == [[]]


def test_lancedb_filters_by_any_name_depth_and_type(tmp_path):
    import lancedb
    import pyarrow as pa

    rows = vectors()
    table = pa.table(
        {
            "id": [f"d{i}" for i in range(N)],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), DIM),
            "The Tenant": [i % 3 for i in range(N)],
            "day": [datetime(2024, 1, 1) + timedelta(i) for i in range(N)],
            "date": [date(2024, 1, 1) + timedelta(i) for i in range(N)],
            "price": [Decimal(f"{i}.50") for i in range(N)],
            "tags": [[f"t{i}", "all"] for i in range(N)],
            "meta": [{"Page": i} for i in range(N)],
        }
    )
    lancedb.connect(str(tmp_path)).create_table("docs", table)
    with open_store(f"lancedb:{tmp_path}/docs") as store:
        assert len(store.search(rows[:1], N, matching={"The Tenant": 1})[0]) == N // 3
        values = {"day": "2024-01-08", "date": "2024-01-08", "price": "7.5", "tags": "t7"}
        for field, value in ({"meta.Page": "7"} | values).items():
            matching = typed({field: value}, store, N)
            assert [id_ for id_, _ in store.search(rows[:1], N, matching=matching)[0]] == ["d7"]
