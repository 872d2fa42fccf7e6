"""Where a document stands for a query: dense, approximate, BM25 and fused ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from argus.data.types import FloatArray
from argus.evaluation.parents import deeper
from argus.explanation.types import Case, Place, ScoredView, Standing
from argus.indexes.hybrid import FUSION, fuse_with_bm25
from argus.indexes.retriever import FUSED_DEPTH

QUERY = "query"


def standing(case: Case) -> Standing:
    """Return the document's place in every ranking, whichever of them counts."""
    depth = max(case.k, FUSED_DEPTH)
    dense = _dense(case)
    approximate, approximate_kth = _approximate(case)
    bm25 = _bm25(case)
    fused, fused_kth = _fused(case, depth)
    counts = {
        "fused": (fused, fused_kth),
        "approximate": (approximate, approximate_kth),
        "dense": (dense, _kth(case)),
    }
    ranked_by = "fused" if case.retriever.hybrid else "dense" if _exact(case) else "approximate"
    place, kth = counts[ranked_by]
    assert place is not None
    came_back = place.rank is not None and place.rank <= case.k
    own = place.score if ranked_by == "fused" else dense.score
    return Standing(
        ranked_by=ranked_by,
        rank=place.rank,
        came_back=came_back,
        dense=dense,
        approximate=approximate,
        bm25=bm25,
        fused=fused,
        fusion=case.retriever.hybrid or FUSION,
        views=_views(case),
        kth_score=kth,
        gap=0.0 if came_back else None if kth is None or own is None else max(0.0, kth - own),
    )


def _dense(case: Case) -> Place:
    if not case.present:
        return Place(None, None, case.size)
    return Place(case.rank(case.doc_id), case.score, case.size)


def _bm25(case: Case) -> Place:
    lexical = case.retriever.lexical()
    scores = lexical.scores(case.query)
    if case.fold is None:
        return bm25_place(lexical.ids, scores, case.doc_id)
    order = np.argsort(-scores, kind="stable").tolist()
    matched = {lexical.ids[i]: float(scores[i]) for i in order if scores[i] > 0}
    return place_in(case.of_documents(matched), case.doc_id, case.k)[0]


def _kth(case: Case) -> float | None:
    scores = list(case.top(case.k).values())
    return scores[-1] if scores else None


def _approximate(case: Case) -> tuple[Place | None, float | None]:
    index = case.retriever.index
    if not index.has_ann():
        return None, None
    state, weight = case.retriever.as_of, case.weight
    depth = deeper(case.k, case.fold)
    top = index.search(case.vector, depth, state, exact=False, weight=weight).run([QUERY])[QUERY]
    first = dict(islice(case.of_documents(top).items(), case.k))
    return place_in(first, case.doc_id, case.k)


def _exact(case: Case) -> bool:
    return case.retriever.searches_exactly()


def bm25_place(ids: Sequence[str], scores: FloatArray, doc_id: str) -> Place:
    """Return where BM25 ranks a document, given the score of every document, in the order of ids.

    `ids` is ascending, so that ties break by id.
    """
    matched = int((scores > 0).sum())
    if doc_id not in ids:
        return Place(None, None, matched)
    at = ids.index(doc_id)
    if not scores[at] > 0:
        return Place(None, 0.0, matched)
    above = (scores > scores[at]).sum() + (scores[:at] == scores[at]).sum()  # ties by id
    return Place(1 + int(above), float(scores[at]), matched)


def _fused(case: Case, depth: int) -> tuple[Place, float | None]:
    """Fuse as a hybrid search does: two rankings of `depth` documents."""
    index, state, exact = case.retriever.index, case.retriever.as_of, _exact(case)
    dense = index.search(case.vector, depth, state, exact=exact, weight=case.weight).run([QUERY])
    words = case.retriever.lexical().search([case.query], depth)
    method, weights = case.retriever.hybrid or FUSION, case.retriever.bm25_weights(words, [QUERY])
    fused = fuse_with_bm25(dense, words.run([QUERY]), 2 * depth, method, weights)
    return place_in(case.of_documents(fused.get(QUERY, {})), case.doc_id, case.k)


def place_in(scores: Mapping[str, float], doc_id: str, k: int) -> tuple[Place, float | None]:
    """Return where a document stands in a ranking, best first, and the score of the k-th, or last.

    The score is None where the ranking is empty.
    """
    ranked = list(scores)
    rank = ranked.index(doc_id) + 1 if doc_id in scores else None
    kth = scores[ranked[min(k, len(ranked)) - 1]] if ranked else None
    return Place(rank, scores.get(doc_id), len(ranked)), kth


def _views(case: Case) -> list[ScoredView]:
    if not case.present:
        return []
    vectors = case.snapshot.vectors[case.rows.start : case.rows.stop]
    scores = case.scores_with(np.asarray(vectors, np.float32)).tolist()
    scored = [
        ScoredView(view.id, view.kind, score, view.source)
        for view, score in zip(case.views, scores, strict=True)
    ]
    return sorted(scored, key=lambda view: (-view.score, view.id))
