"""The section of the question-answering comparison: scores per arm, differences, every answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from typing_extensions import TypedDict

from argus.data.tables import read_records
from argus.measures.significance import DifferenceFigures
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import MAX_ROWS, Section, Table, table
from argus.scenarios.qa.summary import MEASURE, ArmComparison, ArmSummary, QASummary

ARMS = {
    "documents": "documents alone",
    "fused": "ranked with scenarios",
    "fused + scenarios": "ranked and shown with scenarios",
    "oracle": "relevant documents",
    "oracle + scenarios": "relevant documents with scenarios",
}


class AnswerRow(TypedDict):
    """One question in one arm, as far as the report shows it. votes: in words."""

    query_id: str
    question: str
    arm: str
    state: str
    reason: str
    score: float | None
    votes: str
    answer: str


def section(folder: Path, qa: QASummary) -> Section:
    """Build it from summary.json and scenarios_qa.parquet."""
    measured = any(arm["mean"] is not None for arm in qa["arms"])
    plots = {"scenarios_qa": mean_scores(qa["arms"], ARMS)} if measured else {}
    tables = {
        "scenarios_qa_arms": _arms(qa["arms"]),
        "scenarios_qa_differences": _differences(qa["comparisons"]),
        "scenarios_qa_answers": _answers(folder),
    }
    if any(arm["reasons"] for arm in qa["arms"]):
        tables["scenarios_qa_reasons"] = _reasons(qa["arms"])
    return Section(plots, tables, _brief(qa))


def _brief(qa: QASummary) -> str:
    with_scenarios = next(
        (c for c in qa["comparisons"] if (c["before"], c["after"]) == tuple(ARMS)[:3:2]), None
    )
    if with_scenarios is None or with_scenarios["found"] is None:
        return f"{qa['questions']['asked']:,} questions asked"
    change = with_scenarios["found"]
    return (
        f"answers score {change['mean_before']:.1f} from documents alone, "
        f"{change['mean_after']:.1f} with scenarios (95% interval of the difference "
        f"{_interval(change)}) on {change['queries']:,} questions"
    )


def _arms(arms: list[ArmSummary]) -> Table:
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


def _differences(comparisons: list[ArmComparison]) -> Table:
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
        change = comparison["found"]
        names = [ARMS[comparison["before"]], ARMS[comparison["after"]]]
        if change is None:
            rows.append([*names, 0, "–", "none: no question was measured in both", "–", 0, 0, 0])
            continue
        rows.append(
            [
                *names,
                change["queries"],
                f"{change['mean_difference']:+.1f}",
                _interval(change),
                f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else ""),
                change["improved"],
                change["harmed"],
                change["unchanged"],
            ]
        )
    return table(columns, rows)


def _reasons(arms: list[ArmSummary]) -> Table:
    rows = [[ARMS[arm["arm"]], n, reason] for arm in arms for reason, n in arm["reasons"].items()]
    return table({"context": "text", "questions": "count", "why there is no score": "text"}, rows)


def _answers(folder: Path) -> Table:
    rows = read_records(AnswerRow, folder / "scenarios_qa.parquet")
    columns = {
        "question": "text",
        "context": "text",
        "score": "count",
        "votes": "text",
        "answer, or why there is none": "text",
    }
    cells = [
        [
            f"{row['question']} · {row['query_id']}",
            ARMS[row["arm"]],
            row["score"],
            row["votes"],
            row["answer"] if row["state"] == "measured" else f"{row['state']}: {row['reason']}",
        ]
        for row in rows[:MAX_ROWS]
    ]
    return table(columns, cells, total=len(rows))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _interval(change: DifferenceFigures) -> str:
    if change["low"] is None:
        return f"none: {change['no_interval']}"
    return f"{change['low']:+.1f} to {change['high']:+.1f}"


_GREY = "#8a93a0"


def mean_scores(arms: Sequence[ArmSummary], names: Mapping[str, str]) -> Figure:
    """Mean score per arm with its 95% interval. Documents alone and oracles in grey.

    Arms without a mean are left out. names: of arms, as a person reads them.
    """
    means = [arm["mean"] for arm in arms if arm["mean"] is not None]
    arms = [arm for arm in arms if arm["mean"] is not None]
    fused = [arm["arm"].startswith("fused") for arm in arms]
    bars = {
        "type": "bar",
        "x": [names[arm["arm"]] for arm in arms],
        "y": [round(mean, 3) for mean in means],
        "width": 0.6,
        "marker": {"color": [BAND_COLOURS["high"] if own else _GREY for own in fused]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_end(arm["high"], mean) for arm, mean in zip(arms, means, strict=True)],
            "arrayminus": [_end(mean, arm["low"]) for arm, mean in zip(arms, means, strict=True)],
            "color": INK,
            "thickness": 1.5,
        },
        "customdata": [arm["questions"] for arm in arms],
        "hovertemplate": "%{x}: %{y:.1f} on %{customdata:,} questions<extra></extra>",
    }
    return framed([bars], "", "mean score, 0 to 100", {"showlegend": False}, yrange=[0, 100])


def _end(high: float | None, low: float | None) -> float:
    """Return the length of one arm of an error bar, 0 where there is no interval."""
    return 0.0 if high is None or low is None else round(high - low, 3)
