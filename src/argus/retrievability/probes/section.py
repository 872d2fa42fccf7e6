"""The probe's section: the table of families, with calibration."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from argus.reports.section import Section, Table, table
from argus.retrievability.probes import figures
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
    rows = pq.read_table(folder / "predictions.parquet", columns=["rps", "predicted"])
    measured, predicted = rows["rps"].to_numpy(), rows["predicted"].to_numpy()
    return Section(
        {
            "probe_density": figures.density(measured, predicted),
            "probe_residuals": figures.residuals(measured - predicted),
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
