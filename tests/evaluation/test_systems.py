"""What is asked of an index: as it is served, and what becomes of queries that are rejected."""

import numpy as np
import pytest

from argus.data import Document, Query
from argus.encoders import EmbeddingStore
from argus.errors import EncodingError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.evaluation.systems import search_index
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever

DIM = 24
CONFIG = EvaluateConfig(resamples=1000, measures=("nDCG@10", "RR"))


class Scattered:
    """An encoder that gives every text a direction of its own, and rejects those with "!"."""

    fingerprint, dim, max_tokens, pools_spans = "scattered", DIM, None, False

    def __init__(self):
        self.asked = []

    def encode_queries(self, texts):
        self.asked += texts
        if any("!" in text for text in texts):
            raise EncodingError("HTTP 400: too loud", retryable=False)
        return self.encode_documents(texts)

    def encode_documents(self, texts):
        seeds = [int.from_bytes(text.encode(), "big") for text in texts]
        rows = np.array([np.random.default_rng(s).normal(size=DIM) for s in seeds], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_spans(self, texts, spans):
        return self.encode_documents(texts)


@pytest.fixture
def index(tmp_path):
    documents = [Document("a", "rain and wind"), Document("b", "a stone")]
    return build_index(documents, out=tmp_path / "index", encoder=Scattered()).index


ASKED = [Query("q1", "rain and wind"), Query("q2", "stone!"), Query("q3", "a stone")]
JUDGED = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"b": 1}}


def test_a_rejected_query_fails_alone_and_is_in_no_mean(index, tmp_path):
    encoder = Scattered()
    result = evaluate(
        ASKED, JUDGED, out=tmp_path / "out", indexes=[str(index.path)], encoder=encoder,
        config=CONFIG,
    )  # fmt: skip
    assert result.summary["queries"] == {
        "total": 3, "measured": 2, "failed": 1, "not applicable": 0,
        "reasons": {"HTTP 400: too loud": 1},
    }  # fmt: skip
    assert result.summary["failed"] == [{"query_id": "q2", "reason": "HTTP 400: too loud"}]
    row = result.table.to_pylist()[1]
    assert (row["state"], row["reason"], row["RR"]) == ("failed", "HTTP 400: too loud", None)
    assert result.summary["systems"][0]["measures"]["RR"] == 1
    with EmbeddingStore(index.path / "embeddings", fingerprint="scattered", dim=DIM) as store:
        assert len(store) == 4, "two documents and the two queries that could be asked"
    encoder.asked.clear()
    search_index("i", IndexRetriever(index, encoder), ASKED, 10)
    assert encoder.asked == ["stone!"], "what was embedded is not asked for again"
