"""The comparison of answers in words: its headline, and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.measures.significance import interval_words
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import MAX_ROWS, Section, Table, table
from argus.scenarios.qa.config import MEASURE
from argus.scenarios.tables import headings

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
    ranked = "" if arm[MEASURE] is None else f", {MEASURE} {arm[MEASURE]:.3f}"
    return f"{arm['arm']}: {arm['mean']:.1f} ({interval_words(arm, '.1f')}; {counts}{ranked})"


def _change(change: Mapping[str, Any]) -> str:
    return (
        f"{change['mean_difference']:+.1f} ({interval_words(change, '+.1f')}, "
        f"p={change['p_value']:.3g}, {change['queries']:,} questions: "
        f"{change['improved']:,} better, {change['harmed']:,} worse, "
        f"{change['unchanged']:,} the same)"
    )


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of summary.json and scenarios_qa.parquet."""
    arms, rows = summary["arms"], read_table(folder / "scenarios_qa.parquet").to_pylist()
    columns = headings(
        "question: text; context: text; score: count; votes: text; "
        "answer, or why there is none: text"
    )
    cells = []
    for row in rows[:MAX_ROWS]:
        said = row["answer"] if row["state"] == "measured" else f"{row['state']}: {row['reason']}"
        question = f"{row['question']} · {row['query_id']}"
        cells.append([question, ARMS[row["arm"]], row["score"], row["votes"], said])
    tables = {
        "scenarios_qa_arms": _arms(arms),
        "scenarios_qa_differences": _differences(summary["comparisons"]),
        "scenarios_qa_answers": table(columns, cells, total=len(rows)),
    }
    if any(arm["reasons"] for arm in arms):
        columns = headings("context: text; questions: count; why there is no score: text")
        cells = [[ARMS[a["arm"]], n, reason] for a in arms for reason, n in a["reasons"].items()]
        tables["scenarios_qa_reasons"] = table(columns, cells)
    measured = [arm for arm in arms if arm["mean"] is not None]
    plots = {"scenarios_qa": _mean_scores(measured)} if measured else {}
    brief, named = f"{summary['questions']['asked']:,} questions asked", list(ARMS)
    for comparison in summary["comparisons"]:
        change = comparison["found"]
        if change and [comparison["before"], comparison["after"]] == [named[0], named[2]]:
            brief = (
                f"answers score {change['mean_before']:.1f} from documents alone, "
                f"{change['mean_after']:.1f} with scenarios (95% interval of the difference "
                f"{_interval(change, '+.1f')}) on {change['queries']:,} questions"
            )
    return Section(plots, tables, brief)


def _arms(arms: Sequence[Mapping[str, Any]]) -> Table:
    columns = headings(
        "context: text; mean score: text; 95% interval: text; of questions: count; "
        f"documents alone on these: text; {MEASURE}: share; measured: count; failed: count; "
        "not applicable: count; documents cut: count"
    )
    rows = []
    for arm in arms:
        mean, alone = (
            "–" if arm[name] is None else f"{arm[name]:.1f}" for name in ("mean", "documents_mean")
        )
        states = (arm["states"][name] for name in ("measured", "failed", "not applicable"))
        cut = arm["documents_cut"] + arm["documents_left_out"]
        named = [ARMS[arm["arm"]], mean, _interval(arm, ".1f"), arm["questions"], alone]
        rows.append([*named, arm[MEASURE], *states, cut])
    return table(columns, rows)


def _differences(comparisons: Sequence[Mapping[str, Any]]) -> Table:
    columns = headings(
        "before: text; after: text; questions: count; difference: text; 95% interval: text; "
        "p: text; better: count; worse: count; the same: count"
    )
    rows = []
    for comparison in comparisons:
        change = comparison["found"]
        names = [ARMS[comparison["before"]], ARMS[comparison["after"]]]
        if change is None:
            rows.append([*names, 0, "–", "none: no question was measured in both", "–", 0, 0, 0])
            continue
        difference = f"{change['mean_difference']:+.1f}"
        p = f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else "")
        moved = (change[name] for name in ("improved", "harmed", "unchanged"))
        ends = _interval(change, "+.1f")
        rows.append([*names, change["queries"], difference, ends, p, *moved])
    return table(columns, rows)


def _interval(figures: Mapping[str, Any], form: str) -> str:
    if figures["low"] is None:
        return f"none: {figures['no_interval']}"
    return f"{figures['low']:{form}} to {figures['high']:{form}}"


def _mean_scores(arms: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the mean score per arm with its 95% interval. Documents alone and oracles in grey."""
    fused = [arm["arm"].startswith("fused") for arm in arms]
    ends = [
        (0.0, 0.0)
        if arm["low"] is None
        else (round(arm["high"] - arm["mean"], 3), round(arm["mean"] - arm["low"], 3))
        for arm in arms
    ]
    bars = {
        "type": "bar",
        "x": [ARMS[arm["arm"]] for arm in arms],
        "y": [round(arm["mean"], 3) for arm in arms],
        "width": 0.6,
        "marker": {"color": [BAND_COLOURS["high"] if own else _GREY for own in fused]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [above for above, _ in ends],
            "arrayminus": [below for _, below in ends],
            "color": INK,
            "thickness": 1.5,
        },
        "customdata": [arm["questions"] for arm in arms],
        "hovertemplate": "%{x}: %{y:.1f} on %{customdata:,} questions<extra></extra>",
    }
    return framed([bars], "", "mean score, 0 to 100", {"showlegend": False}, yrange=[0, 100])
