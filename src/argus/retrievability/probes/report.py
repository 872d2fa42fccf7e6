"""Show a fit: the lines that the command prints, and the section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.tables import read_table
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import Section, table

# The measures of ARGUS Tables 1 and 3: how lines and the report head them.
MEASURES = {
    "rmse": ("RMSE", "RMSE"), "mae": ("MAE", "MAE"), "pearson": ("Pearson", "Pearson"),
    "spearman": ("Spearman", "Spearman"), "macro_f1": ("macro-F1", "macro F1"),
    "macro_recall": ("macro-R", "macro recall"), "macro_precision": ("macro-P", "macro precision"),
    "weighted_precision": ("weigh.-P", "weighted precision"),
    "weighted_f1": ("weigh.-F1", "weighted F1"), "accuracy": ("accuracy", "accuracy"),
}  # fmt: skip
CELLS = 40  # cells of the joint density along each axis
DOTTED = {"color": INK, "width": 1, "dash": "dot"}


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of the fit, which family was chosen, and the spread of its labels."""
    yield f"{'':<9}" + "".join(f"{short:>10}" for short, _ in MEASURES.values())
    for row in summary["table"]:
        text = "".join(f"{_digits(row['test'][name]):>10}" for name in MEASURES)
        yield f"{row['family']:<9}{text}"
    counts, labels = summary["entities"], summary["labels"]
    yield (
        f"chosen by validation RMSE: {summary['family']} of {summary['trials']} settings; measured "
        f"on {counts['test']:,} entities that none of them saw, {counts['abstained_on_test']:,} of "
        "them beyond its region"
    )
    moved = ""
    if (sampling := labels["sampling_rmse"]) is not None:
        moved = (
            f"; drawing other related entities (median {labels['related_median']:.0f}) would move "
            f"them by {sampling:.3f} RMSE"
        )
    yield f"for reference: labels have a standard deviation of {labels['std']:.3f}{moved}"


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the section of a fit from predictions.parquet: families, and calibration."""
    rows = read_table(folder / "predictions.parquet", columns=["rps", "predicted"])
    measured, predicted = rows["rps"].to_numpy(), rows["predicted"].to_numpy()
    families = table(
        {"probe": "text", **dict.fromkeys((long for _, long in MEASURES.values()), "text")},
        [
            [row["family"], *(_digits(row["test"][name]) for name in MEASURES)]
            for row in summary["table"]
        ],
    )
    return Section(
        {
            "probe_density": _density(measured, predicted),
            "probe_residuals": _residuals(measured - predicted),
        },
        {"probe": families},
        f"{summary['family']}: predicted and measured RPS of held-out entities correlate at "
        f"{_digits(summary['test']['pearson'])} (Pearson), RMSE {summary['test']['rmse']:.3f}",
    )


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _density(labels: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]) -> Figure:
    """Joint density of predicted (x) and measured (y) RPS. On the diagonal they agree."""
    edges = np.linspace(0, 1, CELLS + 1)
    counts, _, _ = np.histogram2d(labels, predicted, bins=[edges, edges])
    middles = ((edges[:-1] + edges[1:]) / 2).round(4).tolist()
    heat = {
        "type": "heatmap", "x": middles, "y": middles,
        # Counts span decades. The root shows the sparse cells, the hover says the count.
        "z": np.sqrt(counts).round(3).tolist(),
        "text": counts.astype(int).tolist(),
        "hovertemplate": "predicted %{x:.2f}, measured %{y:.2f}: %{text} entities<extra></extra>",
        "colorscale": [[0, "rgba(42,111,176,0)"], [1, BAND_COLOURS["high"]]],
        "showscale": False,
    }  # fmt: skip
    diagonal = {
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "line": DOTTED,
        "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip
    return framed(
        [heat, diagonal], "predicted RPS", "measured RPS", {}, xrange=[0, 1], yrange=[0, 1]
    )


def _residuals(values: npt.NDArray[np.float64]) -> Figure:
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
    zero = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper", "line": DOTTED}
    layout = {"bargap": 0.04, "shapes": [zero]}
    return framed([bars], "measured − predicted RPS", "entities", layout, xrange=[-1, 1])
