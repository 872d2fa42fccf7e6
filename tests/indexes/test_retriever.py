"""Retrievers over an index: what a hybrid search reads, and BM25 as it is kept."""

import json

import pytest

from argus.data import View
from argus.indexes.correction import FILE as CORRECTION
from argus.indexes.correction import QueryCorrection
from argus.indexes.retriever import search_index
from argus.indexes.views import ViewIndex

TEXTS = ["a river in France", "a mountain in Peru", "the painter of a red horse", "a steam engine"]


@pytest.fixture
def index(tmp_path, minilm):
    made = ViewIndex.create(tmp_path / "index", fingerprint=minilm.fingerprint, dim=minilm.dim)
    views = [View(f"d{i}", f"d{i}", "original", text) for i, text in enumerate(TEXTS)]
    made.add(views, minilm.encode_documents(TEXTS))
    return made


def test_a_hybrid_search_reads_no_snapshot_in_vain(index, minilm, monkeypatch):
    index.build_ann()
    monkeypatch.setattr(ViewIndex, "snapshot", lambda *_: pytest.fail("all was read"))
    answer = search_index("river", index.path, hybrid="min-max", encoder=minilm)
    assert answer["results"][0]["id"] == "d0" and answer["results"][0]["scenario"] is None


def test_a_hybrid_search_names_the_scenario_it_searched(index, minilm):
    needs = ["how long is the river", "who engraved the coin"]
    views = [
        View(
            f"d0#{i}", "d0", "scenario", need,
            json.dumps({"main_topic": "t", "information_need": need, "explanation": "e"}),
        )
        for i, need in enumerate(needs)
    ]  # fmt: skip
    rows = minilm.encode_documents(needs)
    index.add(views, rows, remedy="s-1")

    def best():
        answer = search_index("river length", index.path, hybrid="min-max", encoder=minilm)
        return next(hit["scenario"]["view"] for hit in answer["results"] if hit["id"] == "d0")

    assert best() == "d0#0"
    query = minilm.encode_queries(["river length"])[0]
    home = index.path / "remedies" / "c-1"
    home.mkdir(parents=True)
    moved = QueryCorrection(rows[1][:, None], query[:, None], 20.0, minilm.fingerprint)
    moved.save(home / CORRECTION)
    index.prescribe("c-1", corrects=True)
    assert best() == "d0#1"
