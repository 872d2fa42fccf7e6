"""The figures that the gate checks, read from a job's part of summary.json.

A figure is a mean of values in 0..1 over n things. With f more that failed to be measured, its
best and worst possible values are (n·v + f)/(n + f) and n·v/(n + f), or the other way round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any


class NotMeasured(Exception):
    """There is no such figure; the text says why and what to run."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, and what it could be at best and worst, had nothing failed."""

    value: float
    best: float
    worst: float
    note: str


def _number(value: Any, what: str) -> float:
    """Return a finite number; NotMeasured for anything else that a broken summary may hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise NotMeasured(f"{value!r} is no {what}: run it again")
    return float(value)


def _count(value: Any) -> int:
    number = _number(value, "count")
    if number < 0 or number != int(number):
        raise NotMeasured(f"{value!r} is no count: run it again")
    return int(number)


def _share(value: Any) -> float:
    number = _number(value, "figure")
    if not 0 <= number <= 1:
        raise NotMeasured(f"{value!r} is no figure from 0 to 1: run it again")
    return number


def _mean(
    value: Any, n: Any, failed: Any, *, high_is_good: bool, of: str, lost: str = "that failed"
) -> Figure:
    n, failed = _count(n), _count(failed)
    if value is None or not n:
        raise NotMeasured(f"measured on no {of}; the report of the folder says why")
    value = _share(value)
    low, high = value * n / (n + failed), (value * n + failed) / (n + failed)
    best, worst = (high, low) if high_is_good else (low, high)
    note = f", {n:,} {of}" + (f" and {failed:,} {lost}" if failed else "")
    return Figure(value, best, worst, note)


def low_rps_share(audit: dict[str, Any], _: object = None) -> Figure:
    """Share of the scored entities with RPS below 0.33."""
    return _of_entities(audit, "share_below_0.33", high_is_good=False)


def mean_rps(audit: dict[str, Any], _: object = None) -> Figure:
    """Mean RPS of the scored entities."""
    return _of_entities(audit, "mean_rps", high_is_good=True)


def _of_entities(section: dict[str, Any], name: str, *, high_is_good: bool) -> Figure:
    counts = section["entities"]
    figure = _mean(
        section[name],
        counts["measured"],
        counts["failed"],
        high_is_good=high_is_good,
        of="entities",
    )
    without = _count(counts["not applicable"])
    return replace(figure, note=figure.note + f"; {without:,} have no RPS" * (without > 0))


def at_risk_share(diagnosis: dict[str, Any], _: object = None) -> Figure:
    """Share of the scored entities that are predicted not to come back, once per document.

    Entities on which the probe abstained are at risk or not like others: they count as those that
    failed do.
    """
    counts = diagnosis["entities"]
    unknown = _count(counts["failed"]) + _count(counts["not applicable"])
    figure = _mean(
        diagnosis["share_flagged"],
        counts["measured"],
        unknown,
        high_is_good=False,
        of="entities",
        lost="without a prediction",
    )
    note = f" (predicted RPS below {_share(diagnosis['tau']):g}){figure.note}"
    return Figure(figure.value, figure.best, figure.worst, note)


def never_retrieved(exposure: dict[str, Any], _: object = None) -> Figure:
    """Share of the documents with text that no query brought back."""
    counts = exposure["documents"]
    without = _count(counts["failed"]) + _count(counts["reasons"].get("no text", 0))
    n = _count(counts["total"]) - without
    value = _count(exposure["never_retrieved"]) / n if n else None
    return _mean(value, n, counts["failed"], high_is_good=False, of="documents")


def self_retrieval(exposure: dict[str, Any], _: object = None) -> Figure:
    """Share of all probes, titles and sentences, that bring their own document back."""
    kinds = [exposure[kind] for kind in ("title", "sentence") if exposure[kind]["probes"]]
    n = sum(_count(kind["probes"]) for kind in kinds)
    found = sum(kind["probes"] * _share(kind["success_at_k"]) for kind in kinds)
    value = found / n if n else None
    failed = exposure["probes_failed"]
    figure = _mean(value, n, failed, high_is_good=True, of="probes")
    return Figure(
        figure.value, figure.best, figure.worst, f" in the top {exposure['k']}{figure.note}"
    )


def measure(evaluation: dict[str, Any], name: str) -> Figure:
    """Return a measure of the last system: the only one, or the one after the change."""
    system = evaluation["systems"][-1]
    if name not in system["measures"]:
        raise NotMeasured(f"{name} is not among the measures: run argus evaluate --measures {name}")
    queries = evaluation["queries"]
    figure = _mean(
        system["measures"][name],
        queries["measured"],
        queries["failed"],
        high_is_good=True,
        of="queries",
    )
    return Figure(figure.value, figure.best, figure.worst, f" ({name}){figure.note}")


def drop(evaluation: dict[str, Any], name: str) -> Figure:
    """Return how much the mean of a measure fell; negative where it rose."""
    found = _compared(evaluation, name)
    n, failed = _count(found["queries"]), _count(evaluation["queries"]["failed"])
    value = -_number(found["mean_difference"], "figure")
    if abs(value) > 1:
        raise NotMeasured(f"{-value!r} is no difference of figures from 0 to 1: run it again")
    best, worst = (value * n - failed) / (n + failed), (value * n + failed) / (n + failed)
    note = f" ({name}), {n:,} queries" + (f" and {failed:,} that failed" if failed else "")
    return Figure(value, best, worst, note)


def harmed_share(evaluation: dict[str, Any], name: str) -> Figure:
    """Return the share of the queries on which a measure fell."""
    found = _compared(evaluation, name)
    n, failed = _count(found["queries"]), evaluation["queries"]["failed"]
    value = _count(found["harmed"]) / n if n else None
    figure = _mean(value, n, failed, high_is_good=False, of="queries")
    return Figure(figure.value, figure.best, figure.worst, f" ({name}){figure.note}")


def _compared(evaluation: dict[str, Any], name: str) -> dict[str, Any]:
    comparison = evaluation["comparison"]
    if comparison is None:
        raise NotMeasured("only one system was evaluated: run argus evaluate with two")
    if name not in comparison:
        raise NotMeasured(f"{name} is not among the measures: run argus evaluate --measures {name}")
    if not comparison[name]["queries"]:
        raise NotMeasured("measured on no queries; the report of the folder says why")
    return dict(comparison[name])
