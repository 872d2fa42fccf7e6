"""Explain documents of an index: absence, approximate loss, words, hubs."""

import numpy as np
import pytest

from argus.data import Document, Query, View
from argus.errors import ArgusError, InputError
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause, Verdict
from argus.explanation.job import count_occurrences, explain
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex


def test_a_document_that_came_back_names_the_view_that_did_it(
    indexed, passages, vectors, minilm, tmp_path
):
    retriever = indexed(tmp_path / "idx", passages, vectors, minilm)
    text = "The submarine cable between Iceland and Scotland was laid in 1906."
    view = View("w2-0000#x", "w2-0000", "expansion", text, "kb:cable")
    retriever.index.add([view], minilm.encode_documents([text]), remedy="expand-1")
    query = "When was the cable from Scotland to Iceland laid?"
    found = explain(query, "w2-0000", retriever)
    assert found.came_back and found.cause is None
    assert found.verdict.startswith("came back: rank 1, through its expansion view w2-0000#x")
    assert [v.kind for v in found.standing.views] == ["expansion", "original"]
    assert found.standing.gap == 0 and found.standing.ranked_by == "dense"
    assert not [f for f in found.findings if f.state is Verdict.FOUND]
    before = explain(query, "w2-0000", IndexRetriever(retriever.index, minilm, as_of="original"))
    assert not before.came_back and len(before.standing.views) == 1


@pytest.mark.parametrize("hybrid", [None, "rrf", "dbsf"])
def test_rank_and_gap_are_those_of_a_search(retriever, minilm, hybrid, passages):
    retriever = IndexRetriever(retriever.index, minilm, hybrid=hybrid)
    query = "Which film was directed by a woman?"
    run = list(retriever.search([Query("q", query)], 100)["q"].items())
    assert len(run) == 100
    for rank in (0, 9, 10, 40):
        doc, score = run[rank]
        found = explain(query, doc, retriever).standing
        assert found.rank == rank + 1 and found.came_back == (rank < 10)
        assert found.kth_score == pytest.approx(run[9][1])
        assert found.gap == pytest.approx(max(0, run[9][1] - score))


def test_bad_input_is_refused(retriever, minilm, tmp_path, shared):
    for query, doc, config, message in [
        (" ", "w2-0000", ExplainConfig(), "an empty query"),
        ("Who?", " ", ExplainConfig(), "an empty document id"),
        ("Who?", "w2-0000", ExplainConfig(hybrid="sum"), "fusion 'sum'"),
        ("Who?", "w2-0000", ExplainConfig(queries=tmp_path / "no.jsonl"), "no such file"),
        ("w2q-0", "w2-0000", ExplainConfig(queries=shared("wiki2")), "no query has the id 'w2q-0'"),
    ]:
        with pytest.raises(ArgusError, match=message):
            explain(query, doc, retriever, config)
    with pytest.raises(InputError, match=r"is not an index: it holds no index\.json"):
        explain("Who?", "w2-0000", tmp_path, encoder=minilm)
    empty = ViewIndex.create(tmp_path / "empty", fingerprint=minilm.fingerprint, dim=384)
    with pytest.raises(InputError, match="holds no document"):
        explain("Who?", "w2-0000", IndexRetriever(empty, minilm))


def test_occurrences_agree_with_a_plain_count(retriever, vectors, passages):
    snapshot = retriever.index.snapshot()
    counted, sample = count_occurrences(snapshot, 5, seed=0)
    counts = dict.fromkeys(snapshot.doc_ids, 0)
    for own, vector in zip(passages, vectors, strict=True):
        others = sorted(
            (-float(vector.astype(float) @ v.astype(float)), d.id)
            for d, v in zip(passages, vectors, strict=True) if d is not own
        )  # fmt: skip
        for _, doc in others[:5]:
            counts[doc] += 1
    assert counted.tolist() == [counts[d] for d in snapshot.doc_ids]
    assert sample == len(passages)


def test_words_that_vectors_miss_are_found_with_the_hybrid_rank(
    indexed, of, passages, minilm, vectors, tmp_path
):
    inserted = Document("part", f"{passages[5].content} Ref. zq7714.")
    rows = np.concatenate([vectors, minilm.encode_documents([inserted.content])])
    retriever = indexed(tmp_path / "idx", [*passages, inserted], rows, minilm)
    found = explain("zq7714", "part", retriever)
    finding = of(found, Cause.LEXICAL)
    assert found.cause is Cause.LEXICAL and finding.evidence["shared_terms"] == ["zq7714"]
    assert finding.evidence["bm25_rank"] == 1 and found.standing.dense.rank > 10
    assert finding.decisive == (found.standing.fused.rank <= 10)
    fusion = ExplainConfig(hybrid=found.standing.fusion)
    hybrid = explain("zq7714", "part", retriever, fusion)
    assert hybrid.came_back == finding.decisive and hybrid.standing.ranked_by == "fused"
