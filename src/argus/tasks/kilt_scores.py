"""R-precision and recall over sets of evidence, as KILT defines them (Petroni et al., 2021, 5.1).

An answer may be supported by one of several sets of pages. R-precision is that of the set which
fares best. In recall at k a whole set is one point, at the rank of its last page. Other pages are a
point each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from argus.data.runs import ranking
from argus.data.types import Run
from argus.measures import Evaluation

R_PRECISION = "Rprec"
_RECALL = re.compile(r"R@(\d+)")


def with_evidence(
    evaluation: Evaluation, run: Run, evidence: Mapping[str, Sequence[frozenset[str]]]
) -> Evaluation:
    """Return an evaluation with R-precision and recall of sets, and the rest as it is."""
    per_query = {query: dict(values) for query, values in evaluation.per_query.items()}
    for query, values in per_query.items():
        ranks, sets = ranking(run.get(query, {})), evidence.get(query)
        for measure in values if sets else ():
            if measure == R_PRECISION:
                values[measure] = r_precision(ranks, sets or ())
            elif depth := _RECALL.fullmatch(measure):
                values[measure] = recall(ranks, sets or (), int(depth[1]))
    n = len(per_query)
    aggregate = {
        measure: sum(values[measure] for values in per_query.values()) / n
        for measure in evaluation.aggregate
    }
    return Evaluation(aggregate, per_query)


def r_precision(ranks: Sequence[str], sets: Sequence[frozenset[str]]) -> float:
    """Return the share of the first |set| documents that are in the set, of the best set."""
    return max(len(one.intersection(ranks[: len(one)])) / len(one) for one in sets)


def recall(ranks: Sequence[str], sets: Sequence[frozenset[str]], k: int) -> float:
    """Return the share of sets that are whole within the first k points."""
    last: dict[int, int] = {}  # of a set: the point at which its latest document stands
    points: list[int | None] = []  # the set of each point; None for another document
    missing = [set(one) for one in sets]
    for document in ranks:
        of = [number for number, rest in enumerate(missing) if document in rest]
        if not of:
            points.append(None)
        for number in of:
            missing[number].discard(document)
            last[number] = len(points)
            points.append(number)
    merged = [p for at, p in enumerate(points) if p is None or last[p] == at]
    return sum(p is not None and not missing[p] for p in merged[:k]) / len(sets)
