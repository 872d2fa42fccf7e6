"""Score a run against judgements, by ir-measures."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from subprocess import SubprocessError
from typing import TYPE_CHECKING, Any

from argus.data.runs import MAX_GRADE, ranking
from argus.data.types import Qrels, Run
from argus.errors import InputError

if TYPE_CHECKING:
    from ir_measures import Measure

DEFAULT_MEASURES = ("nDCG@10", "R@10", "R@50", "RR")


@dataclass(frozen=True)
class Evaluation:
    """Every measure in aggregate and per query."""

    aggregate: dict[str, float]
    per_query: dict[str, dict[str, float]]
    """query_id -> measure -> value. Every judged query is there, at 0 where nothing was found."""


def parse_measure(name: str) -> Measure:
    """Return ir-measures' measure of that name.

    Raises InputError for an unknown name, a cutoff that is no whole number from 1 (trec_eval ends
    the process on "nDCG@0"), a least grade below 1, a gain that is no whole number from 0, a
    missing cutoff or parameter ("R"), and a measure that nothing installed can compute.
    """
    return _computable(_known(name))


def measure_name(name: str) -> str:
    """Return the standard spelling of a measure: nDCG@10 for "NDCG@10".

    Raises InputError for an unknown name and for an impossible cutoff.
    """
    return str(_known(name))


def _known(name: str) -> Measure:
    try:
        measure = _parsed(name.strip())
    except (NameError, KeyError, ValueError, SyntaxError, TypeError, RecursionError) as error:
        raise _no_measure(name, "is not known") from error
    for what, parameter in (("cutoff", "cutoff"), ("least relevant grade", "rel")):
        if not _is_whole(value := measure.params.get(parameter, 1), least=1):
            raise _no_measure(name, f"has the {what} {value}")
    gains = measure.params.get("gains") or {}
    if not all(map(_is_whole, gains.values())):  # trec_eval leaves its memory at others
        raise _no_measure(name, f"has the gains {gains}")
    return measure


def _is_whole(value: object, least: int = 0) -> bool:
    """Return whether it is a whole number that a grade can be."""
    return type(value) is int and least <= value <= MAX_GRADE


def _parsed(text: str) -> Measure:
    """Return the measure of a text such as "nDCG(dcg='exp-log2')@10".

    ir-measures' own parser (0.4.3) reads `ast.Num`, which Python 3.14 no longer has.
    """
    from ir_measures.measures import registry

    match ast.parse(text.strip()).body:
        case [ast.Expr(value=node)]:
            pass
        case _:
            raise ValueError("expected one measure")
    params: dict[str, Any] = {}
    at: ast.expr | None = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        at, node = node.right, node.left
    if isinstance(node, ast.Call) and not node.args and all(w.arg for w in node.keywords):
        params = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError("expected a name, its parameters by name, and a cutoff: P(rel=2)@10")
    measure: Measure = registry[node.id](**params)
    return measure if at is None else measure @ ast.literal_eval(at)


@cache
def _computable(measure: Measure) -> Measure:
    """Compute a measure for one query with one result, to find out whether it can be."""
    import ir_measures

    try:
        list(ir_measures.iter_calc([measure], {"1": {"d": 1}}, {"1": {"d": 1.0}}))
    except Exception as error:  # each of the libraries behind ir-measures raises its own
        lacks = re.match(r"invalid param (\w+)=<object", str(error))
        why = f"needs a {lacks[1]}" if lacks else "cannot be computed by what is installed"
        raise _no_measure(str(measure), why) from error
    return measure


def _no_measure(name: str, problem: str) -> InputError:
    return InputError(
        f"measure {name!r} {problem}",
        expected='a name such as "nDCG@10", "R@50", "RR", "AP"',
        fix="See https://ir-measur.es for the names; cutoffs and grades are whole numbers from 1, "
        "gains from 0.",
    )


def cutoff(name: str) -> int | None:
    """Return the depth that a measure reads. None if it reads the whole list."""
    depth: int | None = parse_measure(name).params.get("cutoff")
    return depth


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT_MEASURES) -> Evaluation:
    """Score `run` on the queries that `qrels` judges.

    Measures are named as papers write them ("nDCG@10", "R@50", "RR"). Equal scores rank by id.
    Raises InputError for an unknown name, if nothing is judged, and if a measure cannot be computed
    (gdeval needs Perl).
    """
    import ir_measures

    parsed = list(dict.fromkeys(parse_measure(name) for name in measures))
    if not qrels or not parsed:
        raise InputError(
            f"{len(qrels)} judged queries and {len(parsed)} measures",
            expected="at least one of each",
            fix="Check the judgements: a mean over nothing is no figure.",
        )
    # ir-measures leaves judged queries without results out of the iteration: they score 0.
    queries = list(qrels)
    per_query: dict[str, dict[str, float]] = {
        query: dict.fromkeys(map(str, parsed), 0.0) for query in queries
    }
    try:
        for metric in ir_measures.iter_calc(parsed, *_numbered(run, qrels)):
            query = queries[int(metric.query_id)]
            per_query[query][str(metric.measure)] = float(metric.value)
    except (ValueError, RuntimeError, OSError, SubprocessError) as error:
        raise InputError(
            f"one of {', '.join(map(str, parsed))} cannot be computed ({error})",
            expected="measures that the installed libraries compute for these queries",
            fix="Leave out the measures that are not nDCG, R, P, RR or AP, one by one.",
        ) from error
    aggregate = {
        str(measure): math.fsum(v[str(measure)] for v in per_query.values()) / len(per_query)
        for measure in parsed
    }
    return Evaluation(aggregate, per_query)


def _numbered(run: Run, qrels: Qrels) -> tuple[Qrels, Run]:
    """Return judgements and lists whose ids are numbers, and whose scores fall by rank.

    trec_eval ends an id at a NUL, and gdeval takes numbers alone. trec_eval keeps scores in
    float32 and ranks equal ones by descending id. The whole of Argus ranks float64 scores and
    breaks ties by ascending id.
    """
    names: list[str] = []
    """Numbers as text, shared by all queries."""
    judged: Qrels = {}
    lists: Run = {}
    for n, (query, grades) in enumerate(qrels.items()):
        ranks = {doc: rank for rank, doc in enumerate(ranking(run.get(query, {})))}
        depth = len(ranks)
        places = {doc: ranks.setdefault(doc, len(ranks)) for doc in grades}
        names.extend(map(str, range(len(names), len(ranks))))
        judged[str(n)] = {names[places[doc]]: grade for doc, grade in grades.items()}
        lists[str(n)] = {names[rank]: float(-rank) for rank in range(depth)}
    return judged, lists
