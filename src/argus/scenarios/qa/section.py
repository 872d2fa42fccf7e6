"""The section of the question-answering comparison: scores per arm, differences, every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.reports.section import MAX_ROWS, Section, table
from argus.scenarios.qa.figures import mean_scores

ARMS = {
    "documents": "documents alone",
    "fused": "ranked with scenarios",
    "fused + scenarios": "ranked and shown with scenarios",
    "oracle": "relevant documents",
    "oracle + scenarios": "relevant documents with scenarios",
}
MEASURE = "nDCG@10"


def section(folder: Path, qa: dict[str, Any]) -> Section:
    """Build it from summary.json and scenarios_qa.parquet."""
    shown = [arm for arm in qa["arms"] if arm["mean"] is not None]
    plots = {"scenarios_qa": mean_scores(shown, ARMS)} if shown else {}
    tables = {
        "scenarios_qa_arms": _arms(qa["arms"]),
        "scenarios_qa_differences": _differences(qa["comparisons"]),
        "scenarios_qa_answers": _answers(folder),
    }
    if any(arm["reasons"] for arm in qa["arms"]):
        tables["scenarios_qa_reasons"] = _reasons(qa["arms"])
    return Section(plots, tables, _brief(qa))


def _brief(qa: dict[str, Any]) -> str:
    with_scenarios = next(
        (c for c in qa["comparisons"] if (c["before"], c["after"]) == tuple(ARMS)[:3:2]), None
    )
    if with_scenarios is None or with_scenarios["found"] is None:
        return f"{qa['questions']['asked']:,} questions asked"
    found = with_scenarios["found"]
    return (
        f"answers score {found['mean_before']:.1f} from documents alone, {found['mean_after']:.1f} "
        f"with scenarios (95% interval of the difference {_interval(found)}) on "
        f"{found['queries']:,} questions"
    )


def _arms(arms: list[dict[str, Any]]) -> Any:
    columns = {
        "context": "text",
        "mean score": "text",
        "95% interval": "text",
        "of questions": "count",
        "documents alone on these": "text",
        MEASURE: "share",
        "measured": "count",
        "failed": "count",
        "not applicable": "count",
        "documents cut": "count",
    }
    rows = [
        [
            ARMS[arm["arm"]],
            _number(arm["mean"]),
            f"none: {arm['no_interval']}"
            if arm["low"] is None
            else f"{arm['low']:.1f} to {arm['high']:.1f}",
            arm["questions"],
            _number(arm["documents_mean"]),
            arm[MEASURE],
            arm["states"]["measured"],
            arm["states"]["failed"],
            arm["states"]["not applicable"],
            arm["documents_cut"] + arm["documents_left_out"],
        ]
        for arm in arms
    ]
    return table(columns, rows)


def _differences(comparisons: list[dict[str, Any]]) -> Any:
    columns = {
        "before": "text",
        "after": "text",
        "questions": "count",
        "difference": "text",
        "95% interval": "text",
        "p": "text",
        "better": "count",
        "worse": "count",
        "the same": "count",
    }
    rows = []
    for comparison in comparisons:
        found = comparison["found"]
        names = [ARMS[comparison["before"]], ARMS[comparison["after"]]]
        if found is None:
            rows.append([*names, 0, "–", "none: no question was measured in both", "–", 0, 0, 0])
            continue
        rows.append(
            [
                *names,
                found["queries"],
                f"{found['mean_difference']:+.1f}",
                _interval(found),
                f"{found['p_value']:.4f}" + (" (exact)" if found["exact"] else ""),
                found["improved"],
                found["harmed"],
                found["unchanged"],
            ]
        )
    return table(columns, rows)


def _reasons(arms: list[dict[str, Any]]) -> Any:
    rows = [[ARMS[arm["arm"]], n, reason] for arm in arms for reason, n in arm["reasons"].items()]
    return table({"context": "text", "questions": "count", "why there is no score": "text"}, rows)


def _answers(folder: Path) -> Any:
    names = ["query_id", "question", "arm", "state", "reason", "score", "votes", "answer"]
    rows = pq.read_table(folder / "scenarios_qa.parquet", columns=names).to_pylist()
    columns = {
        "question": "text",
        "context": "text",
        "score": "count",
        "votes": "text",
        "answer, or why there is none": "text",
    }
    shown = [
        [
            f"{row['question']} · {row['query_id']}",
            ARMS[row["arm"]],
            row["score"],
            row["votes"],
            row["answer"] if row["state"] == "measured" else f"{row['state']}: {row['reason']}",
        ]
        for row in rows[:MAX_ROWS]
    ]
    return table(columns, shown, total=len(rows))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _interval(found: dict[str, Any]) -> str:
    if found["low"] is None:
        return f"none: {found['no_interval']}"
    return f"{found['low']:+.1f} to {found['high']:+.1f}"
