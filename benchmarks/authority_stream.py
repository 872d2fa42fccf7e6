"""A million streamed insertions, some of them late, with cached results: what each one costs.

Into 100,000 scopes in turn, and all into one scope, under one rule of one type; one in a hundred is
dated at random among the earlier ones. 50 results are cached: of the first records in the many
scopes, of each window's last in the one scope, where the closure of an early record would hold the
whole scope. They are asked for again, and so made anew, after each window, outside of the time.
`controlling` is asked once a window, so that the heads of the one scope are kept up to date, too.
Times are the mean CPU time in each of 20 windows of 50,000 insertions. Flat is a ratio of the last
window to the first near 1; a walk through the one scope would make it 20 or more.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any

import numpy as np

from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Rule, ScopeKey
from argus.authority.stream import Stream
from argus.authority.times import Moment
from benchmarks.curves import Curve, drawn

N, WINDOWS, WATCHED, LATE = 1_000_000, 20, 50, 100
CASES = {"100,000 scopes": 100_000, "one scope": 1}

PLOT = Path(__file__).parent / "results" / "authority_stream.svg"


def run() -> dict[str, Any]:
    rows = []
    for name, scopes in CASES.items():
        rows.append({"case": name} | _stream(scopes))
        print(rows[-1], flush=True)
        gc.collect()
    PLOT.parent.mkdir(exist_ok=True)
    PLOT.write_text(plot(rows), encoding="utf-8")
    return {"insertions": N, "windows": WINDOWS, "watched": WATCHED, "rows": rows}


def _stream(scopes: int) -> dict[str, Any]:
    stream = Stream(Authority((), [Rule(("note",), ("note",), (ScopeKey("package", "package"),))]))
    rng = np.random.default_rng(0)
    size = N // WINDOWS
    curve, superseded, invalidated = [], 0, 0
    for window in range(WINDOWS):
        records = [_record(i, scopes, rng) for i in range(window * size, (window + 1) * size)]
        start = time.process_time()
        for record in records:
            change = stream.insert(record)
            superseded += len(change.superseded)
            invalidated += len(change.invalidated)
        curve.append((time.process_time() - start) / size * 1e6)
        _watch(stream, records, window, scopes)
        stream.authority.controlling([records[0].id])
    return {
        "us_per_insertion": [round(us, 2) for us in curve],
        "last_to_first": round(curve[-1] / curve[0], 2),
        "last_five_to_first_five": round(sum(curve[-5:]) / sum(curve[:5]), 2),
        "superseded": superseded,
        "results_invalidated": invalidated,
    }


def _record(i: int, scopes: int, rng: np.random.Generator) -> Record:
    at = int(rng.integers(0, i + 1)) if i % LATE == LATE - 1 else i
    return Record(f"d{i}", "note", Moment(at, at + 1, ""), {"package": f"p{i % scopes}"})


def _watch(stream: Stream, records: list[Record], window: int, scopes: int) -> None:
    """Cache the results after the first window, or ask for all again; in one scope, of the last."""
    for j in range(WATCHED):
        if scopes == 1:
            stream.watch(f"q{j}", [records[-2 - j].id])
        elif window == 0:
            stream.watch(f"q{j}", [records[j].id])
        else:
            stream.result(f"q{j}")


def plot(rows: list[dict[str, Any]]) -> str:
    """Return the curves as SVG: microseconds per insertion by insertions so far, from 0."""
    places = [N * (i + 1) / WINDOWS for i in range(WINDOWS)]
    curves = [Curve(row["case"], places, row["us_per_insertion"]) for row in rows]
    return drawn(curves, N, "insertions; microseconds of CPU per insertion")
