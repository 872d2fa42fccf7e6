"""Chroma loses live records after deletions and upserts; each repair is measured again."""

import numpy as np
import pytest

from argus.reachability.job import Cause, reach

DIM, CLUSTERS, N = 16, 200, 2_000


@pytest.fixture(scope="module")
def churned(tmp_path_factory):
    """A collection of texts that are alike in groups, half of it deleted and written again."""
    import chromadb
    from chromadb.config import Settings

    folder = tmp_path_factory.mktemp("chroma")
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    docs = client.create_collection("docs", metadata={"hnsw:space": "cosine"})
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLUSTERS, DIM))

    def vectors(n):
        rows = centres[rng.integers(CLUSTERS, size=n)] + 0.02 * rng.normal(size=(n, DIM))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    ids = [f"d{i}" for i in range(N)]
    docs.add(ids=ids, embeddings=vectors(N))
    for _ in range(3):
        half = [str(id_) for id_ in rng.choice(ids, N // 2, replace=False)]
        docs.delete(ids=half)
        docs.upsert(ids=half, embeddings=vectors(len(half)))
        again = [str(id_) for id_ in rng.choice(ids, N // 2, replace=False)]
        docs.upsert(ids=again, embeddings=vectors(len(again)))
    return docs, f"chroma:{folder}/docs"


def lost(spec, folder):
    result = reach(spec, out=folder)
    return {row["id"] for row in result.table.to_pylist() if row["cause"] == Cause.INDEX}, result


def test_live_records_are_lost_and_a_repair_is_measured_again(churned, tmp_path):
    docs, spec = churned
    before, result = lost(spec, tmp_path / "before")
    assert before and set(docs.get(ids=sorted(before))["ids"]) == before  # they are all there
    reached = result.summary["reached"]
    assert (reached["asked"], reached["reached"]) == (N, N - len(before))

    kept = docs.get(ids=sorted(before), include=["embeddings"])
    docs.delete(ids=kept["ids"])
    docs.add(ids=kept["ids"], embeddings=kept["embeddings"])
    assert len(lost(spec, tmp_path / "added")[0]) < len(before)
