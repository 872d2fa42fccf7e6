"""The comparison of answers in words: its headline, and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.measures.significance import DifferenceFigures
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import MAX_ROWS, Section, Table, table
from argus.scenarios.qa.config import MEASURE

ARMS = {
    "documents": "documents alone",
    "fused": "ranked with scenarios",
    "fused + scenarios": "ranked and shown with scenarios",
    "oracle": "relevant documents",
    "oracle + scenarios": "relevant documents with scenarios",
}
_GREY = "#8a93a0"


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the mean score of every arm, the differences, and their doubts."""
    counts = summary["questions"]
    yield (
        f"questions: {counts['asked']:,} asked, {counts['not drawn']:,} not drawn, "
        f"{counts['not applicable']:,} not applicable"
    )
    for reason, n in counts["reasons"].items():
        yield f"  {n:,}: {reason}"
    for arm in summary["arms"]:
        yield _arm(arm)
    for comparison in summary["comparisons"]:
        if (change := comparison["found"]) is not None:
            yield f"{comparison['before']} → {comparison['after']}: {_change(change)}"
    agreement = summary["agreement"]
    if agreement["mean_difference"] is not None:
        alpha = "none" if agreement["alpha"] is None else f"{agreement['alpha']:.3f}"
        yield (
            f"votes on one answer differ by {agreement['mean_difference']:.1f} on average "
            f"(Krippendorff's alpha {alpha}, {agreement['answers']:,} answers)"
        )
    for note in summary["notes"]:
        yield f"note: {note}"


def _arm(arm: Mapping[str, Any]) -> str:
    states = arm["states"]
    failed = "".join(f", {n:,} {kind}" for kind, n in arm["failures"].items())
    counts = f"{states['measured']:,} measured, {states['failed']:,} failed{failed}"
    if states["not applicable"]:
        counts += f", {states['not applicable']:,} not applicable"
    if arm["mean"] is None:
        return f"{arm['arm']}: no score ({counts})"
    interval = (
        f"no interval: {arm['no_interval']}"
        if arm["low"] is None
        else f"95% {arm['low']:.1f} to {arm['high']:.1f}"
    )
    ranked = "" if arm["nDCG@10"] is None else f", nDCG@10 {arm['nDCG@10']:.3f}"
    return f"{arm['arm']}: {arm['mean']:.1f} ({interval}; {counts}{ranked})"


def _change(change: DifferenceFigures) -> str:
    interval = (
        f"no interval: {change['no_interval']}"
        if change["low"] is None
        else f"95% {change['low']:+.1f} to {change['high']:+.1f}"
    )
    return (
        f"{change['mean_difference']:+.1f} "
        f"({interval}, p={change['p_value']:.3g}, {change['queries']:,} questions: "
        f"{change['improved']:,} better, {change['harmed']:,} worse, "
        f"{change['unchanged']:,} the same)"
    )


def estimate_lines(estimate: Mapping[str, Any]) -> Iterator[str]:
    """Yield prompts and greatest cost of each stage."""
    for stage, e in [*estimate["stages"].items(), ("total", estimate["total"])]:
        cost = (
            "" if e["cost"] is None else f"; about {e['cost']:.2f}, at most {e['cost_at_most']:.2f}"
        )
        yield (
            f"{stage}: {e['to_ask']:,} of {e['prompts']:,} prompts would be asked ({e['cached']:,} "
            f"are in the ledger, {e['repeated']:,} equal others): {e['tokens_in']:,} tokens in, at "
            f"most {e['tokens_out_at_most']:,} out{cost}"
        )
    if not estimate["exact"]:
        yield "judging is counted as if every answer that is missing had its greatest length"


def section(folder: Path, qa: Mapping[str, Any]) -> Section:
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


def _brief(qa: Mapping[str, Any]) -> str:
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


def _arms(arms: list[dict[str, Any]]) -> Table:
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


def _differences(comparisons: list[dict[str, Any]]) -> Table:
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


def _reasons(arms: list[dict[str, Any]]) -> Table:
    rows = [[ARMS[arm["arm"]], n, reason] for arm in arms for reason, n in arm["reasons"].items()]
    return table({"context": "text", "questions": "count", "why there is no score": "text"}, rows)


def _answers(folder: Path) -> Table:
    rows = read_table(folder / "scenarios_qa.parquet").to_pylist()
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


def mean_scores(arms: Sequence[dict[str, Any]], names: Mapping[str, str]) -> Figure:
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
