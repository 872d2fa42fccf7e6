"""The two ways to a blend's ranking: out of its records in a store, or over results that exist."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from argus.data.types import FloatArray
from argus.encoders import Encoder
from argus.indexes.correction import QueryCorrection
from argus.indexes.fold import exact
from argus.indexes.hybrid import fuse_with_bm25
from argus.indexes.retriever import IndexRetriever
from argus.retrievers.blended.candidates import Candidates
from argus.retrievers.blended.records import BlendRecords, Scores
from argus.stores.protocol import Payload

QUERY = "query"


@dataclass(frozen=True)
class Ranked:
    """One document of a ranking. items: of the user's retriever; fields: of a store."""

    id: str
    score: float
    items: Sequence[Any] = ()
    fields: Mapping[str, Any] | None = None


class Ranking(Protocol):
    """Ranks documents for texts."""

    @property
    def name(self) -> str:
        """For reports."""

    def rank(self, texts: Sequence[str], k: int) -> list[list[Ranked]]:
        """Return the k best documents of each text, best first."""


@dataclass(frozen=True)
class RecordRanking:
    """Out of the records of a store; BM25 out of the index, where there is one."""

    records: BlendRecords
    encoder: Encoder
    depth: int
    index: IndexRetriever | None = None
    correction: QueryCorrection | None = None

    @property
    def name(self) -> str:
        """For reports."""
        ranking = f"{self.records.remedy} in {self.records.store.name}"
        fusion = self.index.hybrid if self.index is not None else None
        return f"{fusion}({ranking}, bm25)" if fusion else ranking

    def rank(self, texts: Sequence[str], k: int) -> list[list[Ranked]]:
        """Return the k best documents of each text, best first."""
        vectors = np.asarray(self.encoder.encode_queries(texts), np.float32)
        if self.correction is not None:
            vectors = self.correction.apply(vectors)
        if self.index is None or self.index.hybrid is None:
            answers = self.records.search(vectors, k)
        else:
            depth = max(k, self.depth)
            answers = [
                self._fused(text, scores, k, depth)
                for text, scores in zip(texts, self.records.search(vectors, depth), strict=True)
            ]
        return [[self._ranked(*hit) for hit in scores.items()] for scores in answers]

    def _fused(self, text: str, scores: Scores, k: int, depth: int) -> Scores:
        """Fuse with BM25 over what the store holds; behind a filter, over what came through it."""
        assert self.index is not None and self.index.hybrid is not None
        shown = scores if self.records.where else self.records.numbers.fields
        return _fused(self.index, text, scores, shown, k, depth)

    def _ranked(self, document: str, score: float) -> Ranked:
        fields: Payload = self.records.numbers.fields[document]
        return Ranked(document, score, (), fields)


@dataclass
class CandidateRanking:
    """Over the first results of the user's own retriever: nothing else ever comes back.

    Documents that the index does not know keep their order, after the others.
    """

    candidates: Candidates
    index: IndexRetriever
    depth: int
    unknown: dict[str, None] = field(default_factory=dict)
    """Results that the index does not know, as they came."""

    @property
    def name(self) -> str:
        """For reports."""
        return f"{self.index.name} over {self.candidates.name}"

    def rank(self, texts: Sequence[str], k: int) -> list[list[Ranked]]:
        """Return the k best documents of each text, best first."""
        vectors = np.asarray(self.index.encoder.encode_queries(texts), np.float32)
        vectors = self.index.recipe.correct(vectors)
        return [self._one(t, v[None], k) for t, v in zip(texts, vectors, strict=True)]

    def _one(self, text: str, vector: FloatArray, k: int) -> list[Ranked]:
        items = self.candidates.ask(text, max(k, self.depth))
        snapshot = self.index.index.snapshot(self.index.as_of)
        known = [id_ for id_ in items if id_ in snapshot]
        scores: Scores = {}
        if known:
            layout = snapshot.layout(self.index.weight)
            at = snapshot.positions(known)
            _, _, exactly = exact(vector, snapshot.vectors, layout, np.zeros_like(at), at)
            scores = self._fused(text, dict(zip(known, exactly.tolist(), strict=True)))
        lowest = min(scores.values(), default=0.0)
        others = [id_ for id_ in items if id_ not in snapshot]
        self.unknown |= dict.fromkeys(others)
        scores |= {id_: lowest - place for place, id_ in enumerate(others, 1)}
        return [Ranked(id_, score, items[id_]) for id_, score in list(scores.items())[:k]]

    def _fused(self, text: str, scores: Scores) -> Scores:
        n = len(scores)
        if self.index.hybrid is None:
            return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
        return _fused(self.index, text, scores, scores, n, n)


def _fused(
    index: IndexRetriever, text: str, scores: Scores, shown: Collection[str], k: int, depth: int
) -> Scores:
    """Return the k best of scores and BM25, which ranks the `depth` best that are shown."""
    assert index.hybrid is not None
    lexical = index.lexical()
    for n in (depth, len(lexical)):
        words = lexical.search([text], max(1, n))
        hits = words.run([QUERY])[QUERY]
        best = [pair for pair in hits.items() if pair[0] in shown][:depth]
        if len(best) == min(depth, len(hits)):
            break
    weights = index.bm25_weights(words, [QUERY])
    return fuse_with_bm25({QUERY: scores}, {QUERY: dict(best)}, k, index.hybrid, weights)[QUERY]
