"""What anchors two stages should start from: BM25, MiniLM, and the two fused in four ways.

FinSuperQA, GHSA and SCOTUS as they are. TCA@5 and controlling-hit@5 of two stages, TCA@5 of the
ranking alone, and where the anchor is found; each fusion against reciprocal ranks, question by
question. The rule, fixed before the run: another fusion becomes the default where TCA@5 of two
stages or the anchor in the top 5 is better with an interval above zero on one collection, and
neither is lower by more than 0.005 on any.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from argus.authority.benchmarks import finsuperqa
from argus.authority.benchmarks.answers import answer_of
from argus.authority.benchmarks.first_stages import FirstStages, Rankings
from argus.authority.benchmarks.metrics import Judge
from argus.authority.benchmarks.score import ANCHOR_DEPTHS, Scored, score, summarise
from argus.authority.benchmarks.source import open_benchmark
from argus.authority.benchmarks.systems import Bench, Outcomes, direct, two_stage
from argus.authority.benchmarks.types import Benchmark
from argus.encoders import EmbeddingStore, Encoder, load_encoder
from argus.measures.significance import paired_difference
from benchmarks.authority_quality import ENCODER, REAL, RULES, K
from benchmarks.shared import collection

BASELINE, HARM = "rrf", 0.005
WEIGHTS = (0.2, 0.5, 0.8)
"""What BM25 counts under min-max."""


def run() -> dict[str, Any]:
    encoder = load_encoder(ENCODER).encoder
    rows: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as home,
        EmbeddingStore(Path(home), fingerprint=encoder.fingerprint, dim=encoder.dim) as store,
    ):
        for name, benchmark in _benchmarks().items():
            rows += _rows(name, benchmark, encoder, store)
            print(f"{name}: {len(benchmark.questions)} questions", flush=True)
    arms = [f"min-max {weight:g}" for weight in WEIGHTS]
    return {"k": K, "rule": {arm: _verdict(arm, rows) for arm in arms}, "rows": rows}


def _benchmarks() -> dict[str, Benchmark]:
    real = {
        name: open_benchmark(collection(folder), queries, RULES if ruled else None).benchmark
        for name, (folder, queries, ruled) in REAL.items()
        if not name.endswith("edges")
    }
    made = {
        "finsuperqa": finsuperqa.make(seed=0),
        "finsuperqa contaminated": finsuperqa.make(seed=0, contaminated=True),
    }
    return real | made


def _rows(
    name: str, benchmark: Benchmark, encoder: Encoder, store: EmbeddingStore
) -> list[dict[str, Any]]:
    stages = FirstStages(benchmark, encoder=encoder, store=store, k=K)
    arms = {"bm25": stages.bm25, "dense": stages.dense, BASELINE: stages.fused("rrf")}
    arms |= {f"min-max {w:g}": stages.fused("min-max", w) for w in WEIGHTS}
    bench = Bench(benchmark, stages, k=K)
    scored = {arm: _scored(bench, rankings) for arm, rankings in arms.items()}
    return [
        {"benchmark": name, "anchors": arm, **_figures(*both, *scored[BASELINE])}
        for arm, both in scored.items()
    ]


def _scored(bench: Bench, rankings: Rankings) -> tuple[list[Scored], list[Scored]]:
    """Return the questions under two stages, and under the ranking alone."""
    judge = Judge(bench.benchmark, lambda q, ids: answer_of(ids, q.scope, bench.relation))

    def judged(outcomes: Outcomes) -> list[Scored]:
        return score(bench.benchmark, outcomes, judge, k=K)

    return judged(two_stage(bench, rankings)), judged(direct(bench, rankings))


def _figures(
    staged: list[Scored], alone: list[Scored], base: list[Scored], base_alone: list[Scored]
) -> dict[str, Any]:
    summary = summarise(staged)
    recall = summary["anchor_recall_at"]
    return {
        "tca": _share(summary["overall"]["tca"]),
        "controlling_hit": _share(summary["overall"]["controlling_hit"]),
        "tca_alone": _share(summarise(alone)["overall"]["tca"]),
        "anchor_recall_at": {str(d): _share(recall[str(d)])[0] for d in ANCHOR_DEPTHS},
        "to_rrf": {
            "tca": _difference(_tca(base), _tca(staged)),
            "anchor": _difference(_anchors(base), _anchors(staged)),
            "tca_alone": _difference(_tca(base_alone), _tca(alone)),
        },
    }


def _tca(scored: list[Scored]) -> dict[str, float]:
    return {s.question.id: float(s.figures.tca) for s in scored if s.figures is not None}


def _anchors(scored: list[Scored]) -> dict[str, float]:
    return {s.question.id: float(bool(s.has_anchor)) for s in scored}


def _difference(base: dict[str, float], values: dict[str, float]) -> dict[str, Any]:
    change = paired_difference(base, values, seed=0)
    return {
        "mean": round(change.mean_difference, 4),
        "low": None if change.low is None else round(change.low, 4),
        "high": None if change.high is None else round(change.high, 4),
        "improved": change.improved,
        "harmed": change.harmed,
    }


def _verdict(arm: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return where the rule's figures of a fusion are above reciprocal ranks, and where below."""
    above, below = [], []
    for row in rows:
        for figure in ("tca", "anchor") if row["anchors"] == arm else ():
            change = row["to_rrf"][figure]
            place = f"{row['benchmark']}: {figure}"
            above += [place] if (change["low"] or 0) > 0 else []
            below += [place] if change["mean"] < -HARM else []
    return {"above_zero": above, "harmed": below, "passes": bool(above) and not below}


def _share(share: Any) -> list[float]:
    return [round(share[key], 4) for key in ("value", "low", "high")]
