"""The authority audit's section: what controls a document, and whether it can be reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.authority.jobs import figures as figures_authority
from argus.authority.jobs.relation_table import rules
from argus.reports.section import MAX_ROWS, Section, naming, table

LAST = 1 << 30


def section(folder: Path, authority: dict[str, Any]) -> Section:
    """Build it from authority.parquet, worst first."""
    rows = pq.read_table(folder / "authority.parquet").to_pylist()
    measured = [row for row in rows if row["state"] == "measured"]
    measured.sort(key=lambda row: (*_ranks(row), row["superseded"], row["controlling"]))
    ranks = {
        proxy: [row[f"{proxy}_rank"] for row in measured if row[f"{proxy}_rank"] is not None]
        for proxy in authority["proxies"]
    }
    plots = {}
    if measured:
        total = authority["documents"]["total"]
        plots["authority_ranks"] = figures_authority.reachable_by_rank(ranks, authority["k"], total)
        plots["authority_divergence"] = figures_authority.divergence(
            [row["text_divergence"] for row in measured if row["text_divergence"] is not None]
        )
    tables = {
        "authority_rules": rules(authority["relation"]),
        "authority_groups": _groups(authority),
        "authority_pairs": _pairs(measured),
    }
    return Section(plots, tables, _brief(authority))


def _ranks(row: dict[str, Any]) -> tuple[int, int]:
    """Return what sorts the worst first: by the better of both ranks, then by the other."""
    title, text = row["title_rank"] or LAST, row["text_rank"] or LAST
    return -min(title, text), -max(title, text)


def _pairs(measured: list[dict[str, Any]]) -> Any:
    columns = {
        "superseded": "text",
        "controlled by": "text",
        "rule": "text",
        "steps": "count",
        "rank, asked with the title": "count",
        "rank, asked with the text": "count",
        "divergence of the text": "share",
    }
    shown = [
        [
            naming(row["superseded_title"], row["superseded"]),
            naming(row["controlling_title"], row["controlling"]),
            row["rule"],
            row["hops"],
            row["title_rank"],
            row["text_rank"],
            row["text_divergence"],
        ]
        for row in measured[:MAX_ROWS]
    ]
    return table(columns, shown, total=len(measured))


def _groups(authority: dict[str, Any]) -> Any:
    columns = {
        "rule or types": "text",
        "asked with": "text",
        "documents": "count",
        "reachable": "share",
        "95% interval": "interval",
        "first": "share",
        "median N+": "count",
        "mean divergence": "share",
    }
    groups = [("all", authority["proxies"])]
    for name in ("by_rule", "by_types"):
        if len(authority[name]) > 1 or name == "by_types":
            groups += [(group["name"], group["proxies"]) for group in authority[name]]
    rows = [
        [
            name, proxy, found["documents"], found["reachable"], [found["low"], found["high"]],
            found["first"], found["median_outranking"], found["mean_divergence"],
        ]
        for name, proxies in groups
        for proxy, found in proxies.items()
        if found["documents"]
    ]  # fmt: skip
    return table(columns, rows)


def _brief(authority: dict[str, Any]) -> str:
    counts = authority["documents"]
    parts = [
        f"by {proxy} {found['reachable']:.1%}"
        for proxy, found in authority["proxies"].items()
        if found["documents"]
    ]
    return (
        f"of {counts['superseded']:,} superseded documents, those that bring what controls them "
        f"into the top {authority['k']}: {', '.join(parts) or 'none could be asked'}"
    )
