"""What the commands print and write."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from argus.cli import output as options
from argus.hidden import remember

SMALL = ("--k", "2", "--pool", "5", "--precision", "float32")


def test_an_entity_without_paragraph_is_null_and_not_zero(
    jsonl, documents, argus, tmp_path: Path
) -> None:
    records = [*documents, {"_id": "d12", "title": "Silent Partner", "text": ""}]
    path = jsonl(tmp_path / "c.jsonl", records)
    ran = argus("research", "audit", "--corpus", path, "--out", "out", *SMALL)
    assert ran.code == 0
    assert "12 measured, 0 failed, 1 not applicable" in ran.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["audit"]
    assert summary["entities"] == {
        "total": 13,
        "measured": 12,
        "failed": 0,
        "not applicable": 1,
        "reasons": {"no paragraph": 1},
    }
    rows = pq.read_table(tmp_path / "out" / "retrievability.parquet").to_pylist()
    silent = rows[-1]
    assert (silent["id"], silent["state"], silent["reason"]) == (
        "d12", "not applicable", "no paragraph",
    )  # fmt: skip
    assert [silent[c] for c in ("rps", "low", "high", "band", "x", "y")] == [None] * 6
    assert all(0 <= row["rps"] <= 1 and row["reason"] == "" for row in rows[:-1])
    mean = sum(row["rps"] for row in rows[:-1]) / 12
    assert summary["mean_rps"] == pytest.approx(mean, abs=1e-6), "no zero in the mean"


def test_no_secret_is_printed(capsys):
    remember(keys=["key-of-an-endpoint-1"])
    options.say("d1 Bearer key-of-an-endpoint-1")
    options.print_json({"id": "key-of-an-endpoint-1", "k": 3})
    line, text = capsys.readouterr().out.split("\n", 1)
    assert line == "d1 Bearer ***" and json.loads(text) == {"id": "***", "k": 3}
