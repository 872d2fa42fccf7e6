"""The probe's sections: the table of families with calibration; and what was predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from argus.reports import figures, figures_probe
from argus.reports.sections.base import MAX_ROWS, Section, naming, table

MEASURES = {
    "rmse": "RMSE", "mae": "MAE", "pearson": "Pearson", "spearman": "Spearman",
    "macro_f1": "macro F1", "macro_recall": "macro recall", "macro_precision": "macro precision",
    "weighted_precision": "weighted precision", "weighted_f1": "weighted F1",
    "accuracy": "accuracy",
}  # fmt: skip

EDGES = [round(0.03 * i, 2) for i in range(34)] + [1.0]
"""Steps of 0.03, so that the bands' edges 0.33 and 0.66 are among them."""


def section(folder: Path, probe: dict[str, Any]) -> Section:
    """Build the section of a fit from predictions.parquet."""
    rows = pq.read_table(folder / "predictions.parquet").to_pylist()
    measured = np.array([row["rps"] for row in rows])
    predicted = np.array([row["predicted"] for row in rows])
    return Section(
        {
            "probe_density": figures_probe.density(measured, predicted),
            "probe_residuals": figures_probe.residuals(measured - predicted),
        },
        {"probe": _families(probe["table"])},
        f"{probe['family']}: predicted and measured RPS of held-out entities correlate at "
        f"{_digits(probe['test']['pearson'])} (Pearson), RMSE {probe['test']['rmse']:.3f}",
    )


def _families(rows: list[dict[str, Any]]) -> Any:
    """Baselines and families by the measures of ARGUS Table 3, as text to three digits."""
    return table(
        {"probe": "text", **dict.fromkeys(MEASURES.values(), "text")},
        [[row["family"], *(_digits(row["test"][name]) for name in MEASURES)] for row in rows],
    )


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def prediction_section(folder: Path, prediction: dict[str, Any]) -> Section:
    """Build the section of a prediction from predicted.parquet."""
    rows = pq.read_table(folder / "predicted.parquet").to_pylist()
    predicted = [row for row in rows if row["rps"] is not None]
    predicted.sort(key=lambda row: (row["rps"], row["id"]))
    counts, edges = np.histogram([row["rps"] for row in predicted], bins=EDGES)
    histogram = {"edges": edges.tolist(), "entities": counts.tolist()}
    plot = figures.distribution(histogram, prediction["k"], prediction["pool"])
    return Section(
        {"predicted": plot} if predicted else {},
        {
            "predicted": table(
                {"entity": "text", "predicted RPS": "share", "band": "band"},
                [
                    [naming(row["label"], row["id"]), row["rps"], row["band"]]
                    for row in predicted[:MAX_ROWS]
                ],
                total=len(predicted),
            )
        },
        f"{prediction['below_tau']:,} of {prediction['entities']['predicted']:,} entities are "
        f"predicted below {prediction['tau']:g}",
    )
