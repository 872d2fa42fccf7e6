"""The evaluation's section: before and after, who was harmed, how implicit questions are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.reports.section import Section, table


def section(folder: Path, evaluation: dict[str, Any]) -> Section:
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
        tables["evaluation_association"] = _association(evaluation)
    return Section({}, tables, _brief(evaluation))


def _brief(evaluation: dict[str, Any]) -> str:
    name, measured = evaluation["headline"], evaluation["queries"]["measured"]
    if not evaluation["comparison"]:
        value = evaluation["systems"][-1]["measures"][name]
        return f"{name} {value:.3f} on {measured:,} queries"
    found = evaluation["comparison"][name]
    return (
        f"{name} {found['mean_before']:.3f} → {found['mean_after']:.3f} "
        f"({found['mean_difference']:+.4f}; 95% interval "
        f"{interval(found['low'], found['high'], found['no_interval'])}) on {measured:,} queries: "
        f"{found['improved']:,} improved, {found['harmed']:,} harmed"
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


def _difference(found: dict[str, Any]) -> list[Any]:
    return [
        f"{found['mean_difference']:+.4f}",
        interval(found["low"], found["high"], found["no_interval"]),
        f"{found['p_value']:.4f}" + (" (exact)" if found["exact"] else ""),
        found["improved"],
        found["harmed"],
        found["unchanged"],
    ]


def _values(evaluation: dict[str, Any]) -> dict[str, str]:
    names = ("before", "after") if evaluation["comparison"] else ("value",)
    return dict.fromkeys(names, "share")


def _measures(evaluation: dict[str, Any]) -> Any:
    systems, comparison = evaluation["systems"], evaluation["comparison"]
    rows = []
    for name in systems[0]["measures"]:
        values = [system["measures"][name] for system in systems]
        rows.append([name, *values, *(_difference(comparison[name]) if comparison else [])])
    columns = {"measure": "text"} | _values(evaluation) | (_DIFFERENCE if comparison else {})
    return table(columns, rows)


def _groups(evaluation: dict[str, Any]) -> Any:
    headline, rows = evaluation["headline"], []
    words = {
        "implicit": "share no word with a relevant title",
        "sharing": "share a word with a relevant title",
    }
    for group in evaluation["implicitness"]["groups"]:
        found = group["comparison"]
        values = [measures[headline] for measures in group["measures"]]
        rest = _difference(found[headline]) if found else []
        rows.append([words[group["name"]], group["queries"], *values, *rest])
    columns = {"questions that": "text", "queries": "count"} | _values(evaluation)
    return table(columns | (_DIFFERENCE if evaluation["comparison"] else {}), rows)


def _harmed(harmed: list[dict[str, Any]]) -> Any:
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
            for row in harmed
        ],
    )


def _association(evaluation: dict[str, Any]) -> Any:
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
    rows = []
    for system, found in zip(evaluation["systems"], evaluation["association"], strict=True):
        for at_k in found:
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


def _queries(folder: Path, evaluation: dict[str, Any]) -> Any:
    headline = evaluation["headline"]
    ends = [" before", " after"] if evaluation["comparison"] else [""]
    rows = pq.read_table(folder / "per_query.parquet").to_pylist()
    measured = [row for row in rows if row["state"] == "measured"]
    last = headline + ends[-1]
    measured.sort(key=lambda row: (row[last], row["query_id"]))
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
            for row in measured
        ],
    )
