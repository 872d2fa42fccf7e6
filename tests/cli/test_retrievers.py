"""`--retriever` on the command line: an index and a store answer alike."""

import json

from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from tests.support.retrievable import DOCUMENTS, word_store


def test_an_index_and_a_store_bring_back_the_same(argus, jsonl, minilm, tmp_path):
    rows = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    jsonl(tmp_path / "docs.jsonl", rows)
    jsonl(tmp_path / "q.jsonl", [{"_id": "q1", "text": "hot leaves for tea"}])
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ttea\t1\n")
    build_index(DOCUMENTS, out=tmp_path / "ix", encoder=EncoderConfig())
    word_store(tmp_path / "qdrant", DOCUMENTS, minilm)
    ran = argus(
        *("compare", "ix", "qdrant:qdrant/docs", "--queries", "q.jsonl", "--qrels", "qrels.tsv"),
        *("--corpus", "docs.jsonl", "--encoder", "all-MiniLM-L6-v2", "--json", "--k", 2),
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["changed_queries"] == 0
