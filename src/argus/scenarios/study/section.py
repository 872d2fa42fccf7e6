"""The section of a study: preferences, criterion by criterion (SPIKE Figure 4)."""

from __future__ import annotations

from pathlib import Path

from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import Section, Table, table
from argus.scenarios.study.summary import Preference, PreferenceSummary

_LABELS = {"scenarios": BAND_COLOURS["high"], "tie": "#c9ced6", "rival": BAND_COLOURS["low"]}


def section(folder: Path, study: PreferenceSummary) -> Section:
    """Build it from summary.json alone."""
    rows = study["preferences"]
    return Section(
        {"preferences": _bars(rows)},
        {"preferences": _shares(rows), "preference_agreement": _agreement(rows)},
        _brief(rows),
    )


def _brief(rows: list[Preference]) -> str:
    shares = [
        f"{one['share']:.0%} for scenarios against {one['versus']}"
        for one in rows
        if one["criterion"] == "overall" and one["share"] is not None
    ]
    return f"people, overall: {', '.join(shares)}" if shares else "people said nothing overall"


def _name(one: Preference) -> str:
    return f"{one['criterion']}, against {one['versus']}"


def _bars(rows: list[Preference]) -> Figure:
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


def _shares(rows: list[Preference]) -> Table:
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


def _interval(one: Preference) -> str:
    if one["low"] is None:
        return one["no_interval"]
    return f"{one['low']:.3f} to {one['high']:.3f}"


def _agreement(rows: list[Preference]) -> Table:
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
