"""Receipts on the page: a blend keeps its figures when a later remedy is evaluated beside it."""

from __future__ import annotations

import json

from argus.data.types import Document, Query
from argus.indexes.job import build_index
from argus.remedies.blend.job import blend_index
from argus.service.page.repairs import read_receipts

DOCUMENTS = [
    Document("a", "It forgets the oldest. It is fast."),
    Document("b", "Heaps are queues."),
]


def test_a_blend_keeps_what_was_measured_of_it(minilm, tmp_path):
    index = tmp_path / "index"
    build_index(DOCUMENTS, out=index, encoder=minilm)
    questions, qrels = [Query("q", "forget the oldest")], {"q": {"a": 1}}
    result = blend_index(index, encoder=minilm, queries=questions, qrels=qrels, out=index)
    (receipt,) = read_receipts(index, [])
    assert receipt.difference is not None and receipt.changes is not None
    summary = json.loads((index / "summary.json").read_text())
    after = summary["evaluation"]["systems"][1]
    after["name"] = after["name"].replace(result.remedy, "expand-robust-0")
    (index / "summary.json").write_text(json.dumps(summary))
    (receipt,) = read_receipts(index, [])
    assert receipt.difference == result.summary["parts"][-1]["ndcg10"]
    assert receipt.changes is None
