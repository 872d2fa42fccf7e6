"""`argus serve` under load: a warm /search alone and 32 at once, memory over many requests.

Of the demo in `argus-demo` (ARGUS_DEMO names another folder of results), which is made first where
there is none. The questions are its documents' first words, each another. The service is the
command in a process of its own; so is `uvicorn` that returns a constant, as the floor. The client
shares the machine: what it costs is in every figure. ARGUS_SERVE_REQUESTS: how many requests memory
is watched over (50,000). processor_ms: of the service, for each request.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from argus.corpora.opening import read_corpus
from argus.demo.job import full_demo

BARS = {"p50_ms": 25, "p95_ms": 60, "per_second at 32": 150}
ALONE, TOGETHER, AT_ONCE = 400, 3000, 32
WATCHED = int(os.environ.get("ARGUS_SERVE_REQUESTS", "50000"))
SAMPLES = 10
WORDS = 8
CONSTANT = """
import sys, uvicorn
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})
config = uvicorn.Config(app, port=0, log_level="error", lifespan="off")
socket = config.bind_socket()
socket.listen(2048)
print(f"http://127.0.0.1:{socket.getsockname()[1]}/", flush=True)
uvicorn.Server(config).run([socket])
"""
SERVE = "from argus.cli.main import main; main()"


def memory_of(pid: int) -> tuple[float, float]:
    """Return the resident megabytes of a process, and those of it that are no file's."""
    status = Path(f"/proc/{pid}/status").read_text()
    sizes = dict(re.findall(r"^(VmRSS|RssAnon):\s+(\d+)", status, re.MULTILINE))
    return round(int(sizes["VmRSS"]) / 1024, 1), round(int(sizes["RssAnon"]) / 1024, 1)


def processor_s(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run() -> dict[str, Any]:
    folder = Path(os.environ.get("ARGUS_DEMO", "argus-demo"))
    if not (folder / "index.json").is_file():
        full_demo(out=folder)
    paths = itertools.cycle(_paths(folder))
    with _process("-c", SERVE, "serve", str(folder), "--port", "0") as (port, pid):
        since = time.perf_counter()
        asyncio.run(_alone(port, paths, 1))
        cold_s = time.perf_counter() - since
        asyncio.run(_alone(port, paths, 20))
        begun = processor_s(pid)
        alone = _times(asyncio.run(_alone(port, paths, ALONE)))
        alone["processor_ms"] = round((processor_s(pid) - begun) / ALONE * 1e3, 1)
        begun = processor_s(pid)
        together = asyncio.run(_together(port, paths, TOGETHER))
        together["processor_ms"] = round((processor_s(pid) - begun) / TOGETHER * 1e3, 1)
        memory = _memory(port, pid, paths)
    constant = itertools.cycle(["/"])
    with _process("-c", CONSTANT) as (port, _):
        floor = asyncio.run(_alone(port, constant, ALONE))
        floor_together = asyncio.run(_together(port, constant, TOGETHER))
    return {
        "bars": BARS,
        "first question, cold, s": round(cold_s, 1),
        "one at a time": alone,
        "32 at once": together,
        "memory": memory,
        "a constant by uvicorn": {"one at a time": _times(floor), "32 at once": floor_together},
    }


def _paths(folder: Path) -> list[str]:
    corpus = read_corpus(folder / "corpus" / "corpus.jsonl")
    questions = dict.fromkeys(" ".join(re.findall(r"\w+", d.text)[:WORDS]) for d in corpus)
    return [f"/search?query={quote(question)}" for question in questions if question]


@contextmanager
def _process(*command: str) -> Iterator[tuple[int, int]]:
    """Yield the port that a server prints, and its process id."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert process.stdout is not None
        try:
            found = re.search(r":(\d+)/", process.stdout.readline())
            if found is None:
                log.seek(0)
                raise RuntimeError(log.read().decode())
            yield int(found[1]), process.pid
        finally:
            process.terminate()
            process.wait(30)


async def _get(port: int) -> Callable[[str], Any]:
    """Return what asks over one connection that is kept."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def get(path: str) -> bytes:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])  # type: ignore[index]
        body = await reader.readexactly(length)
        assert b" 200 " in head, body
        return body

    return get


async def _alone(port: int, paths: Iterator[str], n: int) -> list[float]:
    """Return the seconds of requests, one after the other."""
    get, seconds = await _get(port), []
    for path in itertools.islice(paths, n):
        since = time.perf_counter()
        await get(path)
        seconds.append(time.perf_counter() - since)
    return seconds


async def _together(port: int, paths: Iterator[str], n: int) -> dict[str, float]:
    """Ask over 32 connections, each its next question as soon as it is answered."""
    rest, seconds = itertools.islice(paths, n), list[float]()

    async def ask() -> None:
        get = await _get(port)
        for path in rest:
            since = time.perf_counter()
            await get(path)
            seconds.append(time.perf_counter() - since)

    since = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    return {"per_second": round(n / (time.perf_counter() - since), 1), **_times(seconds)}


def _times(seconds: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(seconds, [50, 95]) * 1e3
    return {"p50_ms": round(float(p50), 1), "p95_ms": round(float(p95), 1), "n": len(seconds)}


def _memory(port: int, pid: int, paths: Iterator[str]) -> dict[str, Any]:
    """Return the resident megabytes of the service after every tenth of many requests."""
    megabytes = [memory_of(pid)[0]]
    for _ in range(SAMPLES):
        asyncio.run(_together(port, paths, WATCHED // SAMPLES))
        megabytes.append(memory_of(pid)[0])
    half = megabytes[SAMPLES // 2 :]
    slope = statistics.linear_regression(range(len(half)), half).slope
    return {
        "requests": WATCHED,
        "resident_mb": megabytes,
        "growth per 10,000 requests in the second half, mb": round(
            slope * 10_000 / (WATCHED / SAMPLES), 2
        ),
    }
