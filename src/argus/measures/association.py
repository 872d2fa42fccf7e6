"""Compare the RPS of gold documents that come back and that do not (ARGUS §E.1, Table 4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.runs import ranking
from argus.data.types import Qrels, Run
from argus.measures.resamples import RESAMPLES

TABLE_4_K = (10, 20, 50)
MIN_USABLE = 0.95  # share of the bootstrap draws that must hold both groups for an interval


AssociationFigures = dict[str, Any]
"""The statistic of Table 4 at one k, see `rps_association`."""


def rps_association(
    run: Run,
    qrels: Qrels,
    max_rps: Mapping[str, float],
    *,
    seed: int,
    ks: Sequence[int] = TABLE_4_K,
    indexed: Collection[str] | None = None,
    resamples: int = RESAMPLES,
) -> list[AssociationFigures]:
    """Compare the highest RPS in retrieved and in unretrieved gold documents, for each k.

    Pairs are (query, relevant document).

    k: depth.
    retrieved: pairs with a predicted RPS whose document is in the top k.
    unretrieved: pairs with a predicted RPS whose document is not.
    not_indexed: pairs whose document the index does not hold.
    without_rps: pairs whose document has no predicted RPS.
    mean_retrieved: mean of the documents' highest predicted RPS. None without a pair.
    mean_unretrieved: the same of the pairs that are not retrieved.
    difference: retrieved less unretrieved. None without both.
    low, high: 95% bootstrap interval over queries. None if too few draws hold both groups.

    max_rps: doc_id -> highest predicted RPS of its entities, only documents that have one.
    indexed: documents of the index. None if they are not known, so that every gold document counts.
    """
    found: list[AssociationFigures] = []
    for k in ks:
        not_indexed = without_rps = 0
        sums = np.zeros((len(qrels), 4))  # by query: sum and number of retrieved, then unretrieved
        for row, query in enumerate(sorted(qrels)):
            top = set(ranking(run.get(query, {}))[:k])
            for doc in (doc for doc, grade in qrels[query].items() if grade > 0):
                if indexed is not None and doc not in indexed:
                    not_indexed += 1
                elif doc not in max_rps:
                    without_rps += 1
                else:
                    group = 0 if doc in top else 2
                    sums[row, group] += max_rps[doc]
                    sums[row, group + 1] += 1
        total = sums.sum(axis=0)
        means = [float(total[i] / total[i + 1]) if total[i + 1] else None for i in (0, 2)]
        low, high = _interval(sums, seed=seed, resamples=resamples)
        figures: AssociationFigures = {
            "k": k,
            "retrieved": int(total[1]),
            "unretrieved": int(total[3]),
            "not_indexed": not_indexed,
            "without_rps": without_rps,
            "mean_retrieved": means[0],
            "mean_unretrieved": means[1],
            "difference": None,
            "low": low,
            "high": high,
        }
        if means[0] is not None and means[1] is not None:
            figures["difference"] = means[0] - means[1]
        found.append(figures)
    return found


def _interval(
    sums: npt.NDArray[np.float64], *, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """Resample queries, whose pairs stay together. sums: (n_queries, 4)."""
    n = len(sums)
    if n < 2 or not (sums[:, [1, 3]].sum(axis=0) > 0).all():
        return None, None
    rng = np.random.default_rng(seed)
    draws = []
    for start in range(0, resamples, 1000):
        size = min(1000, resamples - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size)  # (size, n)
        draws.append(weights @ sums)  # (size, 4)
    drawn = np.concatenate(draws)
    drawn = drawn[(drawn[:, [1, 3]] > 0).all(axis=1)]
    if len(drawn) < MIN_USABLE * resamples:
        return None, None
    values = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
