"""Measures of a run against judgements, by ir-measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.data.types import Qrels, Run
from argus.errors import InputError

DEFAULT_MEASURES = ("nDCG@10", "R@10", "R@50", "RR")


@dataclass(frozen=True)
class Evaluation:
    """Every measure in aggregate and per query."""

    aggregate: dict[str, float]
    per_query: dict[str, dict[str, float]]
    """query_id -> measure -> value; every judged query is there, at 0 where nothing was found."""


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT_MEASURES) -> Evaluation:
    """Score `run` on the queries that `qrels` judges.

    Measures are named as papers write them ("nDCG@10", "R@50", "RR"). Raises InputError for a
    name that ir-measures does not know.
    """
    import ir_measures

    parsed = []
    for name in measures:
        try:
            parsed.append(ir_measures.parse_measure(name))
        except (NameError, KeyError, ValueError, SyntaxError) as error:
            raise InputError(
                f"measure {name!r}",
                expected='a name such as "nDCG@10", "R@50", "RR", "AP"',
                fix="See https://ir-measur.es for the names.",
            ) from error
    # ir-measures leaves judged queries without results out of the iteration: they score 0.
    judged = {query: run.get(query, {}) for query in qrels}
    per_query: dict[str, dict[str, float]] = {
        query: dict.fromkeys(map(str, parsed), 0.0) for query in qrels
    }
    for metric in ir_measures.iter_calc(parsed, qrels, judged):
        per_query[metric.query_id][str(metric.measure)] = float(metric.value)
    aggregate = {
        str(measure): sum(values[str(measure)] for values in per_query.values()) / len(per_query)
        for measure in parsed
    }
    return Evaluation(aggregate, per_query)
