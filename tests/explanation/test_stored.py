"""Compare stored vectors and windows with those of the text."""

import json

import numpy as np
import pytest

from argus.data import Document
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause, Verdict
from argus.explanation.job import explain
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever


def imported(tmp_path, passages, rows, encoder):
    """An index of vectors that a person brings along."""
    np.save(tmp_path / "own.npy", rows)
    index = build_index(
        passages, out=tmp_path / "idx", encoder=encoder, vectors=tmp_path / "own.npy"
    ).index
    return IndexRetriever(index, encoder)


def pooled(encoder, texts, how):
    rows = []
    for text in texts:
        features = encoder.model.preprocess([text], prompt=None, task="document")
        tokens = encoder.model(features)["token_embeddings"][0].detach().numpy()
        rows.append({"cls": tokens[0], "max": tokens.max(axis=0)}[how])
    return np.array(rows, np.float32)


@pytest.mark.parametrize("how", ["cls", "max"])
def test_vectors_of_another_pooling_are_found_and_named(
    indexed, of, passages, vectors, minilm, tmp_path, how
):
    some = passages[:18]
    rows = pooled(minilm, [d.content for d in some], how)
    retriever = imported(tmp_path, some, rows, minilm)
    found = explain("Who was the wife of Lothair II?", "w2-0000", retriever, ExplainConfig(k=5))
    finding = of(found, Cause.VECTOR)
    assert finding.state is Verdict.FOUND
    assert finding.evidence["closest_variant"] == [f"{how} pooling"]
    assert finding.evidence["closest_cosine"] > 0.999 and finding.evidence["cosine"] < 0.99
    assert finding.evidence["sampled_also_off"] == finding.evidence["sampled"] == 16
    assert finding.evidence["scaled_to_length_1"] is True
    right = indexed(tmp_path / "right", some, vectors[:18], minilm)
    (rank,) = right.index.snapshot().ranks(
        minilm.encode_queries(["Who was the wife of Lothair II?"]), ["w2-0000"]
    )
    assert finding.evidence["rank_with_nearest_embedded_again"] == rank <= 5
    assert finding.decisive and f"{how} pooling reproduces it" in finding.summary


def test_vectors_without_the_prompt_are_found_query_side_too(
    of, passages, vectors, prompted, tmp_path
):
    retriever = imported(tmp_path, passages[:18], vectors[:18], prompted)
    finding = of(explain("Who ruled Lotharingia?", "w2-0003", retriever), Cause.VECTOR)
    assert finding.state is Verdict.FOUND
    assert finding.evidence["closest_variant"] == [
        "the document prompt 'Represent this encyclopedia entry for retrieval by questions: ' "
        "left out"
    ]
    assert finding.evidence["closest_cosine"] > 0.999
    assert finding.evidence["query_prompt"].startswith("Question about")
    assert 1 <= finding.evidence["rank_without_query_prompt"] <= 18


def test_a_title_left_out_is_found_with_and_without_corpus(of, passages, minilm, tmp_path):
    some = passages[:18]
    rows = minilm.encode_documents([d.content for d in some])
    alone = minilm.encode_documents([d.text for d in some])
    worst = min(
        (i for i, d in enumerate(some) if not d.text.startswith(d.title)),
        key=lambda i: rows[i] @ alone[i],
    )
    rows[worst] = alone[worst]  # of all of them it would be how these documents are embedded
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


def test_shuffled_rows_and_another_model_are_told_apart(of, passages, vectors, minilm, tmp_path):
    shifted = imported(tmp_path, passages[:18], np.roll(vectors[:18], 1, axis=0), minilm)
    found = explain("Who was Teutberga?", "w2-0000", shifted, ExplainConfig(k=1))
    assert found.cause is Cause.VECTOR and "rows are out of order" in found.verdict
    assert of(found, Cause.VECTOR).evidence["its_vector_is_stored_under"] == "w2-0001"
    other = vectors[:18] @ np.linalg.qr(np.random.default_rng(0).normal(size=(384, 384)))[0]
    (tmp_path / "b").mkdir()
    foreign = imported(tmp_path / "b", passages[:18], other.astype(np.float32), minilm)
    found = explain("Who was Teutberga?", "w2-0000", foreign, ExplainConfig(k=1))
    assert found.cause is Cause.VECTOR or found.came_back
    assert "another model or another text" in of(found, Cause.VECTOR).summary


def test_an_answer_beyond_the_window_is_found_there(
    indexed, of, whole, passages, vectors, minilm, tmp_path
):
    filler = " ".join(d.text for d in whole[100:104])
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
