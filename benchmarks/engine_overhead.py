"""One audit, from scratch, in this process and through Ray on the same two cores.

FB15k-237, MiniLM in float32: 14,515 texts to embed, 420,892 pairs to rank. What Ray adds is a part
that every job pays once (start of the cluster, of the actor, a second load of the model) and a part
per block; the first is taken to be what Ray adds to an audit of SMALL entities.
`ratio_at_20_minutes` takes the larger job's own ratio without the fixed part (1 at least), and adds
the fixed part to 20 minutes: an extrapolation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.shared import collection

FB15K237 = collection("fb15k237")
SMALL = 1_000
BAR = 1.25


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        took: dict[str, dict[str, float]] = {}
        for size, limit in (("small", ["--limit", str(SMALL)]), ("whole", [])):
            took[size] = {}
            for engine in ("local", "ray"):
                out = Path(folder) / f"{size}-{engine}"
                took[size][engine] = audited(FB15K237, out, engine, *limit)
                print(size, engine, took[size][engine], flush=True)
        differs = difference(Path(folder) / "whole-local", Path(folder) / "whole-ray")
    fixed = took["small"]["ray"] - took["small"]["local"]
    whole = took["whole"]
    per_work = max((whole["ray"] - fixed) / whole["local"], 1.0)
    return {
        "seconds": {s: {e: round(v, 1) for e, v in t.items()} for s, t in took.items()},
        "ratio": round(whole["ray"] / whole["local"], 3),
        "fixed_s": round(fixed, 1),
        "ratio_at_20_minutes": round(per_work + fixed / 1200, 3),
        "largest_difference_of_rps": differs,
        "bar": BAR,
    }


def audited(folder: Path, out: Path, engine: str, *options: str, timeout_s: float = 1_500) -> float:
    """Audit entities.jsonl and edges.tsv of a folder; return the seconds of the whole command."""
    command = [sys.executable, "-m", "argus", "research", "audit"]
    command += ["--corpus", str(folder / "entities.jsonl")]
    command += ["--relations", str(folder / "edges.tsv"), "--skip-unknown", *options]
    command += ["--precision", "float32", "--out", str(out), "--engine", engine]
    start = time.perf_counter()
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, timeout=timeout_s,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    return time.perf_counter() - start


def difference(one: Path, two: Path) -> float:
    """Return the largest difference of RPS between two results."""
    scores = [pq.read_table(f / "retrievability.parquet")["rps"].to_numpy() for f in (one, two)]
    return float(np.nanmax(np.abs(scores[0] - scores[1])))
