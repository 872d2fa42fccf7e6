"""Check how much each part of a blend adds to a document, and its rank without that part.

The rival is the k-th document, whose place the explained one would take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from argus.data.types import FloatArray
from argus.explanation.case import Case
from argus.explanation.evidence import QUERY, Cause, Evidence, Finding, Standing, place_in
from argus.indexes.blend import Blend
from argus.indexes.fold import Layout, exact, pair_products
from argus.indexes.fusion import fuse_with_bm25, min_max
from argus.indexes.retriever import FUSED_DEPTH

MAX_SENTENCE = 80
"""Characters of a sentence that are shown."""
PARTS = {
    "sentences": "its sentences",
    "hubs": "its hubness",
    "bm25": "BM25",
    "correction": "the correction of the query",
}
ADVICE = {
    "sentences": "Blend with a larger --lambda, or look at the sentences of what is above it.",
    "hubs": "Blend with smaller --hubs: it is taken for a hub, and was asked for here.",
    "bm25": "Blend with a smaller --bm25, or search dense (--hybrid dense).",
    "correction": "Roll the correction back, or learn it anew from needs such as this.",
}


def check_blend(case: Case, place: Standing) -> Finding | None:
    """Name the part that lifts or sinks the document. None without a blend and a correction.

    All ranks are exact. Evidence: `remedies`, `weight`, `hubs`, `bm25` (its weight here), `k`,
    `rank`, `rank_without` (rank by part that is switched off, None beyond the fused documents),
    `document` and `rival` (see `_split_score`), `median_hubness`, and `correction`: `alpha`,
    `cosine` of the query before and after, `score_without` of the document.
    """
    recipe = case.retriever.recipe
    if recipe.blend is None and recipe.correction is None:
        return None
    if not case.present:
        return Cause.BLEND.unchecked("the document is not in this state of the index")
    blend = recipe.blend or Blend(weight=1, hubs=0, bm25=0)
    search = _Search(case)
    without: dict[str, int | None] = {}
    if blend.sentences:
        without["sentences"] = search.rank(case.vector, replace(blend, weight=1.0))
    if blend.hubs:
        without["hubs"] = search.rank(case.vector, replace(blend, hubs=0.0))
    if case.retriever.hybrid is not None:
        without["bm25"] = case.rank(case.doc_id, case.vector, case.snapshot.blended(blend))
    if recipe.correction is not None:
        without["correction"] = search.rank(case.uncorrected, blend)
    first = search.dense(case.vector, blend)
    ranked = list(search.fuse(first))
    kth = min(case.k, len(ranked)) - 1
    around = [*ranked[kth : kth + 2], *ranked[:kth][::-1]] if ranked else []
    rival = next((document for document in around if document != case.doc_id), None)
    evidence: Evidence = {
        "remedies": list(recipe.remedies),
        "weight": blend.weight,
        "hubs": blend.hubs,
        "bm25": round(search.share, 4),
        "k": case.k,
        "rank": search.rank(case.vector, blend),
        "rank_without": without,
        "document": _split_score(case, case.doc_id, search, first),
        "rival": None if rival is None else _split_score(case, rival, search, first),
    }
    if case.snapshot.hubness is not None:
        evidence["median_hubness"] = round(float(np.median(case.snapshot.hubness)), 4)
    if recipe.correction is not None:
        both = float(case.vector[0].astype(float) @ case.uncorrected[0].astype(float))
        lengths = np.linalg.norm(case.vector) * np.linalg.norm(case.uncorrected)
        evidence["correction"] = {
            "alpha": recipe.correction.alpha,
            "cosine": round(both / float(lengths), 4),
            "score_without": round(case.exact_score(case.uncorrected), 4),
        }
    return _name_part(case.k, place.came_back, evidence)


class _Search:
    """The search that is explained, with any vector and blend. share: the weight of BM25."""

    def __init__(self, case: Case) -> None:
        self.case, self.hybrid = case, case.retriever.hybrid
        self.depth = max(case.k + 1, FUSED_DEPTH)
        self.words: dict[str, float] = {}
        self.share = 0.0
        if self.hybrid is not None:
            hits = case.retriever.lexical().search([case.query], self.depth)
            self.words = hits.run([QUERY])[QUERY]
            self.share = case.retriever.bm25_weights(hits, [QUERY])[QUERY]

    def dense(self, vector: FloatArray, blend: Blend) -> dict[str, float]:
        """Return the first documents by vectors, with their scores."""
        snapshot = self.case.snapshot.blended(blend)
        return snapshot.search(vector, self.depth, self.case.weight).run([QUERY])[QUERY]

    def fuse(self, dense: dict[str, float]) -> dict[str, float]:
        """Return them fused with BM25 where the search is hybrid."""
        if self.hybrid is not None:
            runs = {QUERY: dense}, {QUERY: self.words}
            dense = fuse_with_bm25(*runs, 2 * self.depth, self.hybrid, self.share)[QUERY]
        return self.case.of_documents(dense)

    def rank(self, vector: FloatArray, blend: Blend) -> int | None:
        """Return the document's rank. None beyond the fused documents."""
        case = self.case
        if self.hybrid is None:
            return case.rank(case.doc_id, vector, case.snapshot.blended(blend))
        return place_in(self.fuse(self.dense(vector, blend)), case.doc_id, case.k)[0].rank


def _split_score(case: Case, doc_id: str, search: _Search, dense: dict[str, float]) -> Evidence:
    """Return how much each part of the blend adds to a document, in the order of addition.

    `score` is `own` (its vectors, scenarios included) + `sentences_add` - `hubness_takes`.
    `hubness` is its r. `vectors_scaled` and `bm25_adds` sum to the fused score of min-max fusion.
    `sentence` is the id of its best one, with `sentence_score` and `sentence_text`.
    """
    snapshot, layout = case.snapshot, case.snapshot.layout(case.weight)
    at = int(snapshot.positions([doc_id])[0])

    def score_by(layout: Layout) -> float:
        zero = np.zeros(1, np.int64)
        return float(exact(case.vector, snapshot.vectors, layout, zero, np.array([at]))[2][0])

    plain = replace(layout, penalty=None)
    unblended = replace(plain, sentence_weight=1.0)
    score, blended, own = map(score_by, (layout, plain, unblended))
    parts: Evidence = {
        "id": doc_id,
        "score": round(score, 4),
        "own": round(own, 4),
        "sentences_add": round(blended - own, 4),
        "hubness_takes": round(blended - score, 4),
    }
    if snapshot.hubness is not None:
        parts["hubness"] = round(float(snapshot.hubness[at]), 4)
    if search.hybrid == "min-max":
        share, scaled = search.share, min_max(dense).get(doc_id, 0.0)
        parts["vectors_scaled"] = round((1 - share) * scaled, 4)
        parts["bm25_adds"] = round(share * min_max(search.words).get(doc_id, 0.0), 4)
    rows, is_sentence = np.array(snapshot.rows_of(doc_id)), layout.sentence
    rows = rows[is_sentence[rows]] if is_sentence is not None else rows[:0]
    if len(rows):
        scores = pair_products(case.vector, snapshot.vectors, np.zeros(len(rows), np.int64), rows)
        best = int(rows[int(np.argmax(scores))])
        text = " ".join(str(snapshot.columns["text"][best]).split())
        parts["sentence"] = str(snapshot.columns["id"][best])
        parts["sentence_score"] = round(float(scores.max()), 4)
        is_short = len(text) <= MAX_SENTENCE
        parts["sentence_text"] = text if is_short else f"{text[:MAX_SENTENCE]}..."
    return parts


def _name_part(k: int, came_back: bool, evidence: Evidence) -> Finding:
    """Name the part without which the document comes back, or the part that lifted it."""
    rank, without = evidence["rank"], evidence["rank_without"]
    better = {part: r for part, r in without.items() if r is not None and r <= k}
    if not came_back and better:
        part = min(better, key=lambda p: better[p])
        text = f"{PARTS[part]} keep{'s' * (part != 'sentences')} it out: without, it would rank "
        text += str(better[part])
        return Cause.BLEND.found(text, evidence, ADVICE[part], decisive=True)
    lifts = {p: r for p, r in without.items() if rank is not None and (r is None or r > rank)}
    if came_back and lifts:
        part = max(lifts, key=lambda p: lifts[p] or 10**9)
        there = f"rank {lifts[part]}" if lifts[part] else "beyond what is fused"
        text = f"{PARTS[part]} lift{'s' * (part != 'sentences')} it to {rank}: without, {there}"
    else:
        ranks = ", ".join(f"without {PARTS[p]} {r or 'none'}" for p, r in without.items())
        text = f"no part of it alone decides: rank {rank or 'none'}" + f" ({ranks})" * bool(ranks)
    return Cause.BLEND.ruled_out(text, evidence)


def blend_lines(evidence: Evidence) -> Iterator[str]:
    """Yield a sentence per part, for the document and against its rival."""
    if "document" not in evidence:
        return
    own, rival = evidence["document"], evidence["rival"]

    def against(part: str, style: str = ".4f") -> str:
        if rival is None:
            return ""
        return f"; of {rival['id']}, the rival at {evidence['k']}, {rival.get(part, 0.0):{style}}"

    yield f"its own vector scores {own['own']:.4f}{against('own')}"
    if evidence["weight"] < 1:
        text = "it has no sentence: sentences add nothing"
        if "sentence" in own:
            best = f"{own['sentence']} ({own['sentence_score']:.4f}, {own['sentence_text']!r})"
            text = f"its best sentence is {best}, no nearer than its own vector: it adds nothing"
            if own["sentences_add"]:
                text = f"its best sentence is {best} and adds {own['sentences_add']:.4f}"
        yield f"{text}{against('sentences_add', '+.4f')}"
    if "hubness" in own and evidence["hubs"]:
        yield (
            f"hubness takes {own['hubness_takes']:.4f} off (r {own['hubness']:.4f}, median of the "
            f"corpus {evidence['median_hubness']:.4f}){against('hubness_takes')}"
        )
    if "bm25_adds" in own:
        yield (
            f"BM25 adds {own['bm25_adds']:.4f} to {own['vectors_scaled']:.4f} of the vectors, both "
            f"scaled{against('bm25_adds')}"
        )
    if "correction" in evidence:
        correction, rank = evidence["correction"], evidence["rank_without"]["correction"]
        yield (
            f"the correction of the query (cosine to the query {correction['cosine']:.4f}) takes "
            f"its score from {correction['score_without']:.4f} to {own['score']:.4f}, its rank "
            f"from {rank or 'none'} to {evidence['rank'] or 'none'}"
        )
