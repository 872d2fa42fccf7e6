"""A study in words: headlines of both jobs, and the section of the report (SPIKE Figure 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import Section, Table, table

_LABELS = {"scenarios": BAND_COLOURS["high"], "tie": "#c9ced6", "rival": BAND_COLOURS["low"]}


def study_headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many pairs there are for how many people, and why some questions have none."""
    per = summary["pairs_per_sheet"]
    length = f"{min(per):,}" if min(per) == max(per) else f"{min(per):,} to {max(per):,}"
    yield (
        f"{summary['pairs']:,} pairs of {summary['drawn']:,} questions "
        f"({summary['questions']:,} in all), each judged by {summary['judges']}: "
        f"{summary['sheets']} sheets of {length}"
    )
    for one in summary["comparisons"]:
        reasons = "; ".join(f"{n:,}: {why}" for why, n in one["reasons"].items())
        without = f" ({reasons})" if reasons else ""
        yield f"against {one['versus']}: {one['measured']:,} of {one['total']:,} questions{without}"


def preference_headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the preference by each criterion, and how far raters agree."""
    answers = summary["answers"]
    missing = ", ".join(map(str, summary["missing_sheets"]))
    yield (
        f"{summary['sheets']} sheets, {answers['measured']:,} of {answers['total']:,} answers"
        + (f"; not here: sheet {missing}" if missing else "")
    )
    for one in summary["preferences"]:
        yield f"{one['criterion']}, scenarios against {one['versus']}: {_share(one)}"
    if (side := summary["side_a"])["share"] is not None:
        yield (
            f"side A was preferred in {side['share']:.1%} ({side['low']:.1%} to "
            f"{side['high']:.1%}) of {side['answers']:,} answers that name a side"
        )


def _share(one: Mapping[str, Any]) -> str:
    if one["share"] is None:
        return "no answer"
    interval = (
        f"no interval: {one['no_interval']}"
        if one["low"] is None
        else f"95% {one['low']:.1%} to {one['high']:.1%}"
    )
    alpha = one["agreement"]["alpha"]
    agree = one["agreement"]["undefined"] if alpha is None else f"alpha {alpha:.2f}"
    return (
        f"{one['share']:.1%} ({interval}) over {one['pairs']:,} pairs; {one['scenarios']:,} prefer "
        f"them, {one['tie']:,} tie, {one['rival']:,} not; {agree}"
    )


def section(folder: Path, study: Mapping[str, Any]) -> Section:
    """Build it from summary.json alone."""
    rows = study["preferences"]
    return Section(
        {"preferences": _bars(rows)},
        {"preferences": _shares(rows), "preference_agreement": _agreement(rows)},
        _brief(rows),
    )


def _brief(rows: list[dict[str, Any]]) -> str:
    shares = [
        f"{one['share']:.0%} for scenarios against {one['versus']}"
        for one in rows
        if one["criterion"] == "overall" and one["share"] is not None
    ]
    return f"people, overall: {', '.join(shares)}" if shares else "people said nothing overall"


def _name(one: Mapping[str, Any]) -> str:
    return f"{one['criterion']}, against {one['versus']}"


def _bars(rows: list[dict[str, Any]]) -> Figure:
    """Return a bar per criterion: judgements for scenarios, ties, judgements for the rival."""
    shown = [one for one in rows if one["judgements"]]
    labels: list[tuple[str, list[int]]] = [
        ("scenarios", [one["scenarios"] for one in shown]),
        ("tie", [one["tie"] for one in shown]),
        ("rival", [one["rival"] for one in shown]),
    ]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "y": [_name(one) for one in shown],
            "x": [n / one["judgements"] for n, one in zip(counts, shown, strict=True)],
            "marker": {"color": _LABELS[label]},
            "hovertemplate": "%{y}: %{x:.1%}<extra>" + label + "</extra>",
        }
        for label, counts in labels
    ]
    figure = framed(traces, "share of judgements", "", {"barmode": "stack"})
    figure["layout"]["yaxis"] |= {"autorange": "reversed", "automargin": True}
    figure["layout"] |= {"height": 120 + 32 * len(shown)}
    return figure


def _shares(rows: list[dict[str, Any]]) -> Table:
    columns = {
        "criterion": "text", "prefer scenarios": "share", "95% interval": "text", "p": "text",
        "pairs": "count", "won": "count", "even": "count", "lost": "count",
        "judgements": "count", "no answer": "count",
    }  # fmt: skip
    return table(
        columns,
        [
            [
                _name(one), one["share"],
                _interval(one),
                "" if one["p_value"] is None else f"{one['p_value']:.4f}",
                one["pairs"], one["wins"], one["even"], one["losses"], one["judgements"],
                one["no_answer"],
            ]
            for one in rows
        ],
    )  # fmt: skip


def _interval(one: Mapping[str, Any]) -> str:
    if one["low"] is None:
        return str(one["no_interval"])
    return f"{one['low']:.3f} to {one['high']:.3f}"


def _agreement(rows: list[dict[str, Any]]) -> Table:
    columns = {
        "criterion": "text", "equal answers": "share", "Krippendorff's alpha": "text",
        "Fleiss' kappa": "text", "Cohen's kappa, mean": "text", "pairs of raters": "count",
    }  # fmt: skip
    return table(
        columns,
        [
            [
                _name(one), one["agreement"]["equal"],
                _number(one["agreement"]["alpha"]) or one["agreement"]["undefined"],
                _number(one["agreement"]["kappa"]), _number(one["agreement"]["cohen"]),
                one["agreement"]["rater_pairs"],
            ]
            for one in rows
        ],
    )  # fmt: skip


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
