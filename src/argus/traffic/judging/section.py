"""The section of judged traffic: how often it fails, and where the judgements went."""

from __future__ import annotations

from pathlib import Path

from argus.measures.intervals import wilson
from argus.reports import figures
from argus.reports.section import Section, Table, table
from argus.traffic.judging.summary import JudgingSummary, StratumFigures


def section(folder: Path, summary: JudgingSummary) -> Section:
    """Build it from summary.json alone."""
    brief = "no question is judged yet"
    if summary["estimates"]:
        failure = summary["estimates"][0]
        brief = (
            f"{failure['mean']:.1%} of what is asked fails "
            f"({failure['low']:.1%} to {failure['high']:.1%})"
        )
    tables = {"judging_estimates": _estimates(summary), "judging_strata": _strata(summary)}
    plots = {}
    if sum(one["failed_share"] is not None for one in _predicted(summary)) > 1:
        plots["judging_calibration"] = _calibration(summary)
    return Section(plots, tables, brief)


def _predicted(summary: JudgingSummary) -> list[StratumFigures]:
    return [one for one in summary["strata"] if one.get("risk_mean") is not None]


def _calibration(summary: JudgingSummary) -> figures.Figure:
    """Return the share that failed over predicted risk, by stratum."""
    points = []
    for one in _predicted(summary):
        at, share = one.get("risk_mean"), one["failed_share"]
        if at is not None and share is not None:
            low, high = wilson(share, one["judged"])
            points.append(figures.CalibrationPoint(at, share, float(low), float(high)))
    return figures.calibration(
        {"judged, with 95% interval": points}, [figures.BAND_COLOURS["high"]],
        "predicted risk", "share of judged that failed",
    )  # fmt: skip


def _estimates(summary: JudgingSummary) -> Table:
    rows = [
        [
            one["measure"].replace("@k", f"@{summary['k']}"), one["mean"],
            f"{one['low']:.3f} to {one['high']:.3f}", one["judged"], one["questions"],
        ]
        for one in summary["estimates"]
    ]  # fmt: skip
    columns = {
        "measure": "text", "mean": "share", "95% interval": "text", "judged": "count",
        "questions": "count",
    }  # fmt: skip
    return table(columns, rows)


def _strata(summary: JudgingSummary) -> Table:
    columns = {
        "predicted risk": "text", "questions": "count", "asked": "count", "drawn": "count",
        "judged": "count", "of these failed": "share",
    }  # fmt: skip
    rows = [
        [_name(one), one["questions"], one["asked"], one["drawn"], one["judged"],
         one["failed_share"]]
        for one in summary["strata"]
    ]  # fmt: skip
    return table(columns, rows)


def _name(one: StratumFigures) -> str:
    if one["risk_low"] is None or one["risk_high"] is None:
        name = "not predicted"
    else:
        name = f"{one['risk_low']:.2f} to {one['risk_high']:.2f}"
    return f"{name}, asked so often that all are judged" if one["always"] else name
