"""Tables and columns of any name, and vectors that have no distance."""

import numpy as np
import psycopg

from argus.stores.protocol import Records
from argus.stores.spec import open_store

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
