"""An audit of millions: memory-mapped vectors, a reservoir, and what the reservoir costs in error.

1,000,000 synthetic entities with paragraphs of about 20 words, 20 related entities each, audited as
`argus research audit` does with 20,000 competitors per 1,024 queries; the encoder takes its
vectors of 384
dimensions from a hash, so that what is measured is the audit's own. It runs in a process of its
own, whose memory is read. The error is that of RPS on FB15k-237 (MiniLM, N=800, k=50) against
exact, for reservoirs of several sizes, beside the standard error that the audit reports for itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from argus.retrievability.ranks import pair_ranks
from argus.retrievability.rps import band, reservoir_error, score
from benchmarks.exact_rps import fb15k237

N, DIM, RELATED, RESERVOIR = 1_000_000, 384, 20, 20_000
SIZES = (2_000, 5_000, 10_000)
K, POOL = 50, 800
TIMEOUT_S = 4 * 3_600

CHILD = """
import json, sys, threading, time
from pathlib import Path
import numpy as np
import pyarrow as pa
from argus.data.folders import ArtifactFolder
from argus.data.provenance import peak_memory_bytes
from argus.knowledge import KnowledgeBase, RelationGraph
from argus.knowledge.base import ArrowEntities
from argus.retrievability.audit import audit_knowledge
from argus.retrievability.config import AuditConfig
from benchmarks.shared import RandomEncoder
from argus.jobs.workspace import Record

home, n, dim, related, reservoir = Path(sys.argv[1]), *map(int, sys.argv[2:])
rng = np.random.default_rng(0)
words = np.array([f"{a}{b}" for a in ("al", "be", "ca", "do") for b in range(2_000)])

def texts(start, stop):
    drawn = words[rng.integers(0, len(words), (stop - start, 18))]
    return [f"Entity {i} {' '.join(row)}." for i, row in zip(range(start, stop), drawn)]

blocks = [(i, min(i + 50_000, n)) for i in range(0, n, 50_000)]
table = pa.table({
    "id": pa.array([f"e{i:09}" for i in range(n)]),
    "label": pa.array([f"Entity {i}" for i in range(n)]),
    "paragraph": pa.chunked_array([pa.array(texts(*block)) for block in blocks]),
})
base = KnowledgeBase(
    ArrowEntities(table), RelationGraph.from_edges(n, *rng.integers(0, n, (2, n * related // 2)))
)
text_mib = round(table["paragraph"].nbytes / 2**20)
del table
before = peak_memory_bytes()

at = {"step": "start"}
anonymous = {}
class Watched(Record):
    def timed(self, step):
        at["step"] = step
        return super().timed(step)

def watch():
    while at["step"] is not None:
        lines = Path("/proc/self/status").read_text().splitlines()
        kib = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
        anonymous[at["step"]] = max(anonymous.get(at["step"], 0), kib >> 10)
        time.sleep(0.05)

threading.Thread(target=watch, daemon=True).start()
start = time.perf_counter()
found = audit_knowledge(
    base, ArtifactFolder(home / "out"), RandomEncoder(dim),
    AuditConfig(device="cpu", reservoir=reservoir), Watched("audit", {}, {}),
)
total = time.perf_counter() - start
at["step"] = None
manifest = json.loads((home / "out" / "manifest.json").read_text())["audit"]
steps = manifest["timings_s"]
print(json.dumps({
    "entities": n, "pairs": len(found.ranks), "total_s": round(total, 1), "steps_s": steps,
    "outside_steps_s": round(total - sum(steps.values()), 1),
    "ranking_us_per_pair": round(steps["ranking"] / len(found.ranks) * 1e6, 2),
    "peak_mib": round(peak_memory_bytes() / 2**20),
    "anonymous_mib": anonymous,
    "vectors_mib": round(4 * dim * n / 2**20), "texts_mib": text_mib,
    "before_peak_mib": round(before / 2**20),
    "mean_rps": found.summary["mean_rps"],
    "reservoir_standard_error": found.summary["reservoir"]["mean_standard_error"],
}))
"""


def run() -> dict[str, Any]:
    return {
        "dim": DIM,
        "related_per_entity": RELATED,
        "reservoir": RESERVOIR,
        "million": audited(N),
        "error_on_fb15k237": _errors(),
    }


def audited(n: int) -> dict[str, Any]:
    """Audit n synthetic entities in another process; return its seconds by step and its memory."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("ARGUS_BENCH")) as folder:
        numbers = map(str, (n, DIM, RELATED, RESERVOIR))
        command = [sys.executable, "-c", CHILD, folder, *numbers]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True
        )
        row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        print(row, flush=True)
        return row


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
