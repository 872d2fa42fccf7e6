"""Choose among the arms of a trial by their values per question, and tell what choosing gains.

Values per question of what runs and of every arm -> the verdict on each, the arm that is
recommended, and the gain of that choice, cross-validated. `argus.tuning.decide` has the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.types import Query
from argus.measures import paired_difference
from argus.tuning.arms import FUSION_ARMS, MINE
from argus.tuning.decide import BETTER, WORSE, compare_arms, recommend

MEASURE, GUARD = "nDCG@10", "R@10"  # decides, and is shown beside it
FIRST = "RR@10"  # one over the rank of the first relevant document, shown to people
HITS = "Success@10"  # whether a relevant one is among ten
MEASURES = (MEASURE, GUARD, FIRST, HITS)
BLEND = "blend"  # the default, where it could be tried
PerQuery = Mapping[str, Mapping[str, float]]
"""Query to measure to value."""


def choose(before: PerQuery, arms: Mapping[str, PerQuery], folds: int, seed: int) -> dict[str, Any]:
    """Return the verdict on every arm, the recommended one, and what choosing so gains.

    before: what runs. arms: every other way to search, on the same questions. To tell what choosing
    gains, each fold is measured under the arm that the other folds' questions choose. Keys are
    those of `argus.repair.job.ChosenRepair`.
    """
    measured = {MINE: before, **arms}

    def of(measure: str) -> dict[str, dict[str, float]]:
        return {name: {q: v[measure] for q, v in arm.items()} for name, arm in measured.items()}

    values, recalls, hits = (of(m) for m in (MEASURE, GUARD, HITS))
    default = BLEND if BLEND in arms else MINE
    fusions = [name for name in arms if name in FUSION_ARMS]
    best = max(fusions, key=lambda name: _mean(values[name]), default=MINE)
    verdicts, _ = compare_arms(values, MINE, seed=seed)

    def figures(name: str) -> dict[str, Any]:
        verdict = verdicts[name]
        gain = paired_difference(values[MINE], values[name], seed=seed).figures()
        recall = paired_difference(recalls[MINE], recalls[name], seed=seed).figures()
        return {
            "arm": name, "passes": verdict.verdict == BETTER, "harms": verdict.verdict == WORSE,
            "verdict": verdict.words(), "needed": verdict.needed, "recall10": recall,
            "ndcg10": gain | {"low": verdict.low, "high": verdict.high},
            "hits10": _mean(hits[name]),
            "over_fusion": paired_difference(values[best], values[name], seed=seed).figures(),
        }  # fmt: skip

    outcomes: dict[str, float] = {}
    by_fold = []
    for fold in deal_folds(sorted(before), folds, seed):
        kept = {
            name: {q: v for q, v in arm.items() if q not in fold} for name, arm in values.items()
        }
        by_fold.append(recommend(kept, MINE, default) if kept[MINE] else MINE)
        outcomes |= {q: values[by_fold[-1]][q] for q in fold}
    return {
        "arms": sorted(map(figures, arms), key=lambda arm: -arm["ndcg10"]["mean_difference"]),
        "cross_validated": paired_difference(values[MINE], outcomes, seed=seed).figures(),
        "chosen_by_fold": by_fold,
        "recommended": recommend(values, MINE, default),
        "best_fusion": best,
        "hits10": _mean(hits[MINE]),
    }


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values()))) if values else 0.0


def deal_folds(queries: Sequence[str], folds: int, seed: int) -> list[set[str]]:
    """Deal queries into folds at random, one each if there are fewer queries than folds."""
    order = np.random.default_rng(seed).permutation(len(queries))
    parts = np.array_split(order, min(folds, len(queries)))
    return [{queries[i] for i in part} for part in parts]


SCHEMA = pa.schema([
    ("arm", pa.string()), ("query_id", pa.string()), ("question", pa.string()),
    ("ndcg10_before", pa.float64()), ("ndcg10_after", pa.float64()),
    ("place_before", pa.int64()), ("place_after", pa.int64()),
    ("first_before", pa.string()), ("first_after", pa.string()),
])  # fmt: skip


def trial_table(
    before: PerQuery,
    after: Mapping[str, PerQuery],
    queries: Sequence[Query],
    first: Mapping[str, Mapping[str, str]],
) -> pa.Table:
    """Return one row per arm and question, in the order of the questions.

    arm: way to search that was tried.
    ndcg10_before, ndcg10_after: nDCG@10 of the question, without and with it.
    place_before, place_after: rank of the first relevant document, null beyond the first 10.
    first_before, first_after: the beginning of the first document's text, "" where none came.

    first: these texts by arm and question.
    """

    def place(values: Mapping[str, float]) -> int | None:
        return round(1 / values[FIRST]) if values[FIRST] > 0 else None

    rows = [
        {
            "arm": arm, "query_id": query.id, "question": query.text,
            "ndcg10_before": before[query.id][MEASURE], "ndcg10_after": values[query.id][MEASURE],
            "place_before": place(before[query.id]), "place_after": place(values[query.id]),
            "first_before": first[MINE][query.id], "first_after": first[arm][query.id],
        }
        for arm, values in after.items()
        for query in queries
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)
