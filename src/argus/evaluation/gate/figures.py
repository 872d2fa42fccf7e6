"""The figures that the gate checks, read from a job's part of summary.json.

A figure is a mean of values in 0..1 over n things. With f more that failed to be measured, its
best and worst possible values are (n·v + f)/(n + f) and n·v/(n + f), or the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from argus.evaluation.gate.reading import Value


class NotMeasured(Exception):
    """There is no such figure; the text says why and what to run."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, and what it could be at best and worst, had nothing failed."""

    value: float
    best: float
    worst: float
    note: str


def _mean(
    value: float | None,
    n: int,
    failed: int,
    *,
    high_is_good: bool,
    of: str,
    lost: str = "that failed",
) -> Figure:
    if value is None or not n:
        raise NotMeasured(f"measured on no {of}; the report of the folder says why")
    low, high = value * n / (n + failed), (value * n + failed) / (n + failed)
    best, worst = (high, low) if high_is_good else (low, high)
    note = f", {n:,} {of}" + (f" and {failed:,} {lost}" if failed else "")
    return Figure(value, best, worst, note)


def _share(value: Value) -> float | None:
    """Return a share; None where there is none."""
    return None if value.missing else value.share()


def low_rps_share(audit: Value) -> Figure:
    """Share of the scored entities with RPS below 0.33."""
    return _of_entities(audit, "share_below_0.33", high_is_good=False)


def mean_rps(audit: Value) -> Figure:
    """Mean RPS of the scored entities."""
    return _of_entities(audit, "mean_rps", high_is_good=True)


def _of_entities(audit: Value, name: str, *, high_is_good: bool) -> Figure:
    counts = audit["entities"]
    figure = _mean(
        _share(audit[name]),
        counts["measured"].count(),
        counts["failed"].count(),
        high_is_good=high_is_good,
        of="entities",
    )
    without = counts["not applicable"].count()
    return replace(figure, note=figure.note + f"; {without:,} have no RPS" * (without > 0))


def at_risk_share(diagnosis: Value) -> Figure:
    """Share of the scored entities that are predicted not to come back, once per document.

    Entities on which the probe abstained are at risk or not like others: they count as those that
    failed do.
    """
    counts = diagnosis["entities"]
    figure = _mean(
        _share(diagnosis["share_flagged"]),
        counts["measured"].count(),
        counts["failed"].count() + counts["not applicable"].count(),
        high_is_good=False,
        of="entities",
        lost="without a prediction",
    )
    note = f" (predicted RPS below {diagnosis['tau'].share():g}){figure.note}"
    return replace(figure, note=note)


def never_retrieved(exposure: Value) -> Figure:
    """Share of the documents with text that no query brought back."""
    counts, documents = exposure["documents"], exposure["never_retrieved"].count()
    failed, reasons = counts["failed"].count(), counts["reasons"]
    unknown = ("no text", "not drawn")  # the second where a sample was asked for
    unread = failed + sum(reasons[why].count() for why in unknown if why in reasons)
    n = counts["total"].count() - unread
    if n < 0:
        raise counts["total"].wrong(
            f"at least {unread}, those that failed, or have no text, or were not drawn"
        )
    if documents > n > 0:
        raise exposure["never_retrieved"].wrong(f"at most {n}, the documents with text")
    value = documents / n if n else None
    return _mean(value, n, failed, high_is_good=False, of="documents")


def self_retrieval(exposure: Value) -> Figure:
    """Share of all probes, titles and sentences, that bring their own document back."""
    kinds = {kind: exposure[kind]["probes"].count() for kind in ("title", "sentence")}
    successes = sum(n * exposure[kind]["success_at_k"].share() for kind, n in kinds.items() if n)
    n = sum(kinds.values())
    failed = exposure["probes_failed"].count()
    figure = _mean(successes / n if n else None, n, failed, high_is_good=True, of="probes")
    return replace(figure, note=f" in the top {exposure['k'].count()}{figure.note}")


def unreachable_share(reach: Value) -> Figure:
    """Share of a store's records that their own vector does not find, or that have none.

    Where a sample was asked for, its share stands for all records with a vector.
    """
    reachable, drawn = reach["reachable"].count(), reach["reached"]["asked"].count()
    broken = sum(one.count() for one in reach["broken"].values())
    n = reachable + broken
    lost = reachable * (1 - reach["reached"]["share"].share()) if drawn else 0.0
    value = (broken + lost) / n if n and (drawn or not reachable) else None
    figure = _mean(value, n, 0, high_is_good=False, of="records")
    sample = f"; {drawn:,} of them were asked for" * (drawn < reachable)
    return replace(figure, note=f" in the top {reach['k'].count()}{figure.note}{sample}")


def index_recall(reach: Value) -> Figure:
    """Recall@k of what a store serves: of real queries where there were any, else of records."""
    queries = not reach["recall_of_queries"].missing
    recall = reach["recall_of_queries" if queries else "recall"]
    if recall.missing:
        raise NotMeasured("nothing was compared with an exact search")
    figure = _mean(
        recall["recall"].share(), recall["queries"].count(), 0,
        high_is_good=True, of="queries" if queries else "records asked for by their own vectors",
    )  # fmt: skip
    return replace(figure, note=f" (recall@{reach['k'].count()}){figure.note}")


def measure(evaluation: Value, name: str) -> Figure:
    """Return a measure of the last system: the only one, or the one after the change."""
    measures = evaluation["systems"].last()["measures"]
    if name not in measures:
        raise _not_evaluated(name)
    queries = evaluation["queries"]
    figure = _mean(
        _share(measures[name]),
        queries["measured"].count(),
        queries["failed"].count(),
        high_is_good=True,
        of="queries",
    )
    return replace(figure, note=f" ({name}){figure.note}")


def drop(evaluation: Value, name: str) -> Figure:
    """Return how much the mean of a measure fell; negative where it rose."""
    difference, n = _difference(evaluation, name)
    failed = evaluation["queries"]["failed"].count()
    value = -difference["mean_difference"].difference()
    best, worst = (value * n - failed) / (n + failed), (value * n + failed) / (n + failed)
    note = f" ({name}), {n:,} queries" + (f" and {failed:,} that failed" if failed else "")
    return Figure(value, best, worst, note)


def harmed_share(evaluation: Value, name: str) -> Figure:
    """Return the share of the queries on which a measure fell."""
    difference, n = _difference(evaluation, name)
    harmed, failed = difference["harmed"].count(), evaluation["queries"]["failed"].count()
    if harmed > n:
        raise difference["harmed"].wrong(f"at most {n}, the queries")
    figure = _mean(harmed / n, n, failed, high_is_good=False, of="queries")
    return replace(figure, note=f" ({name}){figure.note}")


def _difference(evaluation: Value, name: str) -> tuple[Value, int]:
    """Return the paired difference of a measure, and of how many queries it is."""
    comparison = evaluation["comparison"]
    if comparison.missing:
        raise NotMeasured("only one system was evaluated: run argus evaluate with two")
    if name not in comparison:
        raise _not_evaluated(name)
    queries = comparison[name]["queries"].count()
    if not queries:
        raise NotMeasured("measured on no queries; the report of the folder says why")
    return comparison[name], queries


def _not_evaluated(name: str) -> NotMeasured:
    return NotMeasured(f"{name} is not among the measures: run argus evaluate --measures {name}")
