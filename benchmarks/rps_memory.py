"""Time and peak memory of exact RPS over random entities x 384 dims, 20 related entities each.

Each size runs in a process of its own, whose peak resident memory is read; "beyond embeddings" is
that less the vectors themselves. Exact up to 50,000 entities, a reservoir of 20,000 neutrals per
1,024 queries from 50,000 on (both at 50,000).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

DIM, RELATED, RESERVOIR = 384, 20, 20_000
CASES = [(n, 0) for n in (5_000, 10_000, 20_000, 50_000)]
CASES += [(50_000, RESERVOIR), (200_000, RESERVOIR)]
TIMEOUT_S = 1200

CHILD = """
import json, sys, time
import numpy as np
from argus.data.provenance import peak_memory_bytes
from argus.retrievability.ranks import pair_ranks
from argus.retrievability.rps import reservoir_error, score
from benchmarks.shared import random_graph, unit_rows
n, reservoir, dim, related = map(int, sys.argv[1:])
vectors, graph = unit_rows(n, dim), random_graph(n, related)
pair_ranks(vectors[:50], random_graph(50, 2))  # compiles
start = time.perf_counter()
ranks = pair_ranks(vectors, graph, reservoir=reservoir or None)
ranked = time.perf_counter()
scores = score(ranks, n)
done = time.perf_counter()
print(json.dumps({
    "entities": n, "reservoir": reservoir or None, "pairs": len(ranks),
    "seconds": round(done - start, 2), "us_per_pair": round((done - start) / len(ranks) * 1e6, 2),
    "peak_mib": round(peak_memory_bytes() / 2**20),
    "beyond_embeddings_mib": round((peak_memory_bytes() - vectors.nbytes) / 2**20),
    "mean_rps": round(float(np.nanmean(scores.rps)), 4),
    "mean_standard_error": reservoir_error(ranks, n, k=50, pool=800) if reservoir else 0.0,
}))
"""


def run() -> dict[str, Any]:
    rows = []
    for n, reservoir in CASES:
        command = [sys.executable, "-c", CHILD, str(n), str(reservoir), str(DIM), str(RELATED)]
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
        rows.append(json.loads(result.stdout))
        print(rows[-1], flush=True)
    return {"dim": DIM, "related_per_entity": RELATED, "rows": rows}
