"""Hubness against its definition, and what must not count."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.remedies import blend_parts as module
from argus.remedies.blend_parts import hubness, smooth
from tests.support.draws import examples


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def plainly(documents, sentences, holders):
    out = []
    for d in range(len(documents)):
        cosines = [
            float(documents[d].astype(float) @ sentence)
            for sentence, of in zip(sentences.astype(float), holders, strict=True)
            if d not in of
        ]
        best = sorted(cosines, reverse=True)[:10]
        out.append(np.mean(best) if best else 0.0)
    return np.array(out)


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(0, 40), st.integers(1, 5))
@settings(max_examples=examples(60), deadline=None)
def test_hubness_is_the_mean_of_ten_sentences_of_others(seed, n, m, step):
    rng = np.random.default_rng(seed)
    documents, sentences = unit(rng.normal(size=(n, 6))), unit(rng.normal(size=(m, 6)))
    holders = [rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False) for _ in range(m)]
    small = module.BLOCK_BYTES
    module.BLOCK_BYTES = 4 * max(m, 1) * step  # several blocks
    try:
        measured = hubness(documents, sentences, holders)
    finally:
        module.BLOCK_BYTES = small
    np.testing.assert_allclose(measured, plainly(documents, sentences, holders), atol=1e-5)


def test_smoothing_moves_a_document_towards_its_five_nearest():
    rng = np.random.default_rng(2)
    documents = unit(rng.normal(size=(40, 8)))
    moved = smooth(documents, 0.4)
    cosines = documents @ documents.T
    for d in range(40):
        nearest = np.argsort(-np.where(np.arange(40) == d, -2, cosines[d]))[:5]
        by_hand = documents[d] + 0.4 * documents[nearest].mean(axis=0)
        np.testing.assert_allclose(moved[d], by_hand / np.linalg.norm(by_hand), atol=1e-5)
    assert np.array_equal(smooth(documents[:1], 0.4), documents[:1])
