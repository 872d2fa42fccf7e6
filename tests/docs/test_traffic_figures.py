"""The page of traffic's results shows what was measured, and its plots are drawn of it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from argus.traffic.risk.calibration import Slope
from benchmarks.traffic_calibration import PLOT, calibrated, sheet, table
from benchmarks.traffic_collections import FAMILIES, Log

ROOT = Path(__file__).parents[2]


def result(name):
    return json.loads((ROOT / "benchmarks/results" / f"{name}.json").read_text())["result"]


def test_the_table_and_the_plots_are_those_that_were_measured():
    rows, cells = result("traffic_calibration")["logs"], result("traffic_coverage")["cells"]
    page = (ROOT / "docs/results/traffic.md").read_text("utf-8")
    for line in table(rows, cells):
        assert line in page
    assert PLOT.read_text("utf-8") == sheet(rows) and PLOT.stat().st_size < 50_000
    titles = [e.text for e in ElementTree.parse(PLOT).iter() if e.get("font-weight")]
    assert [title.partition(":")[0] for title in titles if title] == list(FAMILIES)


@pytest.mark.parametrize("slope", [0.0, 1.5])
def test_a_log_of_exact_probabilities_is_calibrated_after_judgements(slope):
    """Its level is learnt from 30 judgements, whatever the level of other collections was."""
    rng = np.random.default_rng(1)
    z = rng.standard_normal(600)
    failed = (rng.random(600) < 1 / (1 + np.exp(2 - slope * z))).astype(float)
    log = Log("cranfield", "dense", np.zeros((600, 1)), np.zeros((600, 1)), failed,
              np.arange(600), failed, 1 - failed)  # fmt: skip
    row = calibrated(log, z, Slope(0.5, slope, 1.5, 0.4))
    assert row["error_before"] > 0.25 and row["error_after"] < 0.1
    for one in row["bins"]:
        assert one["low"] - 0.05 <= one["after"] <= one["high"] + 0.05
    bound = row["failure"]
    if slope:
        assert bound["least_width"] == pytest.approx((1 - bound["correlation"] ** 2) ** 0.5, 1e-3)
        assert row["ndcg"]["correlation"] == -bound["correlation"]
    else:
        assert bound is None
