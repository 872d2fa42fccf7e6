"""The evaluation's section: before and after, who was harmed, how implicit questions are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from argus.data.parquet import read_table
from argus.evaluation.slices import FILE as SLICES
from argus.evaluation.summary import EvaluationSummary, HarmedQuery, SystemFigures
from argus.measures.association import AssociationFigures
from argus.measures.significance import DifferenceFigures
from argus.reports.section import Section, table
from argus.reports.slices import slices_table

Cell: TypeAlias = str | int | float | None


def section(folder: Path, evaluation: EvaluationSummary) -> Section:
    """Build it from summary.json and per_query.parquet."""
    tables = {
        "evaluation_measures": _measures(evaluation),
        "evaluation_queries": _queries(folder, evaluation),
    }
    if evaluation["failed"]:
        rows = [[row["query_id"], row["reason"]] for row in evaluation["failed"]]
        tables["evaluation_failed"] = table(
            {"query": "text", "why it could not be asked": "text"}, rows
        )
    if evaluation["harmed"]:
        tables["evaluation_harmed"] = _harmed(evaluation["harmed"])
    if evaluation["implicitness"]["groups"]:
        tables["evaluation_groups"] = _groups(evaluation)
    if evaluation["association"]:
        association = evaluation["association"]
        tables["evaluation_association"] = _association(evaluation["systems"], association)
    if "slices" in evaluation:
        tables["evaluation_slices"] = slices_table(folder, SLICES)
    return Section({}, tables, _brief(evaluation))


def _brief(evaluation: EvaluationSummary) -> str:
    name, measured = evaluation["headline"], evaluation["queries"]["measured"]
    if not evaluation["comparison"]:
        value = evaluation["systems"][-1]["measures"][name]
        return f"{name} {value:.3f} on {measured:,} queries"
    change = evaluation["comparison"][name]
    return (
        f"{name} {change['mean_before']:.3f} → {change['mean_after']:.3f} "
        f"({change['mean_difference']:+.4f}; 95% interval "
        f"{interval(change['low'], change['high'], change['no_interval'])}) on {measured:,} "
        f"queries: {change['improved']:,} improved, {change['harmed']:,} harmed"
    )


def interval(low: float | None, high: float | None, why_not: str = "") -> str:
    """Return an interval of a difference in words, or why there is none."""
    if low is None or high is None:
        return f"none: {why_not}" if why_not else "none"
    return f"{low:+.4f} to {high:+.4f}"


_DIFFERENCE = {
    "difference": "text",
    "95% interval": "text",
    "p": "text",
    "improved": "count",
    "harmed": "count",
    "unchanged": "count",
}


def _difference(change: DifferenceFigures) -> list[Cell]:
    return [
        f"{change['mean_difference']:+.4f}",
        interval(change["low"], change["high"], change["no_interval"]),
        f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else ""),
        change["improved"],
        change["harmed"],
        change["unchanged"],
    ]


def _values(evaluation: EvaluationSummary) -> dict[str, str]:
    names = ("before", "after") if evaluation["comparison"] else ("value",)
    return dict.fromkeys(names, "share")


def _measures(evaluation: EvaluationSummary) -> Any:
    systems, comparison = evaluation["systems"], evaluation["comparison"]
    rows: list[list[Cell]] = []
    for name in systems[0]["measures"]:
        values = [system["measures"][name] for system in systems]
        rows.append([name, *values, *(_difference(comparison[name]) if comparison else [])])
    columns = {"measure": "text"} | _values(evaluation) | (_DIFFERENCE if comparison else {})
    return table(columns, rows)


def _groups(evaluation: EvaluationSummary) -> Any:
    headline = evaluation["headline"]
    rows: list[list[Cell]] = []
    words = {
        "implicit": "share no word with a relevant title",
        "sharing": "share a word with a relevant title",
    }
    for group in evaluation["implicitness"]["groups"]:
        comparison = group["comparison"]
        values = [measures[headline] for measures in group["measures"]]
        rest = _difference(comparison[headline]) if comparison else []
        rows.append([words[group["name"]], group["queries"], *values, *rest])
    columns = {"questions that": "text", "queries": "count"} | _values(evaluation)
    return table(columns | (_DIFFERENCE if evaluation["comparison"] else {}), rows)


def _harmed(queries: list[HarmedQuery]) -> Any:
    columns = {
        "query": "text",
        "before": "share",
        "after": "share",
        "difference": "text",
        "first relevant rank, before": "count",
        "after (none: not in the run)": "count",
    }
    return table(
        columns,
        [
            [
                f"{row['text']} · {row['query_id']}",
                row["before"],
                row["after"],
                f"{row['difference']:+.4f}",
                row["rank_before"],
                row["rank_after"],
            ]
            for row in queries
        ],
    )


def _association(
    systems: Sequence[SystemFigures], association: Sequence[Sequence[AssociationFigures]]
) -> Any:
    columns = {
        "system": "text",
        "k": "count",
        "retrieved": "count",
        "their mean highest RPS": "share",
        "unretrieved": "count",
        "their mean": "share",
        "difference": "text",
        "95% interval": "text",
        "not in the index": "count",
        "no RPS": "count",
    }
    rows: list[list[Cell]] = []
    for system, figures in zip(systems, association, strict=True):
        for at_k in figures:
            difference = at_k["difference"]
            low, high = at_k["low"], at_k["high"]
            rows.append(
                [
                    system["name"],
                    at_k["k"],
                    at_k["retrieved"],
                    at_k["mean_retrieved"],
                    at_k["unretrieved"],
                    at_k["mean_unretrieved"],
                    "–" if difference is None else f"{difference:+.4f}",
                    interval(low, high),
                    at_k["not_indexed"],
                    at_k["without_rps"],
                ]
            )
    return table(columns, rows)


def _queries(folder: Path, evaluation: EvaluationSummary) -> Any:
    headline = evaluation["headline"]
    ends = [" before", " after"] if evaluation["comparison"] else [""]
    rows = read_table(folder / "per_query.parquet").to_pylist()
    rows = [row for row in rows if row["state"] == "measured"]
    last = headline + ends[-1]
    rows.sort(key=lambda row: (row[last], row["query_id"]))
    columns = {"query": "text", "relevant": "count", "shares a word with a title": "text"}
    columns |= {(headline + end).strip(): "share" for end in ends}
    columns |= {("first relevant rank" + end).strip(): "count" for end in ends}
    sharing = {True: "no", False: "yes", None: ""}
    return table(
        columns,
        [
            [
                f"{row['text']} · {row['query_id']}",
                row["relevant"],
                sharing[row["implicit"]],
                *(row[headline + end] for end in ends),
                *(row["rank" + end] for end in ends),
            ]
            for row in rows
        ],
    )
