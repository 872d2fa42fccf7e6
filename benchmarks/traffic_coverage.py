"""How often the interval from few judgements holds the truth, and how much narrower it is.

Every judged collection is a log whose failures are all known. 500 times questions are drawn as
`argus traffic judge` draws them, and the interval is compared with the truth, and with that of as
many questions drawn plainly, with the same kind of interval. Predictions: the risk that ships; none
of it left (shuffled); and judges that are simulated, right of each question with a probability, as
a language model that has judged every question would be. No language model was asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argus.measures.intervals import wilson
from argus.measures.prediction_powered import powered_mean
from argus.traffic.judging.estimates import QuestionVerdict, estimate_failures
from argus.traffic.judging.picking import pick_to_judge
from argus.traffic.judging.questions import ServedQuestion
from argus.traffic.risk.model import risk_model, slope_of, standing
from benchmarks.traffic_collections import FAMILIES, Log, logs

DRAWS, BUDGETS, SEED = 500, (50, 100), 0
GOAL = 0.75
"""Width over that of plain sampling."""
RETRIEVERS = ("dense", "BM25")
MEASURES = ("failure rate", "nDCG@k")
Floats = Any


def run() -> dict[str, Any]:
    cells = []
    for name in FAMILIES:
        for log in logs(name):
            if log.retriever in RETRIEVERS:
                cells += _of_log(log)
                print(name, log.retriever, [_brief(c) for c in cells[-8:]], flush=True)
    return {
        "draws": DRAWS,
        "goal": GOAL,
        "summary": _summary(cells),
        "worst_coverage": min(cells, key=lambda c: c["coverage"]),
        "cells": cells,
    }


def _predictors(log: Log, rng: np.random.Generator) -> dict[str, Floats]:
    slope = slope_of(risk_model()["vectors"]["slope"])
    z = standing(log.signals).z
    risk = slope.probability(np.nan_to_num(z))
    made = {"risk": risk, "useless": rng.permutation(risk)}
    for right in (0.8, 0.9):
        same = rng.random(len(risk)) < right
        made[f"simulated judge, {right:.0%} right"] = np.where(same, log.failed, 1 - log.failed)
    return made


def _of_log(log: Log) -> list[dict[str, Any]]:
    rng = np.random.default_rng(SEED)
    cells = []
    for budget in BUDGETS:
        if 2 * budget > len(log.failed):
            continue
        plain = [_plain(log, budget, rng) for _ in range(DRAWS)]
        for predictor, risk in _predictors(log, rng).items():
            powered = [_powered(log, risk, budget, seed) for seed in range(DRAWS)]
            cells += [_cell(log, budget, predictor, m, plain, powered) for m in MEASURES]
    return cells


Interval = tuple[float, float, float]


def _plain(log: Log, budget: int, rng: np.random.Generator) -> dict[str, Interval]:
    rows = rng.choice(len(log.failed), budget, replace=False)
    zeros = np.zeros(len(log.failed))
    values = {"failure rate": log.failed, "nDCG@k": np.clip(log.ndcg, 0, 1)}
    return {
        measure: (e.mean, e.low, e.high)
        for measure, own in values.items()
        for e in [powered_mean(zeros, rows, own[rows], tuning=0.0)]
    }


def _powered(log: Log, risk: Floats, budget: int, seed: int) -> dict[str, Interval]:
    ids = [f"{i:05d}" for i in range(len(risk))]
    by_id = dict(zip(ids, risk.tolist(), strict=True))
    strata = pick_to_judge(by_id, budget, seed=seed)
    questions = [ServedQuestion(id_, "-", ("-",), by_id[id_]) for id_ in ids]
    verdicts = {
        id_: QuestionVerdict(float(log.failed[int(id_)]), float(min(log.ndcg[int(id_)], 1)))
        for stratum in strata
        for id_ in stratum.drawn
    }
    return {
        e["measure"]: (e["mean"], e["low"], e["high"])
        for e in estimate_failures(questions, strata, verdicts)
    }


def _cell(
    log: Log, budget: int, predictor: str, measure: str,
    plain: Sequence[Mapping[str, Interval]], powered: Sequence[Mapping[str, Interval]],
) -> dict[str, Any]:  # fmt: skip
    values = log.failed if measure == "failure rate" else np.clip(log.ndcg, 0, 1)
    truth = float(values.mean())

    def covered(some: Sequence[Mapping[str, Interval]]) -> int:
        return sum(one[measure][1] - 1e-9 <= truth <= one[measure][2] + 1e-9 for one in some)

    def width(some: Sequence[Mapping[str, Interval]]) -> float:
        return float(np.mean([one[measure][2] - one[measure][1] for one in some]))

    n = covered(powered)
    low, high = wilson(n / DRAWS, DRAWS)
    return {
        "collection": log.collection, "retriever": log.retriever, "questions": len(values),
        "budget": budget, "predictor": predictor, "measure": measure, "truth": round(truth, 4),
        "coverage": n / DRAWS, "low": round(float(low), 4), "high": round(float(high), 4),
        "plain_coverage": covered(plain) / DRAWS, "width": round(width(powered), 4),
        "ratio": round(width(powered) / width(plain), 4),
        "bias": round(float(np.mean([one[measure][0] for one in powered])) - truth, 4),
    }  # fmt: skip


def _brief(cell: Mapping[str, Any]) -> str:
    return f"{cell['budget']} {cell['predictor']}: {cell['coverage']:.3f}, x{cell['ratio']:.2f}"


def _summary(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return, by predictor and measure: share of draws that hold the truth, widths over plain."""
    groups = defaultdict(list)
    for cell in cells:
        groups[f"{cell['predictor']}; {cell['measure']}"].append(cell)
    summary = {}
    for name, own in groups.items():
        share = float(np.mean([c["coverage"] for c in own]))
        low, high = wilson(share, DRAWS * len(own))
        ratios = [c["ratio"] for c in own]
        summary[name] = {
            "cells": len(own),
            "coverage": round(share, 4),
            "low": round(float(low), 4),
            "high": round(float(high), 4),
            "least_coverage": min(c["coverage"] for c in own),
            "plain_coverage": round(float(np.mean([c["plain_coverage"] for c in own])), 4),
            "mean_ratio": round(float(np.mean(ratios)), 4),
            "least_ratio": min(ratios),
            "most_ratio": max(ratios),
            "reach_goal": sum(r <= GOAL for r in ratios),
        }
    return summary
