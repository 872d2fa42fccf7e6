"""Figures of the authority audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from argus.reports.figures import BAND_COLOURS, INK, Figure, framed

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
