"""Decide by 50 judged questions as `argus tune try` does, and measure the decision on the rest.

Shared collections of at least 100 judged questions, indexed and blended with the default encoder.
50 questions are drawn 200 times. Beside the decision: always what runs, always the blend, always
min-max 0.3, and the best arm of the 50 without care. What runs is the vectors alone, or RRF (60).
Regret: nDCG@10 of the best arm on the rest, less that of the arm taken. TUNING_INDICES=FOLDER keeps
the indexes, so that another run embeds nothing.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.encoders import EncoderConfig, load_encoder
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.remedies.blend import blend_index
from argus.repair import RepairConfig
from argus.repair.job import repair_index
from argus.tuning.arms import DENSE, JudgedVectors, Searched, part_and_fusion_runs
from argus.tuning.decide import BETTER, WORSE, compare_arms, recommend
from benchmarks.blend_quality import DEPTH, NDCG, judged_collection
from benchmarks.shared import collection

COLLECTIONS = ("anthropic_docs", "contextual_code", "cosqa", "cranfield", "hotpot100",
               "theoremqa_theorems", "impliret_wknow_multi", "xquad_en", "demo")  # fmt: skip
DRAWN, DRAWS, VERDICTS = 50, 200, 40  # verdicts are told of the first draws
BLEND, CARELESS, DECIDED = "blend", "best of the 50", "decided"
MINE = "vectors alone", "RRF (60)"
HARM = 0.01


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig())
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(os.environ.get("TUNING_INDICES", temporary))
        for name in COLLECTIONS:
            arms = measured_arms(name, home / name / "index", encoder)
            means = {arm: float(values.mean()) for arm, values in arms.items()}
            results[name] = {"questions": len(arms[BLEND]), "nDCG@10": _rounded(means)}
            results[name] |= {mine: decisions(arms, mine) for mine in MINE}
            print(name, results[name], flush=True)
        texts = further_texts(home / "texts", encoder)
    every = [results[name] for name in COLLECTIONS]
    return {"collections": results, "summaries of anthropic_docs": texts} | {
        f"mean, {mine} runs": {
            figure: _rounded({way: np.mean([r[mine][figure][way] for r in every])
                              for way in every[0][mine][figure]})
            for figure in every[0][mine]
        }
        for mine in MINE
    }  # fmt: skip


def measured_arms(name: str, index: Path, encoder: Any) -> dict[str, FloatArray]:
    """Return nDCG@10 of each question, (n,), for the blend, the parts and their fusions."""
    documents, judged = judged_collection(name)
    build_index(documents, out=index, encoder=encoder)
    blend_index(index, encoder=encoder)
    opened = ViewIndex.open(index)
    vectors = encoder.encode_queries([q.text for q in judged.queries])
    of = JudgedVectors(judged.queries, vectors, judged.qrels)
    retriever = IndexRetriever(opened, encoder)
    searched = Searched(opened.snapshot(), retriever.lexical())
    dense = searched.run(of.queries, vectors, DEPTH, DENSE)
    words = searched.lexical.search([q.text for q in of.queries], DEPTH)
    runs = part_and_fusion_runs(dense, words.run([q.id for q in of.queries]), DEPTH)
    runs[BLEND] = retriever.rank(of.queries, vectors, DEPTH)
    ids = [q.id for q in of.queries]
    per_query = {arm: of.measure(ranked, NDCG) for arm, ranked in runs.items()}
    return {arm: np.array([v[q][NDCG] for q in ids]) for arm, v in per_query.items()}


def further_texts(index: Path, encoder: Any) -> dict[str, Any]:
    """Return what summaries add on anthropic_docs: to the vectors, and to the best fixed fusion."""
    documents, judged = judged_collection("anthropic_docs")
    build_index(documents, out=index, encoder=encoder)
    texts = f"texts:{collection('anthropic_docs') / 'summaries.jsonl'}"
    tried = repair_index(
        index, queries=judged.queries, qrels=judged.qrels, arm=[texts], encoder=encoder,
        config=RepairConfig(only_try=True),
    ).summary  # fmt: skip
    figures = ("mean_difference", "low", "high", "improved", "harmed")
    return {
        "best fixed fusion": tried["best_fusion"],
        "recommended": Path(tried["recommended"]).name,
    } | {
        Path(arm["arm"]).name: {
            of: {f: arm[of][f] for f in figures} for of in ("ndcg10", "over_fusion")
        }
        for arm in tried["arms"]
        if arm["arm"].startswith("texts:")
    }


def decisions(arms: dict[str, FloatArray], mine: str) -> dict[str, dict[str, float]]:
    """Return regret, share of draws worse than what runs, and of wrong verdicts, per way."""
    n, rng = len(arms[mine]), np.random.default_rng(0)
    ways = (mine, BLEND, "min-max 0.3", CARELESS, DECIDED)
    regret = dict.fromkeys(ways, 0.0)
    worse, wrong = dict(regret), 0.0
    truth = {arm: values.mean() - arms[mine].mean() for arm, values in arms.items()}
    for draw in range(DRAWS):
        drawn = np.isin(np.arange(n), rng.permutation(n)[:DRAWN])
        rest = {arm: float(values[~drawn].mean()) for arm, values in arms.items()}
        few = {
            arm: dict(zip(map(str, range(DRAWN)), values[drawn].tolist(), strict=True))
            for arm, values in arms.items()
        }
        careless = max(arms, key=lambda arm: arms[arm][drawn].mean())
        taken = dict(zip(ways, ways, strict=True)) | {
            CARELESS: careless, DECIDED: recommend(few, mine, BLEND),
        }  # fmt: skip
        for way, arm in taken.items():
            regret[way] += (max(rest.values()) - rest[arm]) / DRAWS
            worse[way] += (rest[arm] < rest[mine] - HARM) / DRAWS
        if draw < VERDICTS:
            found = compare_arms(few, mine, seed=draw)[0]
            gains = {BETTER: lambda arm: truth[arm] <= 0, WORSE: lambda arm: truth[arm] >= 0}
            wrong += any(v.verdict in gains and gains[v.verdict](v.arm) for v in found.values())
    return {"regret": _rounded(regret), "worse than what runs": _rounded(worse),
            "draws with a wrong verdict": {DECIDED: round(wrong / VERDICTS, 4)}}  # fmt: skip


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in values.items()}
