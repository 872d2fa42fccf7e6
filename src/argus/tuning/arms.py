"""Search with the parts of a hybrid, and with common fusions of them, in one pass.

A vector search and a BM25 search of 100 results each -> the rankings of all arms. And the words of
`argus tune try` on them. `argus.repair.trials` measures them beside remedies, and beside encoders,
retrievers (`argus.tuning.others`) and rerankers (`argus.tuning.rerank`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from argus.data.types import FloatArray, Qrels, Query, Run
from argus.evaluation.judged import ParentFold, deeper
from argus.indexes.blend import RELEVANCE_WEIGHT, Blend, Fusion
from argus.indexes.fusion import fuse_with_bm25, question_weights
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import FUSED_DEPTH
from argus.indexes.snapshot import Snapshot
from argus.measures import evaluate
from argus.measures.measures import coverage_words
from argus.measures.significance import UNCHANGED, with_interval
from argus.visible import aligned

DEPTH = 10  # documents that are measured
COLUMNS = ("arm", "verdict", "nDCG@10", "difference (95%)", "improved, harmed", "R@10", "hits@10",
           "unjudged", "costs")  # fmt: skip
HARMED_COLUMNS = ("question", "came first", "comes first now", "right one at", "now at", "nDCG@10")
HARMED = 20  # questions that a report shows
TIMED = 20  # questions that are asked one by one, for the time that they take


def fixed(fusion: Fusion, bm25: float = 0.5) -> Blend:
    """Return a fixed fusion of the vectors alone with BM25, as the blend that an index takes."""
    return Blend(weight=1, bm25=bm25, fusion=fusion, by_question=False)


# Fusions that stand beside a retriever. The relative score of Weaviate is min-max 0.5.
FUSION_ARMS: dict[str, Blend] = {
    **{f"min-max 0.{tenths}": fixed("min-max", tenths / 10) for tenths in range(1, 8)},
    "RRF (60)": fixed("rrf"),
    "RRF (2)": fixed("rrf-2"),
    "DBSF": fixed("dbsf"),
}
# Those that most hybrids have.
RIVALS = ("min-max 0.3", "min-max 0.5", "RRF (60)", "DBSF")
VECTORS, BM25 = "vectors alone", "BM25 alone"
MINE = "what runs"  # the index as it is, or the retriever of the user
DENSE = Blend(weight=1, bm25=0)
# What an index may take as it was measured.
APPLICABLE = FUSION_ARMS | {BM25: fixed("min-max", 1.0)}


@dataclass(frozen=True)
class Tried:
    """A way to search, tried on all questions.

    run: results, best first, DEPTH judged documents deep or more. ms: milliseconds that single
    questions took, one by one. records, bytes: what it adds to an index or a store. note: what a
    reader has to know of the figures.
    """

    run: Run
    ms: Sequence[float] = field(default=(), repr=False)
    records: int = 0
    bytes: int = 0
    note: str = ""

    @property
    def cost(self) -> dict[str, Any]:
        """The cost in a summary: ms at the median and the 95th percentile (or None), and size."""
        at = [round(float(p), 1) for p in np.percentile(self.ms, [50, 95])] if self.ms else None
        ms = None if at is None else {"p50": at[0], "p95": at[1]}
        return {"ms": ms, "records": self.records, "bytes": self.bytes, "note": self.note}


def timed(search: Callable[[int], object], n: int) -> list[float]:
    """Return the milliseconds of a search for the first of n questions, asked one by one.

    search: of the question at a place.
    """
    took = []
    for i in range(min(n, TIMED + 1)):
        start = time.perf_counter()
        search(i)
        took.append(1e3 * (time.perf_counter() - start))
    return took[1:] or took  # the first one opens things


def added(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return the milliseconds of two steps, question by question."""
    return [a + b for a, b in zip(first, second, strict=True)]


@dataclass(frozen=True)
class Searched:
    """A state of an index and BM25 over its documents, searched under any blend."""

    snapshot: Snapshot
    lexical: LexicalIndex
    weight: float = RELEVANCE_WEIGHT  # λ of scenarios, if there are any

    def run(self, queries: Sequence[Query], vectors: FloatArray, k: int, blend: Blend) -> Run:
        """Return the k best documents under a blend. vectors: (n_queries, dim)."""
        ids = [query.id for query in queries]
        depth = max(k, FUSED_DEPTH) if blend.bm25 else k
        dense = self.snapshot.blended(blend).search(vectors, depth, self.weight).run(ids)
        if not blend.bm25:
            return dense
        words = self.lexical.search([query.text for query in queries], depth)
        weights = question_weights(blend.bm25, ids, words.coverage)
        own = weights if blend.by_question else blend.bm25
        return fuse_with_bm25(dense, words.run(ids), k, blend.fusion, own)


@dataclass(frozen=True)
class JudgedVectors:
    """Judged questions with their query vectors, (n_queries, dim)."""

    queries: Sequence[Query]
    vectors: FloatArray
    qrels: Qrels
    fold: ParentFold | None = None  # of chunks to the documents that were judged

    @property
    def depth(self) -> int:
        """Number of results that make ten documents."""
        return deeper(DEPTH, self.fold)

    def measure(self, run: Run, *measures: str) -> Mapping[str, Mapping[str, float]]:
        """Return each query's measures of a run, folded to judged documents."""
        run = run if self.fold is None else self.fold.run(run)
        return evaluate(run, self.qrels, list(measures)).per_query

    def unjudged(self, run: Run) -> float:
        """Return the mean share of a run's first ten documents that have no judgement."""
        run = run if self.fold is None else self.fold.run(run)
        first = {query: [*run[query]][:DEPTH] for query in self.qrels if run.get(query)}
        shares = [
            sum(doc not in self.qrels[query] for doc in docs) / len(docs)
            for query, docs in first.items()
        ]
        return float(np.mean(shares)) if shares else 0.0


def part_and_fusion_runs(vectors: Run, bm25: Run, k: int) -> dict[str, Run]:
    """Return the k best documents per arm. vectors, bm25: runs of 100 results."""
    return {VECTORS: vectors, BM25: bm25} | {
        name: fuse_with_bm25(vectors, bm25, k, arm.fusion, arm.bm25)
        for name, arm in FUSION_ARMS.items()
    }


def parts_words(arms: Sequence[Mapping[str, Any]], *, is_own: bool = False) -> str:
    """Return which part of the retriever helps and which hurts, in one line.

    arms: of the summary of `argus tune try`, with the vectors alone and BM25 alone among them.
    is_own: whether what runs is the user's own, whose BM25 is not the one that was tried.
    """
    parts = {arm["arm"]: arm for arm in arms if arm["arm"] in (VECTORS, BM25)}
    means = {name: parts[name]["ndcg10"]["mean_after"] for name in (VECTORS, BM25)}
    mine = parts[VECTORS]["ndcg10"]["mean_before"]
    names = {VECTORS: VECTORS, BM25: f"Argus' {BM25}" if is_own else BM25}
    shown = ", ".join(f"{names[n]} {mean:.3f} ({mean - mine:+.3f})" for n, mean in means.items())
    best = max(means, key=lambda name: means[name])
    same = [name.split(" ")[0] for name in means if abs(means[name] - mine) < UNCHANGED]
    told = "the whole is better than either part"
    if same:
        told = f"it ranks as its {same[0]} alone"
    elif means[best] > mine:
        chance = "" if parts[best]["passes"] else " here, which may be chance"
        told = f"what is added to the {best.split(' ')[0]} hurts{chance}"
        if is_own and best == BM25:
            told = f"{names[best]} beats it{chance}"
    return f"nDCG@10 {mine:.3f}; {shown}: {told}"


def arm_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of the arms, best first: of fixed fusions the best one and the usual ones."""
    shown = {summary["best_fusion"], *RIVALS}
    rows = [("arm", "nDCG@10 (95%)", "R@10", "harmed", "records", "ms, p95", "verdict")]
    for arm in summary["arms"]:
        name, ndcg, ms = arm["arm"], arm["ndcg10"], arm["ms"]
        if name in FUSION_ARMS and name not in shown:
            continue
        covered = coverage_words(arm["coverage"])
        rows.append((
            name, with_interval(ndcg), f"{arm['recall10']['mean_difference']:+.3f}",
            f"{ndcg['harmed']:,}", f"+{arm['records']:,}" if arm["records"] else "",
            f"{ms['p50']:.3g}, {ms['p95']:.3g}" if ms else "",
            "; ".join(filter(None, [
                arm["verdict"], covered and f"a gain where {covered}", arm["note"],
            ])),
        ))  # fmt: skip
    yield from aligned(rows)


def report_rows(summary: Mapping[str, Any]) -> list[list[str]]:
    """Return a row of `COLUMNS` per arm, best first, for a report."""
    rows = []
    for arm in summary["arms"]:
        ndcg, recall = arm["ndcg10"], arm["recall10"]
        covered = coverage_words(arm["coverage"])
        rows.append([
            arm["arm"] + (f" (a gain where {covered})" if covered else ""),
            arm["verdict"] + ", recommended" * (arm["arm"] == summary["recommended"]),
            f"{ndcg['mean_after']:.3f}", with_interval(ndcg),
            f"{ndcg['improved']}, {ndcg['harmed']}", f"{recall['mean_difference']:+.3f}",
            f"{arm['hits10']:.0%}", f"{arm['unjudged10']:.0%}",
            cost_words(arm, summary["mine_cost"]),
        ])  # fmt: skip
    return rows


def harmed_questions(rows: Sequence[Mapping[str, Any]], arm: str) -> list[list[str]]:
    """Return a row of `HARMED_COLUMNS` per harmed question.

    Worst first, at most `HARMED`. rows: of `argus.tuning.choose.trial_table`.
    """
    changed = [
        (row["ndcg10_after"] - row["ndcg10_before"], row) for row in rows if row["arm"] == arm
    ]
    worst = sorted((one for one in changed if one[0] < 0), key=lambda one: one[0])[:HARMED]
    return [
        [row["question"], row["first_before"], row["first_after"],
         *(str(row[f"place_{at}"] or "beyond 10") for at in ("before", "after")), f"{by:+.3f}"]
        for by, row in worst
    ]  # fmt: skip


def cost_words(arm: Mapping[str, Any], mine: Mapping[str, Any]) -> str:
    """Return what an arm adds and how long a question takes, against what runs."""
    told = []
    if arm["records"] or arm["bytes"]:
        told.append(f"adds {arm['records']:,} records, {arm['bytes'] / 2**20:,.1f} MiB")
    if arm["ms"]:
        now = f" (now {mine['ms']['p50']:.3g})" if mine["ms"] else ""
        told.append(f"{arm['ms']['p50']:.3g} ms a question{now}, p95 {arm['ms']['p95']:.3g}")
    return "; ".join([*told, *filter(None, [arm["note"]])])


def recommendation_words(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arm to take, its worth and cost here, and what it gains over three lines."""
    name = summary["recommended"]
    if name == MINE:
        yield f"{name}; no arm is better by more than chance, and the default gains nothing here"
        return
    (arm,) = (arm for arm in summary["arms"] if arm["arm"] == name)
    cost = cost_words(arm, summary["mine_cost"])
    worth = f"{name}, {with_interval(arm['ndcg10'])}, {arm['verdict']}"
    worth += f" ({cost})" if cost else ""
    yield f"{worth}. Leave out what is added to it" if name == VECTORS else worth
    if name not in APPLICABLE and name != VECTORS:
        over = arm["over_fusion"]
        sure = "by more than chance" if (over["low"] or 0) > 0 else "which may be chance"
        told = f"{with_interval(over)}, {sure}" if over["mean_difference"] > 0 else "nothing"
        yield f"over the best fixed fusion, {summary['best_fusion']} (three lines): {told}"


def price_words(price: Mapping[str, Any]) -> str:
    """Return for how many documents a language model wrote, and what the rest would cost."""
    written, documents, cost = price["written"], price["documents"], price["cost"]
    told = f"the language model wrote needs for {written:,} of {documents:,} documents"
    if cost is None:
        return f"{told}; --input-price and --output-price tell what all would cost"
    return f"{told}, for {cost:.2f}; all would cost about {cost * documents / written:.2f}"


def judging_words(summary: Mapping[str, Any]) -> str:
    """Return how fairly the arms were judged, "" where nothing speaks against it."""
    if not summary["judged_only_mine"]:
        return ""
    arms = {arm["arm"]: arm["unjudged10"] for arm in summary["arms"]}
    mine = summary["unjudged10"]
    other, most = max(arms.items(), key=lambda one: one[1])
    return (
        f"every judged document is among the first {DEPTH} of what runs: the others are judged "
        f"unfairly ({most:.0%} of the first {DEPTH} of {other} have no judgement, {mine:.0%} of "
        "what runs), and gains are understated. argus tune judge pools over all arms"
    )
