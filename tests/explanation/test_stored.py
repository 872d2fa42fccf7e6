"""Compare stored vectors and windows with those of the text."""

import numpy as np

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


def test_vectors_of_another_text_are_found_and_the_change_is_named(of, passages, minilm, tmp_path):
    some = passages[:18]
    rows = minilm.encode_documents([d.content[:128] for d in some])
    retriever = imported(tmp_path, some, rows, minilm)
    found = explain("Who was the wife of Lothair II?", "w2-0000", retriever, ExplainConfig(k=5))
    finding = of(found, Cause.VECTOR)
    assert finding.state is Verdict.FOUND
    assert finding.evidence["closest_variant"] == "text cut to 128 characters"
    assert finding.evidence["closest_cosine"] > 0.999 and finding.evidence["cosine"] < 0.99
    assert 8 < finding.evidence["sampled_also_off"] <= finding.evidence["sampled"] == 16


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
