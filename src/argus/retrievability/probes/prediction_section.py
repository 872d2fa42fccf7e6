"""The section of a prediction: predicted RPS of entities, lowest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, naming, table

EDGES = [round(0.03 * i, 2) for i in range(34)] + [1.0]
"""Steps of 0.03, so that the bands' edges 0.33 and 0.66 are among them."""


def section(folder: Path, prediction: dict[str, Any]) -> Section:
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
