"""How well `argus plan` predicts: audits of three sizes on this machine.

The machine is measured first (`argus plan --measure`); then FB15k-237 is audited with MiniLM at
three limits, each in a process of its own, and what it took is set against the plan: seconds in
all, peak memory, bytes of everything that is left in the folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from argus.planning import Hardware, Workload, load_hardware, plan
from benchmarks.shared import collection

LIMITS = (3_000, 7_000, 14_541)
TIMEOUT_S = 1_200
BAR = 0.30

MAIN = "from argus.cli.main import main; main()"


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "this.json"
        _argus("plan", "--measure", str(file))
        hardware = load_hardware(str(file))
        rows = [_row(Path(folder) / str(limit), limit, hardware) for limit in LIMITS]
    worst = max(abs(ratio - 1) for row in rows for ratio in row["predicted_over_measured"].values())
    return {
        "hardware": {k: v for k, v in vars(hardware).items()},
        "rows": rows,
        "worst_error": round(worst, 3),
        "bar": BAR,
        "within": all(within for row in rows for within in row["within"].values()),
    }


def _row(out: Path, limit: int, hardware: Hardware) -> dict[str, Any]:
    source = collection("fb15k237")
    start = time.perf_counter()
    _argus(
        "audit", "--corpus", str(source / "entities.jsonl"), "--relations",
        str(source / "edges.tsv"), "--skip-unknown", "--limit", str(limit), "--out", str(out),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    summary = json.loads((out / "summary.json").read_text())["audit"]
    manifest = json.loads((out / "manifest.json").read_text())["audit"]
    work = _workload(summary)
    steps = plan(work, hardware)
    predicted = {
        "seconds": sum(step.seconds for step in steps),
        "memory_bytes": max(step.memory_bytes for step in steps),
        "stored_bytes": sum(step.stored_bytes for step in steps),
    }
    measured = {
        "seconds": seconds,
        "memory_bytes": manifest["peak_memory_bytes"],
        "stored_bytes": sum(f.stat().st_size for f in out.rglob("*") if f.is_file()),
    }
    row: dict[str, Any] = {
        "entities": work.entities,
        "neighbours": round(work.neighbours, 2),
        "predicted": {k: round(v, 1) for k, v in predicted.items()},
        "measured": {k: round(v, 1) for k, v in measured.items()},
        "steps": {step.name: round(step.seconds, 2) for step in steps},
        "same_encoder": manifest["encoder"]["fingerprint"] == hardware.encoder,
        "timings_s": manifest["timings_s"],
        "predicted_over_measured": {k: round(predicted[k] / measured[k], 3) for k in predicted},
    }
    row["within"] = {k: abs(v - 1) <= BAR for k, v in row["predicted_over_measured"].items()}
    print(row, flush=True)
    return row


def _workload(summary: dict[str, Any]) -> Workload:
    entities = summary["entities"]["total"]
    return Workload(
        entities=entities,
        neighbours=summary["pairs"]["measured"] / entities,
        words=_mean_words(entities),
    )


def _mean_words(entities: int) -> float:
    rows = (collection("fb15k237") / "entities.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(row).get("text") or json.loads(row).get("paragraph") or "" for row in rows]
    return sum(len(text.split()) for text in texts[:entities]) / entities


def _argus(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], check=True, stdout=subprocess.DEVNULL,
        timeout=TIMEOUT_S, env=os.environ | {"OMP_NUM_THREADS": "2"},
    )  # fmt: skip
