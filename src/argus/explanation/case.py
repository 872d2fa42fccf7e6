"""Compute scores and exact ranks of one document for one query in one state of an index.

`Case` holds the query, the document and the index. `rank_everywhere`: a case -> the document's
place by vectors, by BM25 and by their fusion. The checks of `job` and `stored` ask it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, View
from argus.evaluation.judged import ParentFold
from argus.explanation.evidence import QUERY, Place, ScoredView, Standing, bm25_place, place_in
from argus.indexes.blend import FUSION
from argus.indexes.fold import ORIGINAL, exact, pair_products
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever
from argus.indexes.snapshot import Snapshot, rows_to_views


@dataclass(frozen=True)
class Case:
    """One query and one document in one state of an index.

    vector: the searched one, shape (1, dim), a unit row, corrected where the state corrects
    queries. uncorrected: the query's own. fold: from chunks to documents. With it, ranks are ranks
    of documents, each at its best chunk.
    """

    query: str
    doc_id: str
    k: int
    retriever: IndexRetriever
    snapshot: Snapshot
    vector: FloatArray
    uncorrected: FloatArray
    fold: ParentFold | None = None

    @property
    def weight(self) -> float:
        """λ of the search."""
        return self.retriever.weight

    @cached_property
    def rows(self) -> range:
        """Rows of the document's views. Empty where this state lacks it."""
        return self.snapshot.rows_of(self.doc_id) if self.doc_id in self.snapshot else range(0)

    @property
    def present(self) -> bool:
        """Whether this state of the index holds the document."""
        return bool(self.rows)

    @cached_property
    def views(self) -> list[View]:
        """The document's views, in row order."""
        return list(rows_to_views(self.snapshot.columns.slice(self.rows.start, len(self.rows))))

    @cached_property
    def original(self) -> int | None:
        """Row of the document's own text. None where it has none."""
        kinds = zip(self.rows, self.views, strict=True)
        return next((row for row, view in kinds if view.kind == ORIGINAL), None)

    @cached_property
    def text(self) -> str:
        """The document's own text. Empty where it has none."""
        return "" if self.original is None else self.views[self.original - self.rows.start].text

    @cached_property
    def best(self) -> FloatArray:
        """Score of every document, shape (n_documents,)."""
        scores: FloatArray = self.snapshot.document_scores(self.vector, self.weight)[0]
        return scores

    @cached_property
    def rivals(self) -> FloatArray:
        """Scores of all other documents, best first."""
        if self.fold is not None:
            ranked = self.ranking(self.snapshot, self.vector)
            return np.array([s for id_, s in ranked.items() if id_ != self.doc_id], np.float32)
        scores = self.best
        if self.present:
            scores = np.delete(scores, self.snapshot.positions([self.doc_id]))
        return np.sort(scores)[::-1]

    @property
    def size(self) -> int:
        """Number of documents in this state of the index."""
        return len(self.snapshot) if self.fold is None else len(self.rivals) + self.present

    def exact_score(self, vector: FloatArray) -> float:
        """Return the score of the document, which must be present, for a vector (1, dim)."""
        at, layout = self.snapshot.positions([self.doc_id]), self.snapshot.layout(self.weight)
        zero = np.zeros(1, np.int64)
        return float(exact(vector, self.snapshot.vectors, layout, zero, at)[1][0])

    def pseudo_queries_of(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return a ranking, best first, with only the first chunk of each document."""
        if self.fold is None:
            return dict(scores)
        first: dict[str, str] = {}
        for chunk in scores:
            first.setdefault(self.fold.of_chunk.get(chunk, chunk), chunk)
        own = self.fold.of_chunk.get(self.doc_id, self.doc_id)
        return {self.doc_id if p == own else c: scores[c] for p, c in first.items()}

    def ranking(self, snapshot: Snapshot, vector: FloatArray) -> dict[str, float]:
        """Return the exact score of every document for a vector (1, dim), best first."""
        scores = snapshot.document_scores(vector, self.weight)[0]
        order = np.argsort(-scores, kind="stable").tolist()
        return self.pseudo_queries_of({snapshot.doc_ids[i]: float(scores[i]) for i in order})

    def top(self, k: int) -> dict[str, float]:
        """Return the first k documents of an exact search."""
        if self.fold is not None:
            return dict(islice(self.ranking(self.snapshot, self.vector).items(), k))
        return self.snapshot.search(self.vector, k, self.weight).run([QUERY])[QUERY]

    def rank(
        self, doc_id: str, vector: FloatArray | None = None, snapshot: Snapshot | None = None
    ) -> int:
        """Return the exact rank of a document, for the query or another vector (1, dim).

        snapshot: another state, such as this one with another blend.
        """
        vector = self.vector if vector is None else vector
        snapshot = snapshot or self.snapshot
        if self.fold is not None:
            return list(self.ranking(snapshot, vector)).index(doc_id) + 1
        return int(snapshot.ranks(vector, [doc_id], self.weight)[0])

    def rank_of_score(self, score: float) -> int:
        """Return the dense rank that the document would have with this score."""
        return 1 + int((self.rivals > score).sum())

    def scores_of(self, vectors: FloatArray) -> npt.NDArray[np.float64]:
        """Return the query's score of each row of `vectors`, (n, dim)."""
        rows = np.arange(len(vectors))
        return pair_products(self.vector, vectors, np.zeros(len(vectors), np.int64), rows)


def rank_everywhere(case: Case) -> Standing:
    """Return the document's place in the dense, BM25 and fused rankings."""
    retriever, index, words = case.retriever, case.retriever.index, case.retriever.lexical()
    dense = Place(None, None, case.size)
    views: list[ScoredView] = []
    if case.present:
        dense = Place(case.rank(case.doc_id), case.exact_score(case.vector), case.size)
        rows = case.snapshot.vectors[case.rows.start : case.rows.stop]
        scores = case.scores_of(np.asarray(rows, np.float32)).tolist()
        views = [
            ScoredView(view.id, view.kind, score, view.source)
            for view, score in zip(case.views, scores, strict=True)
        ]

    by_words = words.scores(case.query)
    bm25 = bm25_place(words.ids, by_words, case.doc_id)
    if case.fold is not None:
        order = np.argsort(-by_words, kind="stable").tolist()
        matched = {words.ids[i]: float(by_words[i]) for i in order if by_words[i] > 0}
        bm25 = place_in(case.pseudo_queries_of(matched), case.doc_id, case.k)[0]

    depth, method = max(case.k, FUSED_DEPTH), retriever.hybrid or FUSION
    first = index.search(case.vector, depth, retriever.as_of, weight=case.weight).run([QUERY])
    hits = words.search([case.query], depth)
    weights = retriever.bm25_weights(hits, [QUERY])
    both = fuse_with_bm25(first, hits.run([QUERY]), 2 * depth, method, weights)
    fused, fused_kth = place_in(case.pseudo_queries_of(both.get(QUERY, {})), case.doc_id, case.k)

    ranked_by, place, kth = "dense", dense, next(reversed(case.top(case.k).values()), None)
    if retriever.hybrid:
        ranked_by, place, kth = "fused", fused, fused_kth
    came_back = place.rank is not None and place.rank <= case.k
    own = fused.score if ranked_by == "fused" else dense.score
    return Standing(
        ranked_by=ranked_by,
        rank=place.rank,
        came_back=came_back,
        dense=dense,
        bm25=bm25,
        fused=fused,
        fusion=method,
        views=sorted(views, key=lambda view: (-view.score, view.id)),
        kth_score=kth,
        gap=0.0 if came_back else None if kth is None or own is None else max(0.0, kth - own),
    )
