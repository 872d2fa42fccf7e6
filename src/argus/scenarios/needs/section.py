"""The need audit in words: its headline, and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.data.types import State
from argus.jobs.recorded_model import spent
from argus.measures.significance import with_interval
from argus.measures.slices import slice_lines
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.scenarios.tables import headings

_COLOURS = {"M": "#d9a21b", "I": "#c8442a", "E": "#2a6fb0", "M+E": "#2b2f36", "I+E": "#7a5195"}
_MARGIN = 0.03  # so that a difference of thousandths does not fill the figure


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many documents are out of reach of their needs, and the effect of scenarios."""
    documents, rps, nominal = summary["documents"], summary["rps"], summary["wanted"]
    alone, fused = summary["alone"], summary["fused"]
    if rps != nominal:
        yield (
            f"only {documents['indexed']:,} documents: RPS at k={rps['k']}, N={rps['pool']:,} "
            f"instead of k={nominal['k']}, N={nominal['pool']:,}"
        )
    yield brief(summary)
    places = {"found_at_1": "first", "found_at_k": f"in the top {summary['k']}"}
    for name, where in places.items():
        change = fused[name]["difference"]
        interval = "no interval: fewer than 6 documents changed"
        if change["low"] is not None:
            interval = f"95% interval {change['low']:+.3f} to {change['high']:+.3f}"
        yield (
            f"found {where} of {documents['indexed']:,}: {alone[name]['mean']:.1%} of a "
            f"document's needs, {fused[name]['mean']:.1%} with scenarios "
            f"({change['mean']:+.3f}; {interval})"
        )
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    yield from risk_lines(summary)
    yield from left_out_lines(summary)


def left_out_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield why documents were not measured, and how many profiles are of none of them."""
    if reasons := summary["documents"]["reasons"]:
        yield f"not measured: {', '.join(f'{n:,} {reason}' for reason, n in reasons.items())}"
    if summary["profiles_elsewhere"]:
        yield f"{summary['profiles_elsewhere']:,} profiles are of documents that the corpus lacks"


def brief(needs: Mapping[str, Any]) -> str:
    """Return the result in one line."""
    low, n, rps = needs["alone"]["bands"]["low"], needs["documents"]["measured"], needs["rps"]
    alone = f"{low:,} of {n:,} documents cannot be reached by what they are for"
    if not low:
        alone = f"none of {n:,} documents is out of reach of what it is for"
    fused = needs["fused"]
    return (
        f"{alone} (RPS below 0.33 at k={rps['k']}, N={rps['pool']:,}); with scenarios "
        f"({fused['component']}, λ = {fused['lambda']:g}; each need's own held out) "
        f"{fused['bands']['low']:,}"
    )


def risk_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sample, its figures, and their worth for real questions."""
    risk = summary.get("risk")
    if risk is None or not risk["measured"]:
        return
    if "language_model" in summary:
        yield f"needs written for {risk['written']:,} documents: {spent(summary['language_model'])}"
    whose = f", folded by {risk['parent_field']}," if risk["parent_field"] else ""
    yield (
        f"at risk: {risk['measured'] - risk['reached']:,} of {risk['measured']:,} documents{whose} "
        f"come into the top {risk['k']} for none of their needs "
        f"({1 - risk['high']:.1%} to {1 - risk['low']:.1%}); asked for: {risk['measured']:,} of "
        f"{risk['documents']:,}"
    )
    if (width := risk["until_width"]) is not None and risk["high"] - risk["low"] > width:
        yield (
            f"the interval is {risk['high'] - risk['low']:.3f} wide, not {width:g}: no more "
            "documents with needs could be drawn"
        )
    if risk["further"]["documents"]:
        yield (
            f"{risk['further']['documents']:,} documents that only some of their needs find got "
            f"{risk['further']['needs']:,} more"
        )
    yield f"what that order tells of real questions: {'; '.join(risk['validity'])}"
    if risk["judged"] is None:
        yield "Measure it here: --queries and --qrels. The riskiest stand first in need_risk.csv."


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of need_audit.parquet, documents out of reach first."""
    rows = read_table(folder / "need_audit.parquet").to_pylist()
    measured = [row for row in rows if row["state"] == State.MEASURED]
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    plots = {"needs_distribution": _distribution(summary)}
    if len({cell["lambda"] for cell in summary["grid"]}) > 1:
        plots["needs_grid"] = _lines(summary)
    columns = headings(
        "document: text; RPS: share; 95% interval: interval; band: band; RPS with: share; the need "
        "that fails it most: text; rank: count; rank with: count; returned instead: text"
    )
    shown = [
        [
            naming(row["label"], row["id"]), row["rps"], [row["low"], row["high"]], row["band"],
            row["rps_fused"], row["worst_need"], row["worst_rank"], row["worst_rank_fused"],
            row["displaced_by"],
        ]
        for row in measured[:MAX_ROWS]
    ]  # fmt: skip
    tables = {"needs_documents": table(columns, shown, total=len(measured))}
    tables |= {"needs_grid": _grid(summary), **risk_table(folder, "need_risk", summary)}
    if "slices" in summary:
        tables["needs_slices"] = slices_table(folder, "needs_slices")
    return Section(plots, tables, brief(summary))


def _distribution(needs: Mapping[str, Any]) -> figures.Figure:
    """Return the documents per RPS, coloured by band, and a line for those with scenarios."""
    histogram, rps = needs["histogram"], needs["rps"]
    edges = histogram["edges"]
    bars: figures.Histogram = {"edges": edges, "entities": histogram["alone"]}
    figure = figures.distribution(bars, rps["k"], rps["pool"])
    figure["data"][0] |= {
        "name": "documents alone", "showlegend": False,
        "hovertemplate": "RPS about %{x:.2f}: %{y:,} documents<extra></extra>",
    }  # fmt: skip
    figure["data"].append({
        "type": "scatter", "mode": "lines", "x": edges, "showlegend": True,
        "y": [*histogram["fused"], histogram["fused"][-1]],
        "name": "with scenarios, the need's own held out",
        "line": {"color": figures.INK, "width": 1.5, "shape": "hv"},
        "hovertemplate": "%{y:,} documents<extra>with scenarios</extra>",
    })  # fmt: skip
    figure["layout"]["yaxis"]["title"]["text"] = "documents"
    return figure


def _lines(needs: Mapping[str, Any]) -> figures.Figure:
    """Return the share found in the top k over λ, a line per component. Documents alone dashed."""
    grid, alone = needs["grid"], needs["alone"]["found_at_k"]["mean"]
    weights = [cell["lambda"] for cell in grid]
    traces: list[dict[str, Any]] = []
    for component in dict.fromkeys(cell["component"] for cell in grid):
        cells = [cell for cell in grid if cell["component"] == component]
        traces.append({
            "type": "scatter", "mode": "lines+markers", "name": component,
            "x": [cell["lambda"] for cell in cells],
            "y": [round(cell["found_at_k"]["mean"], 5) for cell in cells],
            "line": {"color": _COLOURS[component], "width": 2.5},
            "hovertemplate": "λ = %{x}: %{y:.3f}<extra>" + component + "</extra>",
        })  # fmt: skip
    traces.append({
        "type": "scatter", "mode": "lines", "name": "documents alone",
        "x": [min(weights), max(weights)], "y": [round(alone, 5)] * 2,
        "line": {"color": "#8a93a0", "width": 2, "dash": "dash"},
        "hovertemplate": "%{y:.3f}<extra>documents alone</extra>",
    })  # fmt: skip
    values = [alone, *(cell["found_at_k"]["mean"] for cell in grid)]
    return figures.framed(
        traces,
        "λ, the weight of the document's own score",
        f"found in the top {needs['k']}",
        {"legend": {"orientation": "v", "x": 1.02, "y": 1}},
        yrange=[max(0, min(values) - _MARGIN), min(1, max(values) + _MARGIN)],
    )


def _grid(needs: Mapping[str, Any]) -> Table:
    names = {"found_at_1": "first", "found_at_k": f"top {needs['k']}", "rps": "RPS"}
    if needs["k"] == 1:
        del names["found_at_k"]
    columns = {"indexed": "text", "λ": "text"}
    for name in names.values():
        columns |= {name: "share", f"change ({name})": "text"}
    columns |= {"better": "count", "worse": "count"}
    alone = [value for name in names for value in (needs["alone"][name]["mean"], "")]
    rows: list[list[str | float | None]] = [["documents alone", "", *alone, None, None]]
    for cell in needs["grid"]:
        row: list[str | float] = [cell["component"], f"{cell['lambda']:g}"]
        for name in names:
            change = cell[name]["difference"]
            words = with_interval({**change, "mean_difference": change["mean"]})
            row += [cell[name]["mean"], words.replace(" ", "\u00a0")]
        moved = cell["rps"]["difference"]
        rows.append([*row, moved["improved"], moved["harmed"]])
    return table(columns, rows)


def risk_table(folder: Path, name: str, summary: Mapping[str, Any]) -> dict[str, Table]:
    """Return the documents by their risk."""
    if "risk" not in summary:  # a folder of before 0.2
        return {}
    rows = read_table(folder / f"{name}.parquet").to_pylist()
    columns = headings(
        "document: text; typical rank: count; needs: count; find it: share; "
        "95% interval: interval; the need that fails it most: text; rank: count"
    )
    shown: list[list[object]] = [
        [
            naming(row["label"], row["id"]), round(row["typical_rank"]), row["needs"],
            row["found"], [row["low"], row["high"]], row["worst_need"], row["worst_rank"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return {name: table(columns, shown, total=len(rows))}
