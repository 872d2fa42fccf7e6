"""A log of a million questions: peak memory and time of reading it, beside a bare loop over JSON.

Real questions of a shared collection (wiki2), half of them with a number behind so that they
differ, each with a time, a user and ten results with scores. Reading is `argus.read_traffic`:
parsed, redacted, hashed. Taking down is reading into the log's file, as `argus.audit_traffic` does
first; the job is all of it, with the log's own lists, no corpus and nobody asked. Each runs in a
process of its own; a tenth of the log shows what memory grows with. Seconds are of the processor.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.shared import collection

QUESTIONS, RESULTS, DOCUMENTS, USERS = 1_000_000, 10, 5_000, 1_000
LIMIT_S = 900


def run() -> dict[str, Any]:
    results: dict[str, Any] = {"results_per_question": RESULTS}
    with tempfile.TemporaryDirectory() as folder:
        for n in (QUESTIONS // 10, QUESTIONS):
            log = Path(folder) / f"{n}.jsonl"
            write_log(log, n)
            figures = {step: _alone(step, log) for step in STEPS}
            bare = figures["bare"]["seconds"]
            for one in figures.values():
                one["times_bare"] = round(one["seconds"] / bare, 1)
            results[f"{n:,}"] = {"log_mib": round(log.stat().st_size / 2**20), **figures}
            log.unlink()
    return results


def write_log(path: Path, n: int) -> None:
    """Write a log of n questions."""
    rng = random.Random(0)
    with (collection("wiki2") / "queries.jsonl").open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            served = [
                {"id": f"d{rng.randrange(DOCUMENTS)}", "score": round(1 - j / 20, 3)}
                for j in range(RESULTS)
            ]
            row = {
                "query": rng.choice(texts) + (f" {i}" if i % 2 else ""),
                "timestamp": 1_700_000_000 + i,
                "user": f"u{rng.randrange(USERS)}",
                "results": served,
            }
            file.write(json.dumps(row) + "\n")


def bare(log: Path) -> int:
    """Parse every line, and nothing else."""
    with log.open(encoding="utf-8") as lines:
        return sum(1 for line in lines if json.loads(line))


def read(log: Path) -> int:
    """Read, redact and hash."""
    import argus

    return sum(1 for _ in argus.read_traffic(log))


def take_down(log: Path) -> int:
    """Read into the log's own file."""
    import argus
    from argus.traffic.log.book import LogBook

    reader = argus.read_traffic(log)
    with LogBook(log.with_suffix(".sqlite")) as book:
        for one in reader:
            book.add(one, reader.key(one.query) if isinstance(one, argus.Exchange) else b"")
        book.flush()
        return book.asks


def job(log: Path) -> int:
    """Do everything that the command does."""
    import argus

    result = argus.audit_traffic(log, out=log.with_suffix(".out"))
    return result.summary["log"]["asks"]


STEPS: dict[str, Callable[[Path], int]] = {
    "bare": bare, "read": read, "take_down": take_down, "job": job,
}  # fmt: skip


def _alone(step: str, log: Path) -> dict[str, Any]:
    """Run a step in a process of its own; return its seconds and its peak memory."""
    code = (
        "import json, time; from pathlib import Path; from benchmarks import traffic_scale as t\n"
        "from argus.data.provenance import peak_memory_bytes\n"
        "start, cpu = time.perf_counter(), time.process_time()\n"
        f"n = t.STEPS[{step!r}](Path({str(log)!r}))\n"
        "print(json.dumps({'asks': n, 'seconds': round(time.process_time() - cpu, 2), "
        "'wall_s': round(time.perf_counter() - start, 1), "
        "'peak_mib': round(peak_memory_bytes() / 2**20)}))"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(step, figures, f"{time.perf_counter() - start:.0f} s", flush=True)
    return figures
