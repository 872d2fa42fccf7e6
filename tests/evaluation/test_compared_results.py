import json

import pyarrow.parquet as pq
import pytest

from argus.data import Document, Query, View
from argus.evaluation.comparison import compare_retrievers
from argus.indexes.views import ViewIndex

DOCUMENTS = [
    Document("bread", "Sourdough rises slowly. Flour, water and salt are all it needs.", "Bread"),
    Document("tides", "The moon pulls the oceans. Harbours fill and empty with it.", "Tides"),
    Document("chess", "Bishops move along diagonals. The game ends with the king.", "Chess"),
]


@pytest.fixture(scope="module")
def indexes(minilm, tmp_path_factory):
    """An index with a remedy that makes the chess document answer for bread."""
    path = tmp_path_factory.mktemp("indexes") / "index"
    made = ViewIndex.create(
        path, fingerprint=minilm.fingerprint, dim=minilm.dim,
        encoder={"model": "all-MiniLM-L6-v2", "precision": "float32"},
    )  # fmt: skip
    views = [View(d.id, d.id, "original", d.text) for d in DOCUMENTS]
    made.add(views, minilm.encode_documents([v.text for v in views]))
    extra = [View("chess:e", "chess", "expansion", "Bread")]
    made.add(extra, minilm.encode_documents([v.text for v in extra]), remedy="r1")
    return f"{path}@original", str(path)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    records = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def test_two_indexes_are_asked_for_every_document_by_its_title(indexes, corpus, tmp_path):
    queries = [Query("q", "moon and oceans")]
    result = compare_retrievers(
        indexes=indexes, out=tmp_path / "o", queries=queries, corpus=corpus, k=1
    )
    (lost,) = result.summary["lost"]
    assert (lost["id"], lost["value_before"], lost["value_after"]) == ("bread", 1, 2)
    assert result.summary["queries"] == {"titles": 3, "given": 1, "failed": 0}
    changes = pq.read_table(tmp_path / "o" / "comparison_queries.parquet").to_pylist()
    assert [(r["text"], r["entered"], r["left"]) for r in changes if r["changed"]] == [
        ("Bread", "Chess", "Bread")
    ]
    assert result.summary["changed_queries"] == 1
