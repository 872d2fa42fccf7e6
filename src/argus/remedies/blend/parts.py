"""What each part of a blend costs and gains: the vectors alone, then part after part."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from argus.data.types import FloatArray, Qrels, Query, Run
from argus.encoders.protocol import COSINE
from argus.errors import InputError
from argus.evaluation.parents import ParentFold, deeper
from argus.indexes.blend import Blend
from argus.indexes.fold import RELEVANCE_WEIGHT
from argus.indexes.hybrid import FUSION, RIVALS, fuse_with_bm25, question_weights
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import FUSED_DEPTH
from argus.indexes.snapshot import Snapshot
from argus.measures import evaluate, paired_difference
from argus.measures.significance import DifferenceFigures
from argus.remedies.blend.summary import Part, Rival

NDCG, RECALL = "nDCG@10", "R@10"
K = 10
DENSE = Blend(weight=1, hubs=0, bm25=0)
ALONE, SENTENCES, HUBS, BM25 = "vectors alone", "+ sentences", "+ hubs", "+ BM25"
SMOOTHING = "+ smoothing"


@dataclass(frozen=True)
class Searched:
    """A state of an index with its blend, and BM25 over its documents."""

    snapshot: Snapshot
    lexical: LexicalIndex
    weight: float = RELEVANCE_WEIGHT
    """λ of scenarios, where there are any."""
    smoothed: Snapshot | None = None
    """The state with smoothed vectors, where a blend smooths them."""

    def run(self, queries: Sequence[Query], vectors: FloatArray, k: int, blend: Blend) -> Run:
        """Return the k best documents under a blend; vectors: (n_queries, dim)."""
        of = self.smoothed if blend.smoothing and self.smoothed is not None else self.snapshot
        snapshot = of.blended(blend)
        ids = [query.id for query in queries]
        depth = max(k, FUSED_DEPTH) if blend.bm25 else k
        dense = snapshot.search(vectors, depth, self.weight).run(ids)
        if not blend.bm25:
            return dense
        words = self.lexical.search([query.text for query in queries], depth)
        weights = question_weights(blend.bm25, ids, words.coverage)
        return fuse_with_bm25(dense, words.run(ids), k, FUSION, weights)


def steps(blend: Blend) -> dict[str, Blend]:
    """Return the blend part after part, by what each adds; parts that are off are left out."""
    built, arms = DENSE, {ALONE: DENSE}
    for name, part in (
        (SENTENCES, {"weight": blend.weight} if blend.sentences else {}),
        (HUBS, {"hubs": blend.hubs} if blend.hubs else {}),
        (BM25, {"bm25": blend.bm25} if blend.bm25 else {}),
        (SMOOTHING, {"smoothing": blend.smoothing} if blend.smoothing else {}),
    ):
        if part:
            built = replace(built, **part)
            arms[name] = built
    return arms


def timed(
    searched: Searched, blend: Blend, queries: Sequence[Query], vectors: FloatArray
) -> dict[str, float]:
    """Return the median milliseconds of one query at a time, by step; by turns."""
    arms = steps(blend)
    took: dict[str, list[float]] = {name: [] for name in arms}
    for arm in arms.values():  # compiles, lays out
        searched.run(queries[:1], vectors[:1], K, arm)
    for i, query in enumerate(queries):
        for name, arm in arms.items():
            took[name].append(_milliseconds(query, vectors[i : i + 1], searched, arm))
    return {name: statistics.median(values) for name, values in took.items()}


def _milliseconds(query: Query, vector: FloatArray, searched: Searched, arm: Blend) -> float:
    start = time.perf_counter()
    searched.run([query], vector, K, arm)
    return 1000 * (time.perf_counter() - start)


@dataclass(frozen=True)
class Costs:
    """What the search costs up to a part, by its name. bytes: what the part stores; 0 if absent."""

    milliseconds: dict[str, float]
    bytes: dict[str, int]


@dataclass(frozen=True)
class JudgedVectors:
    """Judged questions with the vectors that are searched for, (n_queries, dim)."""

    queries: Sequence[Query]
    vectors: FloatArray
    qrels: Qrels
    fold: ParentFold | None = None
    """Of chunks to the documents that were judged."""

    @property
    def depth(self) -> int:
        """How many results are asked for, of which `folded` makes ten documents."""
        return deeper(K, self.fold)

    def folded(self, run: Run) -> Run:
        """Return a run of what was judged."""
        return run if self.fold is None else self.fold.run(run)


def parts(
    searched: Searched, blend: Blend, costs: Costs, judged: JudgedVectors | None
) -> list[Part]:
    """Return cost and gain of the blend, step by step."""
    gains = {} if judged is None else _gains(searched, blend, judged)
    dense = costs.milliseconds[ALONE]
    return [
        {
            "part": name,
            "bytes": costs.bytes.get(name, 0),
            "milliseconds": round(took, 3),
            "times_dense": round(took / dense, 2),
            "ndcg10": gains.get((name, NDCG)),
            "recall10": gains.get((name, RECALL)),
        }
        for name, took in costs.milliseconds.items()
    ]


def _gains(
    searched: Searched, blend: Blend, judged: JudgedVectors
) -> dict[tuple[str, str], DifferenceFigures]:
    values = {}
    for name, arm in steps(blend).items():
        run = judged.folded(searched.run(judged.queries, judged.vectors, judged.depth, arm))
        per_query = evaluate(run, judged.qrels, [NDCG, RECALL]).per_query
        values[name] = {m: {q: v[m] for q, v in per_query.items()} for m in (NDCG, RECALL)}
    dense = next(iter(values.values()))
    return {
        (name, measure): paired_difference(dense[measure], of[measure], seed=0).figures()
        for name, of in values.items()
        for measure in (NDCG, RECALL)
    }


def rival_runs(searched: Searched, judged: JudgedVectors) -> dict[str, Run]:
    """Return what comes first of the vectors fused with BM25 by each of `RIVALS`, by its name."""
    dense = searched.run(judged.queries, judged.vectors, FUSED_DEPTH, DENSE)
    texts, ids = [q.text for q in judged.queries], [q.id for q in judged.queries]
    words = searched.lexical.search(texts, FUSED_DEPTH).run(ids)
    return {
        name: judged.folded(fuse_with_bm25(dense, words, judged.depth, method, weight))
        for name, (method, weight) in RIVALS.items()
    }


def rivals(searched: Searched, judged: JudgedVectors) -> list[Rival]:
    """Return what each of `RIVALS` gains against the vectors alone."""
    runs = {
        ALONE: judged.folded(searched.run(judged.queries, judged.vectors, judged.depth, DENSE)),
        **rival_runs(searched, judged),
    }
    values = {
        name: {q: v[NDCG] for q, v in evaluate(run, judged.qrels, [NDCG]).per_query.items()}
        for name, run in runs.items()
    }
    return [
        {"fusion": name, "ndcg10": paired_difference(values[ALONE], of, seed=0).figures()}
        for name, of in values.items()
        if name != ALONE
    ]


def check_cosine(similarity: str, index: Path) -> None:
    """Refuse an index that ranks otherwise. similarity: as its header has it."""
    if similarity != COSINE:
        raise InputError(
            f"an index that ranks by {similarity}",
            expected="one that ranks by cosine: a blend's weights hold for cosines",
            fix="Build it with an encoder that ranks by cosine.",
            where=index,
        )


def spread_rows(n: int, most: int) -> list[int]:
    """Return `most` positions spread over n at most."""
    return [int(i) for i in np.unique(np.linspace(0, n - 1, min(n, most)).round())] if n else []
