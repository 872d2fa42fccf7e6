"""Explain documents of an index: absence, approximate loss, words, hubs, entities."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data import Document, Query, View
from argus.errors import ArgusError, InputError
from argus.explanation.config import ExplainConfig, RpsSource
from argus.explanation.evidence import Cause, Verdict, compare_terms, count_terms
from argus.explanation.job import count_occurrences, explain
from argus.indexes.job import add_documents, build_index
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.indexes.words import STEMMED


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
    json.dumps(found.as_dict())  # plain values throughout


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


def test_approximate_loss_is_told_from_a_document_that_is_far(
    indexed, of, passages, vectors, minilm, tmp_path
):
    from lancedb.index import HnswSq

    retriever = indexed(tmp_path / "idx", passages, vectors, minilm)
    retriever.index.table.create_index(  # of 4 partitions, a search reads one
        "vector", config=HnswSq(distance_type="dot", num_partitions=4), replace=True
    )
    for passage in passages:  # partitions are drawn anew; nearly every query loses something
        query = f"What is {passage.title}?"
        asked = minilm.encode_queries([query])
        exact = retriever.index.search(asked, 10, exact=True).doc_ids[0]
        near = retriever.index.search(asked, 10, exact=False).doc_ids[0]
        if lost := [doc for doc in exact if doc not in near]:
            break
    assert lost, "for every query one partition of four holds the ten nearest"
    found = explain(query, lost[0], retriever)
    assert found.cause is Cause.APPROXIMATE and not found.came_back
    evidence = of(found, Cause.APPROXIMATE).evidence
    assert evidence["exact_rank"] == exact.index(lost[0]) + 1
    assert evidence["approximate_rank"] is None
    kept = explain(query, near[0], retriever)
    assert kept.came_back and kept.standing.ranked_by == "approximate"
    far = explain(query, retriever.index.snapshot().search(
        minilm.encode_queries([query]), len(passages)).doc_ids[0][-1], retriever)  # fmt: skip
    assert of(far, Cause.APPROXIMATE).state is Verdict.RULED_OUT
    assert far.cause is not Cause.APPROXIMATE


def test_bad_input_is_refused(retriever, minilm, tmp_path, shared):
    for query, doc, config, message in [
        (" ", "w2-0000", ExplainConfig(), "an empty query"),
        ("Who?", " ", ExplainConfig(), "an empty document id"),
        ("Who?", "w2-0000", ExplainConfig(hybrid="sum"), "fusion 'sum'"),
        ("Who?", "w2-0000", ExplainConfig(queries=tmp_path / "no.jsonl"), "no such file"),
        ("Who?", "w2-0000", ExplainConfig(rps=RpsSource(diagnosis=tmp_path)), "no diagnosis.parq"),
        ("Who?", "w2-0000", ExplainConfig(rps=RpsSource(probe=tmp_path)), "probe"),
        ("w2q-0", "w2-0000", ExplainConfig(queries=shared("wiki2")), "no query has the id 'w2q-0'"),
    ]:
        with pytest.raises(ArgusError, match=message):
            explain(query, doc, retriever, config)
    with pytest.raises(InputError, match="a whole number from 1"):
        ExplainConfig(k=0)
    with pytest.raises(InputError, match=r"is not an index: it holds no index\.json"):
        explain("Who?", "w2-0000", tmp_path, encoder=minilm)
    pq.write_table(
        pa.table({"doc_id": ["w2-0000"], "entity": ["x"]}), tmp_path / "diagnosis.parquet"
    )
    with pytest.raises(InputError, match="no column 'rps'"):
        explain("Who?", "w2-0000", retriever, ExplainConfig(rps=RpsSource(diagnosis=tmp_path)))
    empty = ViewIndex.create(tmp_path / "empty", fingerprint=minilm.fingerprint, dim=384)
    with pytest.raises(InputError, match="holds no document"):
        explain("Who?", "w2-0000", IndexRetriever(empty, minilm))


def test_a_named_corpus_tells_no_text_from_not_there(of, minilm, tmp_path):
    rows = [{"_id": "a", "text": "Bread rises."}, {"_id": "b", "text": " "}, {"_id": "c",
            "text": "Tides fall."}]  # fmt: skip
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = build_index(corpus, out=tmp_path / "idx", encoder=minilm).index
    index.delete_documents(["c"])
    retriever = IndexRetriever(index, minilm)
    summaries = {d: explain("bread?", d, retriever).verdict for d in ("b", "c", "zzz")}
    assert "without text" in summaries["b"]
    assert "deleted" in summaries["c"]
    assert "not in the corpus either" in summaries["zzz"]
    corpus.unlink()
    gone = of(explain("bread?", "b", retriever), Cause.ABSENT)
    assert gone.summary == "it is not in the index" and "is gone" in gone.evidence["corpus"]


def test_a_document_that_came_after_a_remedy_is_not_in_its_state(indexed, of, minilm, tmp_path):
    documents = [Document("a", "Bread rises."), Document("b", "Tides fall.")]
    retriever = indexed(
        tmp_path / "idx", documents, minilm.encode_documents([d.text for d in documents]), minilm
    )
    view = View("a#x", "a", "expansion", "Yeast makes bread rise.")
    for remedy, id_ in (("r1", "a#x"), ("r2", "a#y")):
        retriever.index.add(
            [replace(view, id=id_)], minilm.encode_documents([view.text]), remedy=remedy
        )
        if remedy == "r1":
            add_documents(tmp_path / "idx", [Document("c", "Kings castle.")], encoder=minilm)
            retriever.index.refresh()
    found = explain("castling", "c", IndexRetriever(retriever.index, minilm, as_of="r1"))
    assert found.cause is Cause.ABSENT and "not yet in the state 'r1'" in found.verdict
    assert of(found, Cause.ABSENT).evidence["first_state_that_holds_it"] == "r2"
    assert explain("castling", "c", retriever).came_back
    view_asked = explain("yeast", "a#x", retriever)
    assert "a view of document 'a'" in view_asked.verdict


def test_hubs_that_displace_a_document_are_named(indexed, of, passages, vectors, minilm, tmp_path):
    centre = vectors.mean(axis=0)
    noise = np.random.default_rng(1).normal(size=(12, 384)) * 0.002
    hubs = centre / np.linalg.norm(centre) + noise
    hubs = (hubs / np.linalg.norm(hubs, axis=1, keepdims=True)).astype(np.float32)
    documents = [Document(f"hub{i:02}", f"All rights reserved {i}.") for i in range(12)]
    retriever = indexed(
        tmp_path / "idx", [*passages, *documents], np.concatenate([vectors, hubs]), minilm
    )
    plain = indexed(tmp_path / "plain", passages, vectors, minilm)
    query = "a person of note"
    asked = minilm.encode_queries([query])
    top = plain.index.snapshot().search(asked, 10).doc_ids[0]
    ranks = retriever.index.snapshot().ranks(np.repeat(asked, 10, axis=0), top)
    displaced = [doc for doc, rank in zip(top, ranks, strict=True) if rank > 10]
    assert displaced
    found = explain(query, displaced[0], retriever)
    finding = of(found, Cause.HUBS)
    assert found.cause is Cause.HUBS
    assert finding.state is Verdict.FOUND and finding.decisive
    assert {row["id"][:3] for row in finding.evidence["hubs"]} == {"hub"}
    assert finding.evidence["rank_without_hubs"] <= 10
    far = plain.index.snapshot().search(asked, len(passages)).doc_ids[0][-1]
    assert of(explain(query, far, plain), Cause.HUBS).state is Verdict.RULED_OUT


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


def test_low_predicted_rps_comes_from_the_probe_or_a_diagnosis(of, retriever, passages, tmp_path):
    found = of(explain("spacecraft", "w2-0000", retriever), Cause.ENTITIES)
    assert (
        found.evidence["measured"] + len(found.evidence["not_predicted"])
        == (found.evidence["entities"])
    )
    shown = [row["rps"] for row in found.evidence["predicted"]]
    assert shown == sorted(shown) and all(0 <= rps <= 1 for rps in shown)
    assert found.evidence["below_tau"] == sum(rps < 0.3 for rps in shown)

    rows = [
        {"doc_id": "w2-0000", "entity": "Boso", "rps": 0.12, "state": "measured", "reason": ""},
        {"doc_id": "w2-0000", "entity": "Hucbert", "rps": None, "state": "not applicable",
         "reason": "beyond the probe's training region"},
        {"doc_id": "w2-0001", "entity": "Elmham", "rps": 0.7, "state": "measured", "reason": ""},
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "diagnosis.parquet")
    config = ExplainConfig(rps=RpsSource(diagnosis=tmp_path))
    read = explain("spacecraft to Jupiter", "w2-0000", retriever, config)
    finding = of(read, Cause.ENTITIES)
    assert finding.evidence["predicted"] == [{"entity": "Boso", "rps": 0.12}]
    assert finding.evidence["not_predicted"][0]["entity"] == "Hucbert"
    assert "no prediction for 1 more" in finding.summary and "Boso 0.12" in read.verdict
    high = of(explain("spacecraft", "w2-0001", retriever, config), Cause.ENTITIES)
    assert high.state is Verdict.RULED_OUT
    unknown = of(explain("spacecraft", "w2-0002", retriever, config), Cause.ENTITIES)
    assert unknown.state is Verdict.UNCHECKED


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


def test_terms_are_those_that_bm25_searches_for():
    texts = ["call os.read_text here", "a language of languages", "nothing"]
    lexical = LexicalIndex.build(["code", "c", "other"], texts, STEMMED)
    code = count_terms("read_text", texts[:1], lexical)
    assert code["shared_terms"] == ["read_text"] and code["coverage"] == 1
    assert not code["missing_terms"] and not code["terms_nowhere_in_the_corpus"]
    spoken = count_terms("C languages, language", texts[1:2], lexical)
    assert spoken["documents_with_term"] == {"languages": 1}
    assert spoken["shared_terms"] == ["languages"] and not spoken["missing_terms"]
    letter = compare_terms(count_terms("C", texts[1:2], lexical) | {"bm25_rank": None})
    assert letter.state is Verdict.UNCHECKED
