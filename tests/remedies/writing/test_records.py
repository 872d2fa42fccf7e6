"""Records of a blend in batches: none is heavier than a server takes."""

import json

import numpy as np

from argus.data.types import View
from argus.indexes.blend import Blend
from argus.indexes.snapshot import Snapshot
from argus.remedies.store_writing import state_records, write_records
from argus.stores.qdrant import QdrantStore


def test_a_batch_is_bounded_by_its_payloads(monkeypatch):
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    params = models.VectorParams(size=4, distance=models.Distance.COSINE)
    client.create_collection("docs_argus", vectors_config=params)
    store = QdrantStore(client, "docs_argus", "qdrant:memory/docs_argus", is_served=False)
    ids = [f"d{i}" for i in range(6)]
    views = [View(id_, id_, "original", "x") for id_ in ids]
    views += [View(f"{id_}#r-{i}", id_, "sentence", "x") for id_ in ids for i in range(40)]
    rows = np.eye(4, dtype=np.float32)[np.arange(len(views)) % 4]
    records = state_records("r", Snapshot.of(views, rows).blended(Blend()), 1.0, "words")
    limit = 200_000
    monkeypatch.setattr("argus.remedies.store_writing.WRITE_BYTES", limit)
    payloads = {id_: {"text": "word " * 500} for id_ in ids}
    payloads["d3"] = {"text": "w" * (limit + 1)}
    batches, upsert = [], store.upsert
    monkeypatch.setattr(store, "upsert", lambda batch: batches.append(batch) or upsert(batch))
    write_records(store, records, payloads, undo="argus tune undo r")
    sent = sum(len(batch.ids) for batch in batches)
    assert sent == len(records) == client.count("docs_argus").count
    for batch in batches:
        heavy = sum(len(json.dumps(p)) for p in batch.payloads)
        assert heavy <= limit + 300 * len(batch.ids) or len(batch.ids) == 1
