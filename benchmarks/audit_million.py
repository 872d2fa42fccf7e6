"""Ranking for millions: memory-mapped vectors, a reservoir, and what the reservoir costs in error.

1,000,000 random unit vectors of 384 dimensions in a file, 20 related entities each, 20,000
competitors per 1,024 queries, parts written as `argus audit` does; in a process of its own, whose
peak memory is read. The error is that of RPS on FB15k-237 (MiniLM, N=800, k=50) against exact, for
reservoirs of several sizes, beside the standard error that the audit reports for itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from argus.retrievability.ranks import pair_ranks
from argus.retrievability.rps import band, reservoir_error, score
from benchmarks.exact_rps import fb15k237

N, DIM, RELATED, RESERVOIR = 1_000_000, 384, 20, 20_000
SIZES = (2_000, 5_000, 10_000)
K, POOL = 50, 800
TIMEOUT_S = 2_400

CHILD = """
import json, sys, time
from pathlib import Path
import numpy as np
from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import peak_memory_bytes
from argus.knowledge.relations import RelationGraph
from argus.retrievability.rps import score
from argus.workflows.audit import AuditConfig
from argus.workflows.rank_parts import ranks_in_parts
home, n, dim, related, reservoir = Path(sys.argv[1]), *map(int, sys.argv[2:])
vectors = np.memmap(home / "vectors.f32", np.float32, "r", shape=(n, dim))
ends = np.random.default_rng(0).integers(0, n, (2, n * related // 2))
graph = RelationGraph.from_edges(n, *ends)
before = peak_memory_bytes()
folder = ArtifactFolder(home / "out")
folder.open()
start = time.perf_counter()
ranks = ranks_in_parts(vectors, graph, folder, AuditConfig(device="cpu"), reservoir)
ranked = time.perf_counter()
scores = score(ranks, n)
done = time.perf_counter()
print(json.dumps({
    "entities": n, "pairs": len(ranks), "ranking_s": round(ranked - start, 1),
    "scoring_s": round(done - ranked, 1),
    "us_per_pair": round((done - start) / len(ranks) * 1e6, 2),
    "peak_mib": round(peak_memory_bytes() / 2**20),
    "vectors_mib": round(vectors.nbytes / 2**20),
    "graph_peak_mib": round(before / 2**20),
    "mean_rps": round(float(np.nanmean(scores.rps)), 4),
}))
"""


def run() -> dict[str, Any]:
    return {
        "dim": DIM,
        "related_per_entity": RELATED,
        "reservoir": RESERVOIR,
        "million": _million(),
        "error_on_fb15k237": _errors(),
    }


def _million() -> dict[str, Any]:
    root = os.environ.get("ARGUS_BENCH")
    with tempfile.TemporaryDirectory(dir=root) as folder:
        _write_vectors(Path(folder) / "vectors.f32")
        numbers = map(str, (N, DIM, RELATED, RESERVOIR))
        command = [sys.executable, "-c", CHILD, folder, *numbers]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
        row: dict[str, Any] = json.loads(done.stdout)
        print(row, flush=True)
        return row


def _write_vectors(path: Path) -> None:
    rng = np.random.default_rng(1)
    with path.open("wb") as file:
        for _ in range(0, N, 50_000):
            block = rng.standard_normal((50_000, DIM), np.float32)
            block /= np.linalg.norm(block, axis=1, keepdims=True)
            file.write(block.tobytes())


def _errors() -> dict[str, Any]:
    vectors, graph = fb15k237()
    exact = score(pair_ranks(vectors, graph), graph.n, k=K, pool=POOL)
    known = exact.measured
    bands = band(exact.rps[known])
    rows = []
    for size in SIZES:
        ranks = pair_ranks(vectors, graph, reservoir=size)
        found = score(ranks, graph.n, k=K, pool=POOL)
        both = known & found.measured
        difference = found.rps[both] - exact.rps[both]
        rows.append(
            {
                "reservoir": size,
                "entities": int(both.sum()),
                "mean": round(float(difference.mean()), 6),
                "mean_absolute": round(float(np.abs(difference).mean()), 6),
                "root_mean_square": round(float(np.sqrt((difference**2).mean())), 6),
                "reported_standard_error": reservoir_error(ranks, graph.n, k=K, pool=POOL),
                "other_band": round(float((band(found.rps[known]) != bands).mean()), 6),
            }
        )
    return {"mean_rps": round(float(exact.rps[known].mean()), 6), "rows": rows}
