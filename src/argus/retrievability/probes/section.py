"""The probe's section: the table of families, with calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from argus.reports.section import Section, table
from argus.retrievability.probes import figures as figures_probe

MEASURES = {
    "rmse": "RMSE", "mae": "MAE", "pearson": "Pearson", "spearman": "Spearman",
    "macro_f1": "macro F1", "macro_recall": "macro recall", "macro_precision": "macro precision",
    "weighted_precision": "weighted precision", "weighted_f1": "weighted F1",
    "accuracy": "accuracy",
}  # fmt: skip


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
