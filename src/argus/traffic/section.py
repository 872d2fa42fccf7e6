"""Build the report's section on traffic from the summary and its tables."""

from __future__ import annotations

from pathlib import Path

from argus.data.tables import read_table
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, table
from argus.reports.slices import slices_table
from argus.traffic.figures import Windows, in_words
from argus.traffic.summary import TrafficSummary
from argus.traffic.unmet import Unmet
from argus.verdict.counts import describe_log


def section(folder: Path, summary: TrafficSummary) -> Section:
    """Build it from the summary and its tables: over_time, served_by_part, traffic_slices."""
    tables = {"over_time": _over_time(folder)}
    plots = {}
    if (documents := summary["documents"]) is not None:
        rows: list[list[object]] = [
            [naming(hub["label"], hub["id"]), hub["asks"], hub["share"]]
            for hub in documents["hubs"]
        ]
        tables["traffic_hubs"] = table(
            {"document": "text", "asks": "count", "share of asks": "share"}, rows
        )
        tables["served_by_part"] = _parts(folder)
        if documents["lorenz"]:
            plots["traffic_lorenz"] = figures.lorenz(documents["lorenz"], documents["gini"])
    if summary["unmet"] is not None:
        tables["unmet"] = _unmet(summary["unmet"])
    if summary["windows"] is not None:
        tables["windows"] = _windows(summary["windows"])
    if (stale := summary["superseded"]) is not None:
        tables["stale_served"] = table(
            {"document": "text", "asks": "count", "what controls it": "text"},
            [[one["id"], one["asks"], ", ".join(one["instead"])] for one in stale["examples"]],
        )
    if "slices" in summary:
        tables["traffic_slices"] = slices_table(folder, "traffic_slices")
    return Section(plots, tables, _brief(summary))


def _brief(summary: TrafficSummary) -> str:
    parts = [describe_log(summary)]
    if nothing := summary["results"]["nothing"]:
        parts.append(f"nothing came back for {in_words(nothing)}")
    if (unmet := summary["unmet"]) is not None:
        parts.append(f"{unmet['questions']:,} questions are unmet by what the log tells")
    return "; ".join(parts)


def _unmet(unmet: Unmet) -> Table:
    columns = {
        "about": "text", "asks": "count", "questions": "count", "why": "text", "such as": "lines",
        "came instead": "lines", "nearest in the corpus": "lines",
    }  # fmt: skip
    rows: list[list[object]] = [
        [
            one["words"], one["asks"], one["questions"],
            "; ".join(f"{why} ({n})" for why, n in one["why"].items()),
            "\n".join(one["examples"]), "\n".join(one["instead"]), "\n".join(one["nearest"]),
        ]
        for one in unmet["largest"]
    ]  # fmt: skip
    return table(columns, rows, total=unmet["clusters"])


def _windows(windows: Windows) -> Table:
    columns = {
        "what": "text", "before": "share", "since": "share", "change": "interval",
        "p, same questions": "text", "p, other questions": "text",
    }  # fmt: skip
    rows: list[list[object]] = []
    for change in windows["changes"]:
        same, other = change["same_questions"], change["other_questions"]
        rows.append(
            [
                change["outcome"], change["before"]["share"], change["after"]["share"],
                [change["low"], change["high"]],
                f"{same['p_value']:.4f} ({same['queries']:,})" if same else "",
                f"{other['p_value']:.4f} ({other['before'] + other['after']:,})" if other else "",
            ]
        )  # fmt: skip
    return table(columns, rows)


def _parts(folder: Path) -> Table:
    rows = read_table(folder / "served_by_part.parquet").to_pylist()
    columns = {
        "by": "text", "part": "text", "asks": "count", "documents that came": "count",
        "serve nobody there": "count", "Gini": "share", "largest hub": "text",
        "in asks": "share",
    }  # fmt: skip
    values: list[list[object]] = [
        [
            row["field"], row["part"], row["asks"], row["different"], row["never"], row["gini"],
            naming(row["hub_label"], row["hub"]) if row["hub"] else None,
            row["hub_asks"] / row["asks"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, values, total=len(rows))


def _over_time(folder: Path) -> Table:
    rows = read_table(folder / "over_time.parquet").to_pylist()
    columns = {
        "from": "text", "days": "count", "asks": "count", "nothing came back": "share",
        "bad feedback": "share", "superseded served": "share",
    }  # fmt: skip
    values: list[list[object]] = [
        [
            row["begins"].date().isoformat(), row["days"], row["asks"],
            *(row[name] / row[f"{name}_of"] if row[f"{name}_of"] else None
              for name in ("empty", "bad", "stale")),
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, values, total=len(rows))
