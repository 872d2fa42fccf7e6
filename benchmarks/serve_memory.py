"""What `argus serve` holds while records stream in and questions come: of what kind it is.

A server in bfloat16 with the shipped bound on compiled code, one with a bound of 16 shapes, and one
in float32, which compiles none. Each is asked in rounds: records come and go again, then questions
as LangChain, LlamaIndex and OpenAI's client ask them. After each round the server collects garbage,
hands free memory back (`malloc_trim`), and counts Python's objects.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from argus.service.memory import CACHES, SHAPES
from benchmarks.faults.asking import Asker
from benchmarks.faults.serving import Load, wait_for
from benchmarks.faults.soak import DOCUMENTS, Soaked
from benchmarks.faults.watching import memory_of
from tests.support.served import free_port

ROUNDS, RECORDS, QUESTIONS = 6, 90, 120
LONGEST_S = 300.0
SERVERS = (("bfloat16", SHAPES), ("bfloat16", 16), ("float32", SHAPES))
TIDYING = """
import ctypes, gc, os, sys, threading, time
from pathlib import Path

def tidy(wanted):
    while True:
        time.sleep(0.1)
        if wanted.exists():
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)
            wanted.with_suffix(".objects").write_text(str(len(gc.get_objects())))
            wanted.unlink()

if "serve" in sys.orig_argv:
    threading.Thread(target=tidy, args=(Path(os.environ["TIDY"]),), daemon=True).start()
"""
"""Put into the server's process, as the module that Python imports when it starts."""


def run() -> dict[str, Any]:
    return {
        "rounds": ROUNDS, "records": RECORDS, "questions": QUESTIONS,
        "servers": [_server(precision, shapes) for precision, shapes in SERVERS],
    }  # fmt: skip


def _server(precision: str, shapes: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "site").mkdir()
        (home / "site" / "sitecustomize.py").write_text(TIDYING, encoding="utf-8")
        place = Soaked(home / "place", Load(documents=DOCUMENTS), precision)
        place.prepare()
        place.restore()
        port, wanted = free_port(), home / "tidy"
        path = os.pathsep.join((str(home / "site"), *sys.path))
        bounds = dict.fromkeys(CACHES, str(shapes))
        process = place.start(port, TIDY=str(wanted), PYTHONPATH=path, **bounds)
        url = f"http://127.0.0.1:{port}"
        try:
            with httpx.Client(base_url=url, timeout=120) as http:
                wait_for(process, http, "/readyz", LONGEST_S)
            asker = Asker(url, place.run, place.texts(), 1)
            rounds = [_round(asker, n, process.pid, wanted) for n in range(ROUNDS)]
        finally:
            process.kill()
            process.wait(10)
    told = {"precision": precision, "shapes": shapes, "rounds": rounds}
    print(json.dumps(told), flush=True)
    return told


def _round(asker: Asker, number: int, pid: int, wanted: Path) -> dict[str, float]:
    """Ask what belongs to a round; return what the server holds once it has tidied up."""
    for kind, times in ((asker.records, RECORDS), (asker.shape, QUESTIONS)):
        for n in range(number * times, (number + 1) * times):
            if wrong := kind(n):
                raise SystemExit(f"serve_memory: {wrong}")
    wanted.touch()
    until = time.monotonic() + LONGEST_S
    while wanted.exists():
        if time.monotonic() > until:
            raise SystemExit("serve_memory: the server does not tidy up")
        time.sleep(0.1)
    objects = int(wanted.with_suffix(".objects").read_text("utf-8"))
    return {"held_mb": memory_of(pid)[1], "objects": objects}
