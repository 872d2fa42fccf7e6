"""What questions are held against: the corpus by its words, and by vectors where there are any."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.types import Document, FloatArray
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import query_words, words


@dataclass(frozen=True)
class Background:
    """A corpus, ready to be asked by words (BM25), and by vectors.

    ids: in the order of the index of words, which is ascending. vectors: one unit row per id, or
    None. document_frequency: of every word, in how many documents it stands.
    """

    ids: Sequence[str]
    texts: Mapping[str, str]
    lexical: LexicalIndex
    document_frequency: Mapping[str, int]
    vectors: FloatArray | None = None

    @classmethod
    def of(cls, documents: Sequence[Document], vectors: FloatArray | None = None) -> Background:
        """Index documents; vectors: a unit row for each, in their order, if there are any."""
        if vectors is not None and len(vectors) != len(documents):
            raise InputError(
                f"{len(vectors):,} vectors for {len(documents):,} documents",
                expected="one vector for each document, in their order",
                fix="Embed the documents that are given.",
                where="vectors",
            )
        texts = {document.id: document.content for document in documents}
        frequency: Counter[str] = Counter()
        for text in texts.values():
            frequency.update(set(words(text)))
        lexical = LexicalIndex.build(list(texts), list(texts.values()))
        rows = None
        if vectors is not None:
            place = {document.id: i for i, document in enumerate(documents)}
            rows = np.asarray(vectors, np.float32)[[place[id_] for id_ in lexical.ids]]
        return cls(lexical.ids, texts, lexical, frequency, rows)

    def weight(self, word: str) -> float:
        """Return a word's inverse document frequency, log((N + 1)/(df + ½)); above 0 if unknown."""
        return math.log((len(self.ids) + 1) / (self.document_frequency.get(word, 0) + 0.5))

    def weights_of(self, question: str) -> dict[str, float]:
        """Return the words of a question that say something, each with its weight."""
        return {word: self.weight(word) for word in dict.fromkeys(query_words(question))}
