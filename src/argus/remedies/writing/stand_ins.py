"""Stand-ins until blends are here."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from argus.data.types import Document, FloatArray, IntArray, View

CAP = 64


def sentence_views(documents: Sequence[Document], remedy: str, cap: int = CAP) -> list[View]:
    """Return views of title and one sentence each."""
    views = []
    for document in documents:
        sentences = [s for s in re.split(r"(?<=[.!?])\s+", document.text) if s.strip()]
        for i, sentence in enumerate(sentences[:cap]):
            text = f"{document.title} {sentence}".strip()
            views.append(View(f"{document.id}#{remedy}-{i}", document.id, "sentence", text))
    return views


def hubness(documents: FloatArray, sentences: FloatArray, owner: IntArray) -> FloatArray:
    """Return the mean of the ten highest cosines with sentences of others."""
    scores = documents @ sentences.T
    scores[owner, np.arange(len(sentences))] = -1
    k = min(10, scores.shape[1])
    return np.asarray(np.sort(scores, axis=1)[:, -k:].mean(axis=1), np.float32)
