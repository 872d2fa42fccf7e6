"""The section of judged traffic: how often it fails."""

from __future__ import annotations

from pathlib import Path

from argus.reports.section import Section, Table, table
from argus.traffic.judging.summary import JudgingSummary


def section(folder: Path, summary: JudgingSummary) -> Section:
    """Build it from summary.json alone."""
    brief = "no question is judged yet"
    if summary["estimates"]:
        failure = summary["estimates"][0]
        brief = (
            f"{failure['mean']:.1%} of what is asked fails "
            f"({failure['low']:.1%} to {failure['high']:.1%})"
        )
    return Section({}, {"judging_estimates": _estimates(summary)}, brief)


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
