"""The need audit's section: documents that needs do not reach, and the effect of scenarios."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import TypedDict

from argus.data.tables import read_records
from argus.data.types import State
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.scenarios.needs.risk_section import risk_table
from argus.scenarios.needs.summary import Figure, MeanDifference, NeedsSummary, brief

_COLOURS = {"M": "#d9a21b", "I": "#c8442a", "E": "#2a6fb0", "M+E": "#2b2f36", "I+E": "#7a5195"}
_MARGIN = 0.03  # so that a difference of thousandths does not fill the figure


class DocumentRow(TypedDict):
    """A document that was measured, as far as the report shows it."""

    id: str
    label: str
    rps: float
    low: float
    high: float
    band: str
    rps_fused: float
    worst_need: str
    worst_rank: int
    worst_rank_fused: int
    displaced_by: str
    state: str


def section(folder: Path, needs: NeedsSummary) -> Section:
    """Build it from need_audit.parquet."""
    rows = read_records(DocumentRow, folder / "need_audit.parquet")
    measured = [row for row in rows if row["state"] == State.MEASURED]
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    plots = {"needs_distribution": _distribution(needs)}
    if len({cell["lambda"] for cell in needs["grid"]}) > 1:
        plots["needs_grid"] = _lines(needs)
    tables = {"needs_documents": _documents(measured), "needs_grid": _grid(needs)}
    tables |= risk_table(folder, "needs", needs)
    if "slices" in needs:
        tables["needs_slices"] = slices_table(folder, "needs_slices")
    return Section(plots, tables, brief(needs))


def _distribution(needs: NeedsSummary) -> figures.Figure:
    """Return the documents per RPS, coloured by band, and a line for those with scenarios."""
    histogram, rps = needs["histogram"], needs["rps"]
    edges = histogram["edges"]
    bars: figures.Histogram = {"edges": edges, "entities": histogram["alone"]}
    figure = figures.distribution(bars, rps["k"], rps["pool"])
    figure["data"][0] |= {
        "name": "documents alone",
        "hovertemplate": "RPS about %{x:.2f}: %{y:,} documents<extra></extra>",
        "showlegend": False,
    }
    figure["data"].append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": edges,
            "y": [*histogram["fused"], histogram["fused"][-1]],
            "name": "with scenarios, the need's own held out",
            "line": {"color": figures.INK, "width": 1.5, "shape": "hv"},
            "showlegend": True,
            "hovertemplate": "%{y:,} documents<extra>with scenarios</extra>",
        }
    )
    figure["layout"]["yaxis"]["title"]["text"] = "documents"
    return figure


def _lines(needs: NeedsSummary) -> figures.Figure:
    """Return the share found in the top k over λ, a line per component. Documents alone dashed."""
    grid = needs["grid"]
    traces = []
    for component in dict.fromkeys(cell["component"] for cell in grid):
        cells = [cell for cell in grid if cell["component"] == component]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": [cell["lambda"] for cell in cells],
                "y": [round(cell["found_at_k"]["mean"], 5) for cell in cells],
                "name": component,
                "line": {"color": _COLOURS[component], "width": 2.5},
                "hovertemplate": "λ = %{x}: %{y:.3f}<extra>" + component + "</extra>",
            }
        )
    weights, alone = [cell["lambda"] for cell in grid], needs["alone"]["found_at_k"]["mean"]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": [min(weights), max(weights)],
            "y": [round(alone, 5)] * 2,
            "name": "documents alone",
            "line": {"color": "#8a93a0", "width": 2, "dash": "dash"},
            "hovertemplate": "%{y:.3f}<extra>documents alone</extra>",
        }
    )
    values = [alone, *(cell["found_at_k"]["mean"] for cell in grid)]
    return figures.framed(
        traces,
        "λ, the weight of the document's own score",
        f"found in the top {needs['k']}",
        {"legend": {"orientation": "v", "x": 1.02, "y": 1}},
        yrange=[max(0, min(values) - _MARGIN), min(1, max(values) + _MARGIN)],
    )


def _documents(measured: list[DocumentRow]) -> Table:
    columns = {
        "document": "text",
        "RPS": "share",
        "95% interval": "interval",
        "band": "band",
        "RPS with": "share",
        "the need that fails it most": "text",
        "rank": "count",
        "rank with": "count",
        "returned instead": "text",
    }
    rows = [
        [
            naming(row["label"], row["id"]),
            row["rps"],
            [row["low"], row["high"]],
            row["band"],
            row["rps_fused"],
            row["worst_need"],
            row["worst_rank"],
            row["worst_rank_fused"],
            row["displaced_by"],
        ]
        for row in measured[:MAX_ROWS]
    ]
    return table(columns, rows, total=len(measured))


def _grid(needs: NeedsSummary) -> Table:
    names: dict[Figure, str]
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
            row += [cell[name]["mean"], _change(cell[name]["difference"])]
        moved = cell["rps"]["difference"]
        rows.append([*row, moved["improved"], moved["harmed"]])
    return table(columns, rows)


def _change(difference: MeanDifference) -> str:
    """Return a mean difference and its interval, on one line."""
    mean = f"{difference['mean']:+.3f}"
    if difference["low"] is None:
        return mean
    interval = f"{mean} ({difference['low']:+.3f} to {difference['high']:+.3f})"
    return interval.replace(" ", "\u00a0")
