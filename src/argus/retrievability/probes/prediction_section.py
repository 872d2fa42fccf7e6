"""The section of a prediction: predicted RPS of entities, lowest first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typing_extensions import TypedDict

from argus.data.tables import read_table
from argus.reports.figures import Histogram, distribution
from argus.reports.section import MAX_ROWS, Section, naming, table
from argus.retrievability.probes.summary import PredictionSummary

EDGES = [round(0.03 * i, 2) for i in range(34)] + [1.0]
"""Steps of 0.03, so that the bands' edges 0.33 and 0.66 are among them."""


class Row(TypedDict):
    """Columns of an entity in the report, from predicted.parquet."""

    id: str
    label: str
    rps: float
    band: str


def section(folder: Path, summary: PredictionSummary) -> Section:
    """Build the section of a prediction from predicted.parquet."""
    entities = read_table(folder / "predicted.parquet", columns=list(Row.__annotations__))
    rows: list[Row] = entities.filter(entities["rps"].is_valid()).to_pylist()
    rows.sort(key=lambda row: (row["rps"], row["id"]))
    counts, edges = np.histogram([row["rps"] for row in rows], bins=EDGES)
    histogram: Histogram = {"edges": edges.tolist(), "entities": counts.tolist()}
    plot = distribution(histogram, summary["k"], summary["pool"])
    return Section(
        {"predicted": plot} if rows else {},
        {
            "predicted": table(
                {"entity": "text", "predicted RPS": "share", "band": "band"},
                [
                    [naming(row["label"], row["id"]), row["rps"], row["band"]]
                    for row in rows[:MAX_ROWS]
                ],
                total=len(rows),
            )
        },
        f"{summary['below_tau']:,} of {summary['entities']['predicted']:,} entities are "
        f"predicted below {summary['tau']:g}",
    )
