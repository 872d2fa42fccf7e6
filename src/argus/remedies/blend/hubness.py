"""Hubness: how near a document is to sentences of others, whatever these are about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.data.types import FloatArray, IntArray

NEAREST = 10
SAMPLE = 3_000
BLOCK_BYTES = 64 << 20


def draw_sample(n: int, seed: int, size: int = SAMPLE) -> IntArray:
    """Return the sorted positions of the sentences that hubness is measured on."""
    if n <= size:
        return np.arange(n)
    drawn: IntArray = np.sort(np.random.default_rng(seed).permutation(n)[:size])
    return drawn


def hubness(
    documents: FloatArray, sentences: FloatArray, holders: Sequence[IntArray]
) -> FloatArray:
    """Return r(d): the mean of the ten highest cosines of each document and sentences of others.

    documents: (n, dim), sentences: (m, dim), unit rows. holders[j]: positions of the documents that
    hold sentence j, which it says nothing of (copies of a document hold the same ones). Shape (n,);
    0 where no other document has a sentence. Fewer than ten are all taken.
    """
    n, m = len(documents), len(sentences)
    scores = np.zeros(n, np.float32)
    if not m:
        return scores
    document = np.concatenate(list(holders))
    sentence = np.repeat(np.arange(m), [len(of) for of in holders])
    order = np.argsort(document, kind="stable")
    document, sentence = document[order], sentence[order]
    step = max(1, BLOCK_BYTES // (4 * m))
    for start in range(0, n, step):
        block = documents[start : start + step] @ sentences.T
        own = slice(*np.searchsorted(document, [start, start + step]))
        block[document[own] - start, sentence[own]] = -np.inf
        scores[start : start + step] = _mean_of_highest(block)
    return scores


def _mean_of_highest(cosines: FloatArray) -> FloatArray:
    k = min(NEAREST, cosines.shape[1])
    highest = np.partition(cosines, -k, axis=1)[:, -k:]
    there = np.isfinite(highest)
    total = np.where(there, highest, 0).sum(axis=1)
    mean: FloatArray = (total / np.maximum(there.sum(axis=1), 1)).astype(np.float32)
    return mean
