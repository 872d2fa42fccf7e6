"""The probe's section: the table of families, with calibration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.data.tables import read_table
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import Section, Table, table
from argus.retrievability.probes.metrics import Measure
from argus.retrievability.probes.summary import FamilyRow, ProbeSummary

MEASURES: dict[Measure, str] = {
    "rmse": "RMSE", "mae": "MAE", "pearson": "Pearson", "spearman": "Spearman",
    "macro_f1": "macro F1", "macro_recall": "macro recall", "macro_precision": "macro precision",
    "weighted_precision": "weighted precision", "weighted_f1": "weighted F1",
    "accuracy": "accuracy",
}  # fmt: skip


def section(folder: Path, summary: ProbeSummary) -> Section:
    """Build the section of a fit from predictions.parquet."""
    rows = read_table(folder / "predictions.parquet", columns=["rps", "predicted"])
    measured, predicted = rows["rps"].to_numpy(), rows["predicted"].to_numpy()
    return Section(
        {
            "probe_density": density(measured, predicted),
            "probe_residuals": residuals(measured - predicted),
        },
        {"probe": _families(summary["table"])},
        f"{summary['family']}: predicted and measured RPS of held-out entities correlate at "
        f"{_digits(summary['test']['pearson'])} (Pearson), RMSE {summary['test']['rmse']:.3f}",
    )


def _families(rows: list[FamilyRow]) -> Table:
    """Baselines and families by the measures of ARGUS Table 3, as text to three digits."""
    return table(
        {"probe": "text", **dict.fromkeys(MEASURES.values(), "text")},
        [[row["family"], *(_digits(row["test"][name]) for name in MEASURES)] for row in rows],
    )


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


CELLS = 40
"""Cells of the joint density along each axis."""


def density(labels: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]) -> Figure:
    """Joint density of predicted (x) and measured (y) RPS. On the diagonal they agree."""
    edges = np.linspace(0, 1, CELLS + 1)
    counts, _, _ = np.histogram2d(labels, predicted, bins=[edges, edges])
    middles = ((edges[:-1] + edges[1:]) / 2).round(4).tolist()
    heat = {
        "type": "heatmap",
        "x": middles,
        "y": middles,
        # Counts span decades. The root shows the sparse cells, the hover says the count.
        "z": np.sqrt(counts).round(3).tolist(),
        "text": counts.astype(int).tolist(),
        "hovertemplate": "predicted %{x:.2f}, measured %{y:.2f}: %{text} entities<extra></extra>",
        "colorscale": [[0, "rgba(42,111,176,0)"], [1, BAND_COLOURS["high"]]],
        "showscale": False,
    }
    diagonal = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 1],
        "y": [0, 1],
        "line": {"color": INK, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return framed(
        [heat, diagonal], "predicted RPS", "measured RPS", {}, xrange=[0, 1], yrange=[0, 1]
    )


def residuals(values: npt.NDArray[np.float64]) -> Figure:
    """Entities per residual, measured less predicted. A probe without bias centres on zero."""
    edges = np.linspace(-1, 1, 2 * CELLS + 1)
    counts, _ = np.histogram(values, bins=edges)
    bars = {
        "type": "bar",
        "x": ((edges[:-1] + edges[1:]) / 2).round(4).tolist(),
        "y": counts.tolist(),
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "about %{x:.2f}: %{y:,} entities<extra></extra>",
    }
    line = {"color": INK, "width": 1, "dash": "dot"}
    zero = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper", "line": line}
    layout = {"bargap": 0.04, "shapes": [zero]}
    return framed([bars], "measured − predicted RPS", "entities", layout, xrange=[-1, 1])
