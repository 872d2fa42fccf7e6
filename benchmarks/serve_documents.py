"""The page of documents over a million rows: milliseconds of each request, of a made folder.

exposure.parquet and retrievability.parquet have a row per document, so that both are joined, once.
Requests go through the whole application, without a socket. ARGUS_ROWS names another size.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from starlette.testclient import TestClient

from argus.service.app import create_app
from argus.service.workplace import open_workplace

ROWS = int(os.environ.get("ARGUS_ROWS", "1000000"))
REPEATS = 5
BARS = {"slowest_median_ms": 300}
LINKS = {
    "first page": "",
    "sorted by rank": "?sort=title_rank",
    "sorted by RPS, greatest first": "?sort=-rps",
    "sorted by title": "?sort=label",
    "one band, sorted": "?band=low&sort=rps",
    "one cause": "?cause=never+retrieved",
    "search": "?q=river+77",
    "search, sorted": "?q=castle&sort=-by_others",
    "search for nothing": "?q=zzzz",
    "the last page": f"?page={ROWS // 50}",
    "the last page, sorted": f"?sort=rps&page={ROWS // 50}",
}


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "million"
        folder.mkdir()
        make(folder, ROWS)
        app = create_app(open_workplace([folder]))
        with TestClient(app, base_url="http://127.0.0.1") as client:
            start = time.perf_counter()
            assert client.get("/page/million/documents").status_code == 200
            first = time.perf_counter() - start
            medians = {name: _median(client, link) for name, link in LINKS.items()}
    return {
        "bars": BARS,
        "rows": ROWS,
        "opening_s": round(first, 2),
        "median_ms": medians,
        "slowest_median_ms": max(medians.values()),
    }


def _median(client: TestClient, link: str) -> float:
    """Return the milliseconds of a part of the page, as htmx asks for it; the first is not kept."""
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        answer = client.get(f"/page/million/documents{link}", headers={"HX-Request": "true"})
        times.append(1000 * (time.perf_counter() - start))
        assert answer.status_code == 200, answer.text
    return round(statistics.median(times[1:]), 1)


def make(folder: Path, rows: int) -> None:
    """Write a folder of results with so many documents."""
    rng = np.random.default_rng(0)
    words = np.array(["river", "castle", "mill", "bridge", "tower", "market", "harbour", "abbey"])
    ids = [f"d{i:07d}" for i in range(rows)]
    named, numbers = words[rng.integers(0, 8, rows)], rng.integers(0, rows, rows)
    labels = [f"The {w} {n}" for w, n in zip(named.tolist(), numbers.tolist(), strict=True)]
    ranks, rps = rng.geometric(0.05, rows), rng.random(rows)
    exposure = {
        "id": ids, "label": labels, "title_rank": ranks,
        "sentence_rank": rng.geometric(0.02, rows).astype(float),
        "own_probes": np.full(rows, 3), "retrieved_by_own": rng.integers(0, 4, rows),
        "retrieved_by_others": rng.poisson(8, rows), "never_retrieved": rng.random(rows) < 0.02,
        "state": ["measured"] * rows, "reason": [""] * rows,
    }  # fmt: skip
    bands = np.where(rps < 0.33, "low", np.where(rps < 0.66, "mid", "high"))
    audit = {
        "id": ids, "label": labels, "rps": rps, "band": bands.tolist(),
        "related": rng.integers(1, 30, rows), "displaced_by": pa.nulls(rows, pa.string()),
        "x": rng.normal(rps, 0.5), "y": rng.normal(0, 1, rows),
    }  # fmt: skip
    pq.write_table(pa.table(exposure), folder / "exposure.parquet")
    pq.write_table(pa.table(audit), folder / "retrievability.parquet")
    for name in ("summary.json", "manifest.json"):
        (folder / name).write_text("{}")


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
