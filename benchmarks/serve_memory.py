"""What `argus serve` holds while records stream in and questions come: of what kind it is.

A server in bfloat16 with the shipped bound on compiled code, one with a bound of 16 shapes, and one
in float32, which compiles none. Each is asked in rounds: records come and go again, then questions
as LangChain, LlamaIndex and OpenAI's client ask them. After each round the server collects garbage,
hands free memory back (`malloc_trim`), and says what it holds and how many objects Python has.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from argus.service.memory import CACHES, SHAPES
from benchmarks.faults.asking import Asker
from benchmarks.faults.serving import Load, wait_for
from benchmarks.faults.soak import Soaked
from tests.support.served import free_port

ROUNDS, RECORDS, QUESTIONS = 6, 90, 120
LONGEST_S = 300.0
SERVERS = (("bfloat16", SHAPES), ("bfloat16", 16), ("float32", SHAPES))
WATCHING = """
import ctypes, gc, json, os, re, sys, threading, time
from pathlib import Path

def watch(asked):
    while True:
        time.sleep(0.1)
        if asked.exists():
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)
            text = Path("/proc/self/status").read_text()
            held = round(int(re.search(r"RssAnon:\\s+(\\d+)", text)[1]) / 1024)
            answer = {"held_mb": held, "objects": len(gc.get_objects())}
            asked.with_suffix(".json").write_text(json.dumps(answer))
            asked.unlink()

if "serve" in sys.orig_argv:
    threading.Thread(target=watch, args=(Path(os.environ["WATCHED"]),), daemon=True).start()
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
        (home / "site" / "sitecustomize.py").write_text(WATCHING, encoding="utf-8")
        place = Soaked(home / "place", Load(documents=300), precision)
        place.prepare()
        place.restore()
        port, asked = free_port(), home / "asked"
        bounds = dict.fromkeys(CACHES, str(shapes))
        process = place.start(
            port, WATCHED=str(asked), PYTHONPATH=str(home / "site"), **bounds
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            with httpx.Client(base_url=url, timeout=120) as http:
                wait_for(process, http, "/readyz", LONGEST_S)
            rounds = list(_rounds(Asker(url, place.run, place.texts(), 1), asked))
        finally:
            process.kill()
            process.wait(10)
    first, last = rounds[0]["held_mb"], rounds[-1]["held_mb"]
    told = {"precision": precision, "shapes": shapes, "rounds": rounds, "grown_mb": last - first}
    print(json.dumps(told), flush=True)
    return told


def _rounds(asker: Asker, asked: Path) -> Iterator[dict[str, int]]:
    for part in range(ROUNDS):
        for kind, times in ((asker.records, RECORDS), (asker.shape, QUESTIONS)):
            for n in range(part * times, (part + 1) * times):
                if wrong := kind(n):
                    raise SystemExit(f"serve_memory: {wrong}")
        yield _held(asked)


def _held(asked: Path) -> dict[str, int]:
    asked.touch()
    until = time.monotonic() + LONGEST_S
    while asked.exists():
        if time.monotonic() > until:
            raise SystemExit("serve_memory: the server does not say what it holds")
        time.sleep(0.1)
    told: dict[str, int] = json.loads(asked.with_suffix(".json").read_text("utf-8"))
    return told
