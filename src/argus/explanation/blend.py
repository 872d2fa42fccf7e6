"""What a blend makes of a document: what each part gives or takes, and where it would rank without.

For the document that is explained, and for the k-th, whose place it would take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from argus.data.types import FloatArray
from argus.explanation.evidence import BlendEvidence, BlendParts, CorrectionEvidence
from argus.explanation.standing import QUERY, place_in
from argus.explanation.types import Case, Cause, Finding, Standing, Verdict
from argus.indexes.blend import Blend
from argus.indexes.fold import Layout, exact, pair_products
from argus.indexes.hybrid import fuse_with_bm25, min_max
from argus.indexes.lexical import Hits
from argus.indexes.retriever import FUSED_DEPTH

SHOWN = 80
"""Characters of a sentence."""
PARTS = {"sentences": "its sentences", "hubs": "its hubness", "bm25": "BM25",
         "correction": "the correction of the query"}  # fmt: skip
ADVICE = {
    "sentences": "Blend with a larger --lambda, or look at the sentences of what is above it.",
    "hubs": "Blend with smaller --hubs: it is taken for a hub, and was asked for here.",
    "bm25": "Blend with a smaller --bm25, or search dense (--hybrid dense).",
    "correction": "Roll the correction back, or learn it anew from needs such as this.",
}


def check_blend(case: Case, place: Standing) -> Finding[BlendEvidence] | None:
    """Say which part lifted or sank the document; None where the state has no blend, no correction.

    All ranks are exact, whatever the search is.
    """
    recipe = case.retriever.recipe
    if recipe.blend is None and recipe.correction is None:
        return None
    if not case.present:
        text = "the document is not in this state of the index"
        return Finding(Cause.BLEND, Verdict.UNCHECKED, text, {})
    blend = recipe.blend or Blend(weight=1, hubs=0, bm25=0)
    ranking = _Rankings(case, blend)
    evidence: BlendEvidence = {
        "remedies": list(recipe.remedies), "weight": blend.weight, "hubs": blend.hubs,
        "bm25": round(ranking.share, 4) if case.retriever.hybrid else 0.0, "k": case.k,
        "rank": ranking.rank(case.vector, blend),
        "rank_without": ranking.without(),
    }  # fmt: skip
    parts = _Parts(case, ranking)
    evidence["document"] = parts.of(case.doc_id)
    rival = ranking.rival()
    evidence["rival"] = parts.of(rival) if rival is not None else None
    if case.snapshot.hubness is not None:
        evidence["median_hubness"] = round(float(np.median(case.snapshot.hubness)), 4)
    if recipe.correction is not None:
        evidence["correction"] = _correction(case, recipe.correction.alpha)
    return _concluded(case.k, place.came_back, evidence)


@dataclass(frozen=True)
class _Rankings:
    """The ranking that counts, and what it would be with a part switched off."""

    case: Case
    blend: Blend

    def without(self) -> dict[str, int | None]:
        """Return the document's rank without each part that is there."""
        case, blend = self.case, self.blend
        ranks: dict[str, int | None] = {}
        if blend.sentences:
            ranks["sentences"] = self.rank(case.vector, replace(blend, weight=1.0))
        if blend.hubs:
            ranks["hubs"] = self.rank(case.vector, replace(blend, hubs=0.0))
        if case.retriever.hybrid is not None:
            ranks["bm25"] = self.rank(case.vector, blend, dense=True)
        if case.retriever.recipe.correction is not None:
            ranks["correction"] = self.rank(case.uncorrected, blend)
        return ranks

    def rank(self, vector: FloatArray, blend: Blend, *, dense: bool = False) -> int | None:
        """Return the rank of the document; None where fusion does not reach it."""
        case, snapshot = self.case, self.case.snapshot.blended(blend)
        if dense or case.retriever.hybrid is None:
            return case.rank_in(snapshot, case.doc_id, vector)
        fused = self.fused(self.dense(vector, blend))
        return place_in(case.of_documents(fused), case.doc_id, case.k)[0].rank

    def dense(self, vector: FloatArray, blend: Blend) -> dict[str, float]:
        """Return the first documents by vectors, with their scores."""
        snapshot = self.case.snapshot.blended(blend)
        return snapshot.search(vector, self.depth, self.case.weight).run([QUERY])[QUERY]

    def fused(self, dense: dict[str, float]) -> dict[str, float]:
        """Return them fused with BM25."""
        retriever = self.case.retriever
        assert retriever.hybrid is not None
        runs = {QUERY: dense}, self.words.run([QUERY])
        return fuse_with_bm25(*runs, 2 * self.depth, retriever.hybrid, self.share)[QUERY]

    @cached_property
    def words(self) -> Hits:
        """The first documents by BM25, with their scores."""
        return self.case.retriever.lexical().search([self.case.query], self.depth)

    @property
    def share(self) -> float:
        """What BM25 counts for this question."""
        return self.case.retriever.bm25_weights(self.words, [QUERY])[QUERY]

    @property
    def depth(self) -> int:
        """How many documents of each ranking are fused."""
        return max(self.case.k + 1, FUSED_DEPTH)

    def rival(self) -> str | None:
        """Return the k-th document, or the one after it where the k-th is explained."""
        scores = self.dense(self.case.vector, self.blend)
        scored = self.fused(scores) if self.case.retriever.hybrid else scores
        ranked = list(self.case.of_documents(scored))
        own, kth = self.case.doc_id, min(self.case.k, len(ranked)) - 1
        around = [*ranked[kth : kth + 2], *ranked[:kth][::-1]] if ranked else []
        return next((document for document in around if document != own), None)


class _Parts:
    """What each part gives a document."""

    def __init__(self, case: Case, ranking: _Rankings) -> None:
        self.case = case
        self.layout = case.snapshot.layout(case.weight)
        is_scaled = case.retriever.hybrid == "min-max"
        scores = ranking.dense(case.vector, ranking.blend) if is_scaled else {}
        self.dense = min_max(scores)
        words = ranking.words.run([QUERY])[QUERY] if is_scaled else {}
        self.words = min_max(words)
        self.share = ranking.share if is_scaled else 0.0
        self.is_scaled = is_scaled

    def of(self, doc_id: str) -> BlendParts:
        """Return them of one document, in the order in which they are added."""
        case, mixed = self.case, self.layout.mixed
        at = int(case.snapshot.positions([doc_id])[0])
        score = self._score(at, self.layout)
        plain = replace(self.layout, mixed=replace(mixed, penalty=None))
        alone = replace(plain, mixed=replace(plain.mixed, weight=1.0))
        blended, own = self._score(at, plain), self._score(at, alone)
        parts: BlendParts = {
            "id": doc_id, "score": round(score, 4), "own": round(own, 4),
            "sentences_add": round(blended - own, 4), "hubness_takes": round(blended - score, 4),
        }  # fmt: skip
        if case.snapshot.hubness is not None:
            parts["hubness"] = round(float(case.snapshot.hubness[at]), 4)
        if self.is_scaled:
            parts["vectors_scaled"] = round((1 - self.share) * self.dense.get(doc_id, 0.0), 4)
            parts["bm25_adds"] = round(self.share * self.words.get(doc_id, 0.0), 4)
        return parts | self._sentence(doc_id)

    def _score(self, at: int, layout: Layout) -> float:
        zero = np.zeros(1, np.int64)
        place = np.array([at])
        return float(exact(self.case.vector, self.case.snapshot.vectors, layout, zero, place)[2][0])

    def _sentence(self, doc_id: str) -> BlendParts:
        """Return the best sentence of a document, where it has any that count."""
        snapshot, is_sentence = self.case.snapshot, self.layout.mixed.sentence
        rows = np.array(snapshot.rows_of(doc_id))
        rows = rows[is_sentence[rows]] if is_sentence is not None else rows[:0]
        if not len(rows):
            return {}
        zeros = np.zeros(len(rows), np.int64)
        scores = pair_products(self.case.vector, snapshot.vectors, zeros, rows)
        best = int(rows[int(np.argmax(scores))])
        text = " ".join(str(snapshot.columns["text"][best]).split())
        return {
            "sentence": str(snapshot.columns["id"][best]),
            "sentence_score": round(float(scores.max()), 4),
            "sentence_text": text if len(text) <= SHOWN else f"{text[:SHOWN]}...",
        }


def _correction(case: Case, alpha: float) -> CorrectionEvidence:
    both = float(case.vector[0].astype(float) @ case.uncorrected[0].astype(float))
    lengths = np.linalg.norm(case.vector) * np.linalg.norm(case.uncorrected)
    at, layout = case.snapshot.positions([case.doc_id]), case.snapshot.layout(case.weight)
    zero = np.zeros(1, np.int64)
    before = exact(case.uncorrected, case.snapshot.vectors, layout, zero, at)[2][0]
    return {
        "alpha": alpha,
        "cosine": round(both / float(lengths), 4),
        "score_without": round(float(before), 4),
    }


def _concluded(k: int, came_back: bool, evidence: BlendEvidence) -> Finding[BlendEvidence]:
    """Name the part without which the document comes back, or what lifted it."""
    rank, without = evidence["rank"], evidence["rank_without"]
    better = {part: r for part, r in without.items() if r is not None and r <= k}
    if not came_back and better:
        part = min(better, key=lambda p: better[p])
        text = f"{PARTS[part]} keep{'s' * (part != 'sentences')} it out: without, it would rank "
        return Finding(
            Cause.BLEND, Verdict.FOUND, f"{text}{better[part]}", evidence, ADVICE[part],
            decisive=True,
        )  # fmt: skip
    lifts = {p: r for p, r in without.items() if rank is not None and (r is None or r > rank)}
    if came_back and lifts:
        part = max(lifts, key=lambda p: lifts[p] or 10**9)
        there = f"rank {lifts[part]}" if lifts[part] else "beyond what is fused"
        text = f"{PARTS[part]} lift{'s' * (part != 'sentences')} it to {rank}: without, {there}"
    else:
        ranks = ", ".join(f"without {PARTS[p]} {r or 'none'}" for p, r in without.items())
        text = f"no part of it alone decides: rank {rank or 'none'}" + f" ({ranks})" * bool(ranks)
    return Finding(Cause.BLEND, Verdict.RULED_OUT, text, evidence)


def blend_lines(evidence: BlendEvidence) -> Iterator[str]:
    """Yield what each part did, in one sentence each, of the document and against the k-th."""
    if "document" not in evidence:
        return
    own, rival = evidence["document"], evidence["rival"]
    other = f"; of {rival['id']}, the rival at {evidence['k']}, " if rival is not None else ""
    against = [""] * 4 if rival is None else [
        f"{other}{rival['own']:.4f}", f"{other}{rival['sentences_add']:+.4f}",
        f"{other}{rival['hubness_takes']:.4f}", f"{other}{rival.get('bm25_adds', 0.0):.4f}",
    ]  # fmt: skip
    yield f"its own vector scores {own['own']:.4f}{against[0]}"
    if evidence["weight"] < 1:
        yield f"{_of_sentence(own)}{against[1]}"
    if "hubness" in own and evidence["hubs"]:
        yield (
            f"hubness takes {own['hubness_takes']:.4f} off (r {own['hubness']:.4f}, median of the "
            f"corpus {evidence['median_hubness']:.4f}){against[2]}"
        )
    if "bm25_adds" in own:
        yield (
            f"BM25 adds {own['bm25_adds']:.4f} to {own['vectors_scaled']:.4f} of the vectors, both "
            f"scaled{against[3]}"
        )
    if "correction" in evidence:
        correction, rank = evidence["correction"], evidence["rank_without"]["correction"]
        yield (
            f"the correction of the query (cosine to the query {correction['cosine']:.4f}) takes "
            f"its score from {correction['score_without']:.4f} to {own['score']:.4f}, its rank "
            f"from {rank or 'none'} to {evidence['rank'] or 'none'}"
        )


def _of_sentence(parts: BlendParts) -> str:
    if "sentence" not in parts:
        return "it has no sentence: sentences add nothing"
    best = f"{parts['sentence']} ({parts['sentence_score']:.4f}, {parts['sentence_text']!r})"
    if not parts["sentences_add"]:
        return f"its best sentence is {best}, no nearer than its own vector: it adds nothing"
    return f"its best sentence is {best} and adds {parts['sentences_add']:.4f}"
