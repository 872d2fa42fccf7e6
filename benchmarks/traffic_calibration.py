"""Each judged collection's questions as a log without labels: predicted and real failure.

Slope and intercept are those of the other families (`traffic_risk`). Of each log, five bins of
equal numbers: what was predicted before any judgement, what after 30 (the mean of 200 draws), and
the share that really failed. Beside it the correlation of prediction and failure, and what that
allows: an interval from few judgements is √(1 - ρ²) times as wide as plain sampling's, at best
(`traffic_coverage` measures it). The plots go to docs/results/traffic-calibration.svg, and `table`
is the table of docs/results/traffic.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import escape

from argus.measures.intervals import wilson
from argus.reports.figures import BAND_COLOURS, CalibrationPoint, Figure, calibration
from argus.reports.svg import svg
from argus.traffic.risk.calibration import Slope, calibration_error
from argus.traffic.risk.model import standing
from benchmarks.traffic_collections import FAMILIES, Log, logs
from benchmarks.traffic_risk import LEAST, SEED, TRIALS, auc, families_of, mean_slope, usable

JUDGEMENTS, BINS = 30, 5
PLOT = Path(__file__).parents[1] / "docs" / "results" / "traffic-calibration.svg"
SHOWN, MEASURED = "dense", ("dense", "BM25")
COLUMNS, WIDE, TALL, HEAD = 2, 520, 320, 26
COLOURS = ("#b9a27c", BAND_COLOURS["high"])
STYLE = """\
:root { --line: #e4e7ec; color: #2b2f36; font-family: system-ui, sans-serif; }
text { fill: #5d6675; } text.name { fill: #2b2f36; } .grid-line { stroke: var(--line); fill: none; }
.paper { fill: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --line: #363c46; color: #e3e6eb; }
  text { fill: #a3abb8; } text.name { fill: #e3e6eb; } .paper { fill: #16191d; }
}
"""
Floats = Any


def run() -> dict[str, Any]:
    everything = [log for name in FAMILIES for log in logs(name)]
    z = {id(log): standing(log.signals).z for log in everything}
    slopes = {
        family: mean_slope([log for log in everything if log.family != family], z)
        for family in families_of(everything)
    }
    rows = [calibrated(log, z[id(log)], slopes[log.family]) for log in everything]
    PLOT.write_text(sheet(rows), encoding="utf-8")
    return {"judgements": JUDGEMENTS, "draws": TRIALS, "bins": BINS, "logs": rows}


def calibrated(log: Log, z: Floats, slope: Slope) -> dict[str, Any]:
    """Return what was predicted of a log, before and after judgements, beside what failed."""
    rng = np.random.default_rng(SEED)
    before = slope.probability(z)
    draws = []
    for _ in range(TRIALS if len(z) - LEAST >= JUDGEMENTS else 0):
        rows = rng.choice(len(z), JUDGEMENTS, replace=False)
        draws.append(slope.corrected(z[rows], log.failed[rows]).probability(z))
    after = np.mean(draws, axis=0) if draws else None
    errors = [calibration_error(drawn, log.failed) for drawn in draws]
    return {
        "collection": log.collection, "family": log.family, "retriever": log.retriever,
        "questions": len(z), "failed": round(float(log.failed.mean()), 4),
        "auc": round(auc(log.failed, z), 4) if usable(log.failed) else None,
        "error_before": round(calibration_error(before, log.failed), 4),
        "error_after": round(float(np.mean(errors)), 4) if errors else None,
        "failure": _bound(before, log.failed), "ndcg": _bound(before, log.ndcg),
        "bins": [_bin(part, log, before, after)
                 for part in np.array_split(np.argsort(z, kind="stable"), BINS)],
    }  # fmt: skip


def _bound(predicted: Floats, truth: Floats) -> dict[str, float] | None:
    """Return the correlation, and the least width beside plain sampling's that it allows."""
    if predicted.std() < 1e-9 or truth.std() < 1e-9:
        return None
    correlation = float(np.corrcoef(predicted, truth)[0, 1])
    return {
        "correlation": round(correlation, 4),
        "least_width": round(math.sqrt(1 - correlation**2), 4),
    }


def _bin(part: Floats, log: Log, before: Floats, after: Floats | None) -> dict[str, Any]:
    share = float(log.failed[part].mean())
    low, high = wilson(share, len(part))
    return {
        "questions": len(part), "failed": round(share, 4), "low": round(float(low), 4),
        "high": round(float(high), 4), "before": round(float(before[part].mean()), 4),
        "after": None if after is None else round(float(after[part].mean()), 4),
    }  # fmt: skip


def table(rows: Sequence[dict[str, Any]], cells: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line per collection of MiniLM and BM25. cells: those of `traffic_coverage`."""
    return [
        _line(
            [row for row in rows if row["collection"] == name and row["retriever"] in MEASURED],
            [c for c in cells if c["collection"] == name and c["predictor"] == "risk"],
        )
        for name in FAMILIES
    ]


def _line(own: Sequence[dict[str, Any]], cells: Sequence[dict[str, Any]]) -> str:
    shares = ", ".join(f"{row['failed']:.0%}" for row in own)
    columns = [
        f"{own[0]['collection']} ({own[0]['questions']})", shares,
        _pair(row["auc"] for row in own), _pair(row["error_before"] for row in own),
        _pair(row["error_after"] for row in own),
    ]  # fmt: skip
    for measure, key in (("failure rate", "failure"), ("nDCG@k", "ndcg")):
        groups = [
            [c for c in cells if c["measure"] == measure and c["retriever"] == row["retriever"]]
            for row in own
        ]
        columns += [
            _pair(row[key] and abs(row[key]["correlation"]) for row in own),
            _pair(row[key] and row[key]["least_width"] for row in own),
            _pair(_mean(group, "ratio") for group in groups),
            ", ".join(f"{100 * mean:.0f}" if mean is not None else "–"
                      for mean in (_mean(group, "coverage") for group in groups)),
        ]  # fmt: skip
    return f"| {' | '.join(columns)} |"


def _pair(values: Iterable[float | None]) -> str:
    return ", ".join("–" if value is None else f"{value:.2f}" for value in values)


def _mean(cells: Sequence[dict[str, Any]], key: str) -> float | None:
    return float(np.mean([cell[key] for cell in cells])) if cells else None


def sheet(rows: Sequence[dict[str, Any]]) -> str:
    """Return a drawing of one plot per collection, as reports draw them, that stands by itself."""
    shown = [row for row in rows if row["retriever"] == SHOWN]
    tall = TALL + HEAD
    panels = []
    for i, row in enumerate(shown):
        x, y = i % COLUMNS * WIDE, i // COLUMNS * tall
        title = f"{row['collection']}: {row['questions']} questions, {row['failed']:.0%} fail"
        drawn = str(svg(plot(row), title)).replace(
            "<svg ", f'<svg x="{x}" y="{y + HEAD}" width="{WIDE}" height="{TALL}" ', 1
        )
        head = f'<text class="name" x="{x + 56}" y="{y + 20}" font-size="14" font-weight="600">'
        panels.append(f"{head}{escape(title)}</text>{drawn}")
    width, height = WIDE * COLUMNS, tall * math.ceil(len(shown) / COLUMNS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Predicted risk and the share that failed, by collection">'
        f'<style>{STYLE}</style><rect class="paper" width="{width}" height="{height}"/>'
        + "\n".join(panels) + "</svg>\n"
    )  # fmt: skip


def plot(row: dict[str, Any]) -> Figure:
    """Return the plot of one log."""
    series = {
        name: [CalibrationPoint(one[key], one["failed"], one["low"], one["high"])
               for one in row["bins"] if one[key] is not None]
        for name, key in (("before judgements", "before"), (f"after {JUDGEMENTS}", "after"))
    }  # fmt: skip
    return calibration(series, COLOURS, "predicted risk", "share that failed")
