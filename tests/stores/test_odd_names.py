"""Tables and columns of any name, and vectors that have no distance."""

from __future__ import annotations

import apsw
import numpy as np
import psycopg
import pytest
import sqlite_vec

from argus.reach import reach
from argus.stores.opening import open_store
from argus.stores.protocol import Records

NAMES = ("meta.source", "100% sure", 'a "quoted" one', "select", "ünï", "x; DROP TABLE odd")
VECTORS = np.eye(4, dtype=np.float32)


def test_columns_of_postgres_have_any_name(postgres):
    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        listed = ", ".join('"' + c.replace('"', '""') + '" text' for c in NAMES)
        database.execute('DROP TABLE IF EXISTS "odd 100%"')
        database.execute(
            f'CREATE TABLE "odd 100%" ("id ""%""" text PRIMARY KEY, "v.%s" vector(4), {listed})'
        )
    payload = {name: f"{name} of a" for name in NAMES}
    with open_store(f"pgvector:{postgres}/odd 100%") as store:
        store.upsert(Records(["a", "b"], VECTORS[:2], [payload, dict.fromkeys(NAMES, "b")]))
        [read] = list(store.iterate(10))
        assert read.payloads[0] == payload and store.columns == list(NAMES)
        for name in NAMES:
            [hits] = store.search(VECTORS[:1], 2, matching={name: payload[name]})
            assert [id_ for id_, _ in hits] == ["a"]
            assert [ids for ids, _ in store.payloads(10, {name: "b"})] == [["b"]]
        made = store.make_sibling("odd 100%_argus")
        made.upsert(Records(["c"], VECTORS[2:3], [payload]))
        assert store.sibling("odd 100%_argus").describe().records == 1
        made.delete(["c"])
        assert store.drop_sibling("odd 100%_argus")
        store.delete(["b"])
        assert store.describe().records == 1


@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e30])
def test_a_vector_without_a_distance_is_measured_around(tmp_path, odd):
    database = filled(tmp_path / "s.db", "docs", distance="l2")
    database.execute(
        "INSERT INTO docs (id, v) VALUES (?, ?)", ("odd", np.full(4, odd, np.float32).tobytes())
    )
    database.close()
    with open_store(f"sqlite-vec:{tmp_path}/s.db/docs") as store:
        assert next(id_ for id_, _ in store.search(VECTORS[:1], 5)[0]) == "d0"
    result = reach(f"sqlite-vec:{tmp_path}/s.db/docs", out=tmp_path / "out")
    reached = result.summary["reached"]
    assert reached["asked"] == (5 if np.isfinite(odd) else 4) and reached["reached"] >= 4


def filled(file, table, distance="cosine"):
    database = apsw.Connection(str(file))
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    name = '"' + table.replace('"', '""') + '"'
    database.execute(
        f"CREATE VIRTUAL TABLE {name} "
        f"USING vec0(id TEXT PRIMARY KEY, v FLOAT[4] distance_metric={distance})"
    )
    for i, row in enumerate(VECTORS):
        database.execute(f"INSERT INTO {name} (id, v) VALUES (?, ?)", (f"d{i}", row.tobytes()))
    return database
