"""Closure and frontier over a million records: building, peak memory, and what one resolve takes.

Twice a million records: in 100,000 scopes of ten, each a chain of an advisory and fixes, the last
a correction in every second one (three rules), and in one scope under one rule of one type. Each
runs in a process of its own, whose peak resident memory is read. `controlling` is asked for 20,000
random records of the chains and 2,000 of the one scope; the first question to the one scope, which
makes its heads, is timed alone, and so is one whole closure. Bars: built in under 60 s and 2 GiB,
1 ms at the median.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

N, CHAIN = 1_000_000, 10
CASES = [("chains", 20_000), ("one scope", 2_000)]
TIMEOUT_S = 900

CHILD = """
import json, sys, time
import numpy as np
from argus.authority.rules import Record
from argus.authority.relation import Authority
from argus.authority.rules import Rule
from argus.authority.times import Moment
from argus.data.provenance import peak_memory_bytes
case, n, chain, asked = sys.argv[1], *map(int, sys.argv[2:])
day = 86_400_000_000

def scope_and_type(i):
    if case == "one scope":
        return "all", "note"
    number, step = divmod(i, chain)
    last = "correction" if number % 2 else "fix"
    return f"p{number}", "advisory" if step == 0 else last if step == chain - 1 else "fix"

def records():
    for i in range(n):
        value, type_ = scope_and_type(i)
        yield Record(f"d{i}", type_, Moment(i * day, (i + 1) * day, ""), {"package": value})

rules = [Rule("note", "note", "package")] if case == "one scope" else [
    Rule("fix", "advisory", "package", name="fixed"),
    Rule("fix", "fix", "package", name="fixed again"),
    Rule("correction", ("advisory", "fix"), "package", name="corrected"),
]
rng = np.random.default_rng(0)
start = time.perf_counter()
authority = Authority(records(), rules)
built = time.perf_counter() - start
peak = peak_memory_bytes()
last = lambda i: n - 1 if case == "one scope" else i // chain * chain + chain - 1

def timed(what, i):
    start = time.perf_counter()
    found = what([f"d{i}"])
    return (time.perf_counter() - start) * 1e6, found

first_us, _ = timed(authority.controlling, 0)
authority.calls.lookups = authority.calls.edges = 0
us = []
for i in rng.integers(0, n, asked).tolist():
    took, found = timed(authority.controlling, i)
    assert found == [f"d{last(i)}"], (i, found)
    us.append(took)
calls = authority.calls.lookups / asked, authority.calls.edges / asked
closure_us, closure = timed(authority.closure, 0)
print(json.dumps({
    "case": case, "records": n, "scopes": len(authority.index.buckets) // len(rules),
    "build_seconds": round(built, 2), "peak_mib_built": round(peak / 2**20),
    "peak_mib": round(peak_memory_bytes() / 2**20),
    "controlling_us_first": round(first_us, 1), "controlling_us_median": round(np.median(us), 1),
    "controlling_us_p99": round(np.percentile(us, 99), 1),
    "lookups_per_controlling": round(calls[0], 2), "edges_per_controlling": round(calls[1], 2),
    "largest_closure": len(closure), "largest_closure_ms": round(closure_us / 1e3, 2),
}))
"""


def run() -> dict[str, Any]:
    rows = []
    for case, asked in CASES:
        result = subprocess.run(
            [sys.executable, "-c", CHILD, case, str(N), str(CHAIN), str(asked)],
            capture_output=True, text=True, timeout=TIMEOUT_S, check=True,
        )  # fmt: skip
        rows.append(json.loads(result.stdout))
        print(rows[-1], flush=True)
    return {"rows": rows, "bars": {"build_seconds": 60, "peak_mib": 2048, "median_us": 1000}}
