"""`argus generative analyse` over files of the published size: time, and memory of all processes.

6,515 questions with 100 passages of 42 n-grams each, made up in the published format, indented; one
SEAL-like file by itself, then beside a MINDER-like one. Files are made once, under ARGUS_BENCH (or
the system's temporary folder), and need 10 GB. Reading the bytes alone, by one process, is the
baseline: the analysis parses, measures and reports.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from argus.cores import available_cores
from benchmarks.make_failures_file import make

QUESTIONS, PASSAGES, KEYS = 6_515, 100, 42
LIMIT_S = 1_800
BARS = {"seconds": 300, "peak_mib": 2_048}


def run() -> dict[str, Any]:
    root = Path(os.environ.get("ARGUS_BENCH") or Path(tempfile.gettempdir()) / "argus-bench")
    home = root / "failures"
    home.mkdir(parents=True, exist_ok=True)
    files = [home / "seal.json", home / "minder.json"]
    for seed, file in enumerate(files):
        if not file.is_file():
            make(file, QUESTIONS, PASSAGES, KEYS, seed=0, queries=bool(seed))
    analyses = {"one": files[:1], "two": files}
    return {
        "questions": QUESTIONS,
        "passages": PASSAGES,
        "ngrams_per_passage": KEYS,
        "gib": [round(file.stat().st_size / 2**30, 2) for file in files],
        "cores": available_cores(),
        "read_alone_s": round(_read(files[0]), 1),
        "analyses": {name: _analyse(chosen, home / name) for name, chosen in analyses.items()},
        "bars": BARS,
    }


def _read(file: Path) -> float:
    begun = time.perf_counter()
    with file.open("rb") as opened:
        while opened.read(1 << 23):
            pass
    return time.perf_counter() - begun


def _analyse(files: list[Path], out: Path) -> dict[str, Any]:
    """Run the command; peak: resident pages of all its processes, shared ones counted in each."""
    command = [sys.executable, "-c", "from argus.cli.main import main; main()"]
    command += ["generative", "analyse", *map(str, files), "--out", str(out), "--fresh"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        if time.perf_counter() - begun > LIMIT_S:
            process.kill()
            raise TimeoutError(f"not done within {LIMIT_S} s")
        peak = max(peak, _resident(process.pid))
        time.sleep(0.2)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}")
    return {
        "files": len(files),
        "seconds": round(time.perf_counter() - begun, 1),
        "peak_mib": round(peak / 2**20),
    }


def _resident(session: int) -> int:
    """Return the bytes that the processes of a session hold."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return total
