"""The repair's section: what was tried, what it changed, and what was kept."""

from __future__ import annotations

from pathlib import Path

from argus.measures.significance import DifferenceFigures
from argus.repair.summary import RepairSummary
from argus.reports.section import Section, table


def section(folder: Path, repair: RepairSummary) -> Section:
    """Build it from the summary alone."""
    columns = ["candidate", "nDCG@10", "difference (95%)", "improved, harmed", "R@10", "verdict"]
    rows = []
    for trial in repair["trials"]:
        ndcg, recall = trial["ndcg10"], trial["recall10"]
        verdict = "passes" if trial["passes"] else "harms" if trial["harms"] else "not proven"
        mark = ", kept" if trial["candidate"] == repair["kept"] else ""
        rows.append([
            trial["candidate"], f"{ndcg['mean_after']:.3f}", difference(ndcg),
            f"{ndcg['improved']}, {ndcg['harmed']}", f"{recall['mean_difference']:+.3f}",
            verdict + mark,
        ])  # fmt: skip
    tables = {"repair_trials": table(dict.fromkeys(columns, "text"), rows)} if rows else {}
    return Section({}, tables, f"kept {repair['kept']}, judged by {repair['judged_by']}")


def difference(figures: DifferenceFigures) -> str:
    """Return a mean difference with its interval, where it has one."""
    if figures["low"] is None or figures["high"] is None:
        return f"{figures['mean_difference']:+.3f}"
    low, high = figures["low"], figures["high"]
    return f"{figures['mean_difference']:+.3f} ({low:+.3f} to {high:+.3f})"
