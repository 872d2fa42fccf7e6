"""The section of stale context: answers by what was shown, and every wrong one."""

from __future__ import annotations

from pathlib import Path

from argus.authority.benchmarks.summary import ShareFigures
from argus.authority.harm.summary import HarmSummary
from argus.data.tables import read_table
from argus.reports.section import MAX_ROWS, Section, table

SHARES = {
    "correct": "correct", "wrong": "confidently wrong", "uncertain": "uncertain",
    "controlling_hit": "controlling document shown",
    "wrong_without": "wrong, none shown", "correct_with": "correct, one shown",
}  # fmt: skip


def section(folder: Path, harm: HarmSummary) -> Section:
    """Build it from summary.json and authority_harm.parquet."""
    columns = {"context": "text", "wrong, 95% interval": "interval"}
    columns |= dict.fromkeys(SHARES.values(), "share") | {"failed": "count"}
    rows: list[list[object]] = []
    for arm in harm["arms"]:
        shares: list[ShareFigures | None] = [
            arm["correct"], arm["wrong"], arm["uncertain"], arm["controlling_hit"],
            arm["wrong_without"], arm["correct_with"],
        ]  # fmt: skip
        wrong = arm["wrong"]
        interval = [wrong["low"], wrong["high"]] if wrong else None
        values = [None if of is None else of["value"] for of in shares]
        rows.append([arm["arm"], interval, *values, arm["failed"]])
    answers = [
        [row["arm"], row["question"], row["answer"], row["reason"]]
        for row in read_table(folder / "authority_harm.parquet").to_pylist()
        if row["verdict"] == "wrong"
    ]
    names = dict.fromkeys(("context", "question", "answer", "the judge's reason"), "text")
    tables = {
        "harm_arms": table(columns, rows),
        "harm_wrong": table(names, answers[:MAX_ROWS], total=len(answers)),
    }
    return Section({}, tables, _brief(harm))


def _brief(harm: HarmSummary) -> str:
    parts = [
        f"{arm['wrong']['value']:.1%} of answers from {arm['arm']} documents"
        for arm in harm["arms"]
        if arm["wrong"] is not None
    ]
    return f"confidently wrong: {', '.join(parts) or 'nothing was judged'}"
