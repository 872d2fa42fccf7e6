"""The repair's section: what was tried, what it changed, and what was kept."""

from __future__ import annotations

from pathlib import Path

from argus.measures.coverage import coverage_words
from argus.measures.significance import with_interval
from argus.repair.summary import RepairSummary, verdict_words
from argus.reports.section import Section, table


def section(folder: Path, repair: RepairSummary) -> Section:
    """Build it from the summary alone."""
    columns = ["candidate", "nDCG@10", "difference (95%)", "improved, harmed", "R@10"]
    columns += ["a gain where", "verdict"]
    rows = []
    for trial in repair["trials"]:
        ndcg, recall = trial["ndcg10"], trial["recall10"]
        mark = ", kept" if trial["candidate"] == repair["kept"] else ""
        rows.append([
            trial["candidate"], f"{ndcg['mean_after']:.3f}", with_interval(ndcg),
            f"{ndcg['improved']}, {ndcg['harmed']}", f"{recall['mean_difference']:+.3f}",
            coverage_words(trial["coverage"]) or "all documents have it",
            verdict_words(trial) + mark,
        ])  # fmt: skip
    tables = {"repair_trials": table(dict.fromkeys(columns, "text"), rows)} if rows else {}
    return Section({}, tables, f"kept {repair['kept']}, judged by {repair['judged_by']}")
