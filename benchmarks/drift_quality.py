"""How well drift of chunks from their sources is told, and what 100,000 chunks take.

PEPs, and cranfield passages six to a page: 16 kinds of change (tests.support.drifted), with the
paths of chunks and by words alone, by seeds that chose no threshold. --scale: synthetic words.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

import numpy as np

from argus.data.provenance import peak_memory_bytes
from argus.drift.align import align
from benchmarks.shared import collection
from tests.support.drifted import drifted, kinds, pages

SEEDS = range(31, 39)
KINDS = ("stale", "orphan", "missing", "truncated")


def run() -> dict[str, Any]:
    if "--scale" in sys.argv:
        return _scale(20_000)
    folders = {"peps": (collection("authority/peps"), 1), "cranfield": (collection("cranfield"), 6)}
    return {
        f"{name}, {how}": _quality(folder, together, how == "paths")
        for name, (folder, together) in folders.items()
        for how in ("paths", "words")
    }


def _quality(folder: Any, together: int, with_paths: bool) -> dict[str, Any]:
    """Return recall and precision of each kind, over all seeds."""
    counts = Counter[tuple[str, str]]()
    for seed in SEEDS:
        made = drifted(pages(folder, seed, together), seed)
        got = kinds(made.chunks if with_paths else made.bare, made.sources)
        counts.update({("", "sources"): len(made.sources), ("", "chunks"): len(made.chunks)})
        counts.update((kind, "true") for kind in made.truth.values())
        counts.update((kind, "told") for kind in got.values())
        counts.update((kind, "both") for id_, kind in got.items() if made.truth.get(id_) == kind)
    return {"sources": counts["", "sources"], "chunks": counts["", "chunks"]} | {
        kind: {
            "recall": round(counts[kind, "both"] / counts[kind, "true"], 4),
            "precision": round(counts[kind, "both"] / counts[kind, "told"], 4),
            "n": counts[kind, "true"],
        }
        for kind in KINDS
    }


def _scale(n: int) -> dict[str, Any]:
    """Align five chunks of each of n sources of 450 words."""
    rng, vocabulary = np.random.default_rng(0), np.array([f"w{i:x}" for i in range(60_000)])
    odds = np.arange(1, len(vocabulary) + 1) ** -0.9
    rows = [vocabulary[rng.choice(len(vocabulary), 450, p=odds / odds.sum())] for _ in range(n)]
    chunks = [" ".join(row[at : at + 90]) for row in rows for at in range(0, 450, 90)]
    sources = [" ".join(row) for row in rows]
    start, cpu = time.perf_counter(), time.process_time()
    found = align(sources, chunks)
    return {
        "chunks": len(chunks), "sources": n, "changed": int((found.changed > 0).sum()),
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds": round(time.process_time() - cpu, 1),
        "peak_gb": round(peak_memory_bytes() / 1e9, 2),
    }  # fmt: skip
