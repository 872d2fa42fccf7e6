"""What a blend gains on judged collections, part after part, and the arms that it was chosen over.

`argus remedy blend` as it ships, MiniLM in float32: each collection is indexed and blended in a
folder of its own, then every arm searches the same index. Intervals are over questions, paired,
against the vectors alone; of the weight of BM25 that follows the question, also against 0.2 for
all, and of smoothing on top of the blend against the blend. BLEND_INDICES=FOLDER keeps the
indexes, so that another run embeds nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Document, FloatArray, Run
from argus.encoders import EncoderConfig, load_encoder
from argus.evaluation.judged import read_judged
from argus.indexes.blend import Blend
from argus.indexes.hybrid import fuse_with_bm25
from argus.indexes.job import build_index
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.retriever import IndexRetriever
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ViewIndex
from argus.knowledge.stdlib import standard_library, standard_questions
from argus.measures import evaluate, paired_difference
from argus.remedies.blend.job import blend_index
from argus.remedies.blend.parts import DENSE, JudgedVectors, Searched
from argus.remedies.blend.smoothing import smoothed
from benchmarks.shared import collection

COLLECTIONS = ("hotpot100", "theoremqa_theorems", "cranfield", "wiki2", "demo",
               "impliret_wknow_multi")  # fmt: skip
NDCG, RECALL, DEPTH, DRAWS = "nDCG@10", "R@10", 100, 10_000
SMOOTHING = 0.4
"""What the study behind the defaults had."""
CONSTANT, SMOOTHED = "blend, BM25 always 0.2", "blend, smoothing 0.4"
BAR = 0.035
"""Mean gain of the first four."""


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig(precision="float32")).encoder
    results: dict[str, Any] = {}
    steps: dict[str, FloatArray] = {}
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(os.environ.get("BLEND_INDICES", temporary))
        for name in COLLECTIONS:
            results[name], steps[name] = _collection(name, home / name / "index", encoder)
            print(name, results[name], flush=True)
    gains = [results[name]["arms"]["blend"][NDCG]["difference"] for name in COLLECTIONS[:4]]
    return {
        "collections": results,
        "mean_of_four": round(sum(gains) / 4, 4),
        "bar": BAR,
        "by_question_over_one_weight": mean_of(list(steps.values())),
    }


def mean_of(differences: list[FloatArray]) -> dict[str, float]:
    """Return the mean over collections, and its interval, questions drawn within each."""
    rng = np.random.default_rng(0)
    draws = [d[rng.integers(len(d), size=(DRAWS, len(d)))].mean(axis=1) for d in differences]
    low, high = np.percentile(np.mean(draws, axis=0), [2.5, 97.5])
    mean = float(np.mean([d.mean() for d in differences]))
    return {"mean": round(mean, 4), "low": round(low, 4), "high": round(high, 4)}


def _collection(name: str, index: Path, encoder: Any) -> tuple[dict[str, Any], FloatArray]:
    """Return the figures, and of each question what the weight by question changes."""
    documents, judged = judged_collection(name)
    build_index(documents, out=index, encoder=encoder)
    blended = blend_index(index, Blend(smoothing=0.0), encoder=encoder)
    opened = ViewIndex.open(index)
    retriever = IndexRetriever(opened, encoder)
    vectors = encoder.encode_queries([q.text for q in judged.queries])
    asked = JudgedVectors(judged.queries, vectors, judged.qrels)
    state = opened.snapshot()
    searched = Searched(state, retriever.lexical(), smoothed=_smoothed(state))
    values = {arm: _values(make(), judged.qrels) for arm, make in _arms(searched, asked).items()}
    dense, constant = values["dense"], values[CONSTANT][NDCG]
    step = np.array([of - constant[q] for q, of in values["blend"][NDCG].items()])
    figures = {
        "documents": len(documents),
        "questions": len(judged.queries),
        "views": blended.summary["views"],
        "arms": {
            arm: {measure: compared(dense[measure], of[measure]) for measure in (NDCG, RECALL)}
            for arm, of in values.items()
        },
        CONSTANT: compared(constant, values["blend"][NDCG]),
        SMOOTHED: compared(values["blend"][NDCG], values[SMOOTHED][NDCG]),
    }
    return figures, step


def _smoothed(state: Snapshot) -> Snapshot:
    """Return the state with the documents' own vectors smoothed."""
    vectors = state.vectors.copy()
    own = np.array(state.columns["kind"].to_pylist()) == ORIGINAL
    vectors[own] = smoothed(vectors[own], SMOOTHING)
    return Snapshot(state.columns, vectors, state.blend, state.hubness)


def judged_collection(name: str) -> tuple[list[Document], Any]:
    if name == "demo":
        library = standard_library()
        documents = [Document(e.id, e.paragraph, e.id) for e in library.entities]
        questions, qrels = standard_questions()
        return documents, read_judged(list(questions), qrels)
    home = collection(name)
    documents = open_corpus(home).documents(FieldNames())
    return documents, read_judged(home / "queries.jsonl", home / "qrels" / "test.tsv")


def _arms(searched: Searched, asked: JudgedVectors) -> dict[str, Callable[[], Run]]:
    """Return what is compared: a maximum over views and reciprocal ranks, too, which lost."""

    def blended(**parts: float) -> Callable[[], Run]:
        blend = replace(DENSE, **parts)
        return lambda: searched.run(asked.queries, asked.vectors, DEPTH, blend)

    def fused(method: Any) -> Callable[[], Run]:
        ids, texts = [q.id for q in asked.queries], [q.text for q in asked.queries]
        return lambda: fuse_with_bm25(
            blended()(), searched.lexical.search(texts, DEPTH).run(ids), DEPTH, method
        )

    def lexical() -> Run:
        ids, texts = [q.id for q in asked.queries], [q.text for q in asked.queries]
        return searched.lexical.search(texts, DEPTH).run(ids)

    def constant(share: float, **parts: float) -> Callable[[], Run]:
        ids, texts = [q.id for q in asked.queries], [q.text for q in asked.queries]
        words = searched.lexical.search(texts, DEPTH).run(ids)
        return lambda: fuse_with_bm25(blended(**parts)(), words, DEPTH, "min-max", share)

    whole = Blend()
    sides = {"weight": whole.weight, "hubs": whole.hubs}
    return {
        "dense": blended(),
        "BM25 alone": lexical,
        "reciprocal rank fusion": fused("rrf"),
        "BM25": blended(bm25=whole.bm25),
        "sentences by maximum": blended(weight=0.0),
        "sentences": blended(weight=whole.weight),
        "hubs": blended(hubs=whole.hubs),
        "sentences, hubs": blended(weight=whole.weight, hubs=whole.hubs),
        "sentences, BM25": blended(weight=whole.weight, bm25=whole.bm25),
        CONSTANT: constant(0.2, **sides),
        "blend, BM25 always 0.3": constant(0.3, **sides),
        "blend, hubs 0.15": blended(weight=whole.weight, hubs=0.15, bm25=whole.bm25),
        "smoothing": blended(smoothing=SMOOTHING),
        SMOOTHED: blended(**sides, bm25=whole.bm25, smoothing=SMOOTHING),
        "blend": blended(**sides, bm25=whole.bm25),
    }


def _values(ranked: Run, qrels: Any) -> dict[str, dict[str, float]]:
    per_query = evaluate(ranked, qrels, [NDCG, RECALL]).per_query
    return {m: {q: values[m] for q, values in per_query.items()} for m in (NDCG, RECALL)}


def compared(before: dict[str, float], after: dict[str, float]) -> dict[str, Any]:
    change = paired_difference(before, after, seed=0)
    return {
        "mean": round(change.mean_after, 4),
        "difference": round(change.mean_difference, 4),
        "low": None if change.low is None else round(change.low, 4),
        "high": None if change.high is None else round(change.high, 4),
        "improved": change.improved,
        "harmed": change.harmed,
    }
