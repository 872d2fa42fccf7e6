"""Measures of a run against judgements, by ir-measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argus.data.runs import ranking
from argus.data.types import Qrels, Run
from argus.errors import InputError

DEFAULT_MEASURES = ("nDCG@10", "R@10", "R@50", "RR")


@dataclass(frozen=True)
class Evaluation:
    """Every measure in aggregate and per query."""

    aggregate: dict[str, float]
    per_query: dict[str, dict[str, float]]
    """query_id -> measure -> value; every judged query is there, at 0 where nothing was found."""


def parse_measure(name: str) -> Any:
    """Return ir-measures' measure of that name; InputError for one that it does not know."""
    import ir_measures

    try:
        return ir_measures.parse_measure(name)
    except (NameError, KeyError, ValueError, SyntaxError, TypeError) as error:
        raise InputError(
            f"measure {name!r}",
            expected='a name such as "nDCG@10", "R@50", "RR", "AP"',
            fix="See https://ir-measur.es for the names.",
        ) from error


def cutoff(name: str) -> int | None:
    """Return how far down a list the measure looks; None when it reads the whole list."""
    measure = parse_measure(name)
    return int(measure["cutoff"]) if "cutoff" in measure.params else None


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT_MEASURES) -> Evaluation:
    """Score `run` on the queries that `qrels` judges.

    Measures are named as papers write them ("nDCG@10", "R@50", "RR"). Equal scores rank by id.
    Raises InputError for a name that ir-measures does not know, and when nothing is judged.
    """
    import ir_measures

    parsed = [parse_measure(name) for name in measures]
    if not qrels or not parsed:
        raise InputError(
            f"{len(qrels)} judged queries and {len(parsed)} measures",
            expected="at least one of each",
            fix="Check the judgements: a mean over nothing is no figure.",
        )
    # ir-measures leaves judged queries without results out of the iteration: they score 0.
    judged = {query: _by_rank(run.get(query, {})) for query in qrels}
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


def _by_rank(scores: dict[str, float]) -> dict[str, float]:
    """Return scores that fall by rank.

    trec_eval keeps scores in float32 and ranks equal ones by descending id; the whole of Argus
    ranks float64 scores and breaks ties by ascending id.
    """
    return {doc: float(-rank) for rank, doc in enumerate(ranking(scores))}
