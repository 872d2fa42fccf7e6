"""The authority audit's section: what controls a document, and whether it can be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from typing_extensions import TypedDict

from argus.authority.jobs.audit_findings import BEYOND
from argus.authority.jobs.relation_table import rules
from argus.authority.jobs.summary import AuthorityAuditSummary, Proxy
from argus.data.tables import read_records
from argus.data.types import State
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import MAX_ROWS, Section, Table, naming, table


class Pair(TypedDict):
    """What the report shows of a superseded document and one that controls it."""

    superseded: str
    controlling: str
    superseded_title: str
    controlling_title: str
    rule: str
    hops: int
    state: str
    title_rank: int | None
    text_rank: int | None
    title_reachable: bool | None
    text_reachable: bool | None
    text_divergence: float | None


def section(folder: Path, authority: AuthorityAuditSummary) -> Section:
    """Build it from authority.parquet, worst first."""
    rows = read_records(Pair, folder / "authority.parquet")
    measured = [row for row in rows if row["state"] == State.MEASURED]
    measured.sort(key=lambda row: (*_ranks(row), row["superseded"], row["controlling"]))
    ranks = {
        "title": [row["title_rank"] or BEYOND for row in measured if _could_ask(row, "title")],
        "text": [row["text_rank"] or BEYOND for row in measured if _could_ask(row, "text")],
    }
    plots = {}
    if measured:
        total = authority["k"] if "retriever" in authority else authority["documents"]["total"]
        plots["authority_ranks"] = reachable_by_rank(ranks, authority["k"], total)
        if "retriever" not in authority:
            plots["authority_divergence"] = divergence(
                [row["text_divergence"] for row in measured if row["text_divergence"] is not None]
            )
    tables = {
        "authority_rules": rules(authority["relation"]),
        "authority_groups": _groups(authority),
        "authority_pairs": _pairs(measured),
    }
    return Section(plots, tables, _brief(authority))


def _could_ask(row: Pair, proxy: Proxy) -> bool:
    return (row["title_reachable"] if proxy == "title" else row["text_reachable"]) is not None


def _ranks(row: Pair) -> tuple[int, int]:
    """Return what sorts the worst first: by the better of both ranks, then by the other."""
    title, text = row["title_rank"] or BEYOND, row["text_rank"] or BEYOND
    return -min(title, text), -max(title, text)


def _pairs(measured: list[Pair]) -> Table:
    columns = {
        "superseded": "text",
        "controlled by": "text",
        "rule": "text",
        "steps": "count",
        "rank, asked with the title": "count",
        "rank, asked with the text": "count",
        "divergence of the text": "share",
    }
    shown: list[list[object]] = [
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


def _groups(authority: AuthorityAuditSummary) -> Table:
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
    by_rule = authority["by_rule"] if len(authority["by_rule"]) > 1 else []
    groups += [(group["name"], group["proxies"]) for group in (*by_rule, *authority["by_types"])]
    rows: list[list[object]] = [
        [
            name, proxy, reach["documents"], reach["reachable"], [reach["low"], reach["high"]],
            reach["first"], reach.get("median_outranking"), reach.get("mean_divergence"),
        ]
        for name, proxies in groups
        for proxy, reach in proxies.items()
        if reach["documents"]
    ]  # fmt: skip
    return table(columns, rows)


def _brief(authority: AuthorityAuditSummary) -> str:
    counts = authority["documents"]
    parts = [
        f"by {proxy} {reach['reachable']:.1%}"
        for proxy, reach in authority["proxies"].items()
        if reach["documents"]
    ]
    return (
        f"of {counts['superseded']:,} superseded documents, those that bring what controls them "
        f"into the top {authority['k']}: {', '.join(parts) or 'none could be asked'}"
    )


COLOURS = {"title": BAND_COLOURS["mid"], "text": BAND_COLOURS["high"]}


def reachable_by_rank(ranks: Mapping[str, Sequence[int]], k: int, total: int) -> Figure:
    """Share of controlling documents within each depth, per proxy; k is marked."""
    depths = np.unique(np.geomspace(1, max(total, 2), 60).astype(int))
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"asked with the {proxy}",
            "x": depths.tolist(),
            "y": [round(float((np.array(own) <= d).mean()), 4) for d in depths],
            "line": {"color": COLOURS[proxy], "width": 2},
            "hovertemplate": "top %{x:,}: %{y:.1%}<extra></extra>",
        }
        for proxy, own in ranks.items()
        if own
    ]
    line = {"color": INK, "width": 1, "dash": "dot"}
    marker = {"type": "line", "x0": k, "x1": k, "y0": 0, "y1": 1, "line": line}
    figure = framed(
        traces, "results read", "controlling documents", {"shapes": [marker]}, yrange=[0, 1]
    )
    figure["layout"]["xaxis"] |= {"type": "log"}
    return figure


def divergence(values: Sequence[float]) -> Figure:
    """Superseded documents per semantic-authority divergence."""
    counts, edges = np.histogram(values, bins=20, range=(0, max([*values, 0.1])))
    bars = {
        "type": "bar",
        "x": ((edges[:-1] + edges[1:]) / 2).round(4).tolist(),
        "y": counts.tolist(),
        "width": np.diff(edges).round(4).tolist(),
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "Δ about %{x:.2f}: %{y:,}<extra></extra>",
    }
    return framed([bars], "divergence Δ", "pairs", {"bargap": 0.04})
