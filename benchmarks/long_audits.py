"""Audits that are large for one machine: memory by the processor's time, by step, what is left.

`documents`: 300,000 documents, read from a file, are audited (`argus.audit`, 10 related each, named
by a file) and then asked for (`argus.exposure`: 20,000 of them, drawn, by title and two sentences
each, in all 300,000), into one folder. `reach`: of a million records of a LanceDB table without an
index 50 are asked for by their own vectors (`argus.reach`), so that each is compared with all, and
all are read twice. `store`: a million such records are audited (4 related each, 2,000
competitors) with the vectors that the store holds.

The functions are those that the commands call, with every file read and written; only the encoder
is none that anybody would use: a text is the sum of its words' random directions, so that a model's
hours are no part of it. Each arm runs in a process of its own, which the parent looks at once a
second. Times are the processor's, of one core, since the machine may be shared. ARGUS_LONG names
one of the arms, ARGUS_LONG_SCALE a share of the sizes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.provenance import peak_memory_bytes
from argus.data.types import FloatArray
from argus.progress import LINES, VARIABLE, read_step
from benchmarks.curves import Curve, drawn
from benchmarks.faults.values import leftovers
from benchmarks.faults.watching import files_in, memory_of, processor_s, started_with

SCALE = float(os.environ.get("ARGUS_LONG_SCALE", "1"))
DOCUMENTS, RECORDS = int(300_000 * SCALE), int(1_000_000 * SCALE)
ASKED, REACHED, DIM = int(20_000 * SCALE), 50, 384
RELATED = {DOCUMENTS: 10, RECORDS: 4}
"""Of an entity, by how many there are."""
RESERVOIR = 2_000
"""Competitors of records; with 20,000, an audit's own, ranking takes ten times as long."""
SENTENCES, LONG = 3, 8
"""Of a document, and words in each of them."""
BLOCK = 20_000
SEED = 0
POINTS = 240
"""Samples of memory that are kept, evenly spread."""
PLOTS = Path(__file__).parents[1] / "docs" / "results"
RESULTS = Path(__file__).parent / "results" / "long_audits.json"
VOCABULARY = np.array([f"{a}{b}" for a in ("al", "be", "ca", "do") for b in range(2_000)])
DIRECTIONS = 1 << 13


class WordVectors:
    """An encoder: each word has a random direction, and a text is the sum of its words'."""

    fingerprint, dim, pools_spans = f"random directions of words dim={DIM}", DIM, False

    def __init__(self) -> None:
        directions = np.random.default_rng(SEED).normal(size=(DIRECTIONS, DIM))
        self._directions = directions.astype(np.float32)
        self._known: dict[str, int] = {}

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return unit rows, shape (n, dim)."""
        rows = np.empty((len(texts), DIM), np.float32)
        for n, text in enumerate(texts):
            rows[n] = self._directions[[self._number(word) for word in text.split()]].sum(axis=0)
        unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    encode_queries = encode_documents

    def encode_spans(self, texts: Sequence[str], spans: Sequence[object]) -> FloatArray:
        """Return unit rows of the texts."""
        return self.encode_documents(texts)

    def _number(self, word: str) -> int:
        if (number := self._known.get(word)) is None:
            number = self._known[word] = zlib.crc32(word.encode()) % DIRECTIONS
        return number


def run() -> dict[str, Any]:
    """Run the arms that are named; what another run said of the others stays."""
    arms = os.environ.get("ARGUS_LONG", " ".join(ARMS)).split()
    before = json.loads(RESULTS.read_text("utf-8"))["result"] if RESULTS.is_file() else {}
    told = {name: before[name] for name in ARMS if name in before}
    for name in arms:
        told[name] = _watched(name)
        print(name, {k: v for k, v in told[name].items() if k != "memory"}, flush=True)
    write_plots(told)
    return told


def write_plots(told: dict[str, Any]) -> None:
    """Draw each arm for the page of results."""
    for name, arm in told.items():
        (PLOTS / f"long-audits-{name}.svg").write_text(plot(arm), encoding="utf-8")


def plot(arm: dict[str, Any]) -> str:
    """Return the memory of an arm as SVG."""
    memory = arm["memory"]
    minutes = memory["minute"]
    curves = [
        Curve("resident", minutes, memory["resident_mb"]),
        Curve("of it anonymous", minutes, memory["anonymous_mb"]),
    ]
    return drawn(curves, minutes[-1], f"minutes {arm.get('clock', 'by the clock')}; megabytes")


def _watched(name: str) -> dict[str, Any]:
    """Run an arm in a process of its own; return what it says, its memory, and what is left."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("ARGUS_BENCH")) as home:
        work, temporary = Path(home) / "work", Path(home) / "tmp"
        work.mkdir(), temporary.mkdir()
        begun = time.monotonic()
        PREPARED[name](work)
        prepared_s = time.monotonic() - begun
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.long_audits", name, str(work)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"TMPDIR": str(temporary), VARIABLE: LINES},
        )  # fmt: skip
        steps: list[tuple[float, str]] = []
        listener = threading.Thread(target=_listen, args=(process, steps))
        listener.start()
        memory = _memory(process)
        assert process.stdout is not None
        said = process.stdout.read().splitlines()
        listener.join()
        if process.returncode:
            raise RuntimeError(f"{name} ended with {process.returncode}: {steps[-5:]}")
        left = [*leftovers(work), *files_in(temporary)]
        return {
            **json.loads(said[-1]),
            "prepared_s": round(prepared_s, 1),
            "steps": [{"processor_s": round(at, 1), "begins": step} for at, step in steps],
            "memory": memory,
            "clock": "of the processor",
            "left": {"files": left, "processes": len(started_with("TMPDIR", str(temporary)))},
        }


def _listen(process: subprocess.Popen[str], steps: list[tuple[float, str]]) -> None:
    """Note when a step is announced, by the processor's time; pass on what else is said."""
    assert process.stderr is not None
    for line in process.stderr:
        step = read_step(line)
        if step is None:
            print(line, end="", flush=True)
        elif not steps or steps[-1][1] != step["step"]:
            steps.append((processor_s(process.pid), step["step"]))
            print(f"{steps[-1][0]:.0f} s of the processor: {step['step']}", flush=True)


def _memory(process: subprocess.Popen[str]) -> dict[str, list[float]]:
    """Return the processor's minutes, resident and anonymous megabytes until a process has ended.

    Once a second: what others do on the machine, or that the process is held, changes nothing.
    """
    rows = []
    while process.poll() is None:
        try:
            rows.append((processor_s(process.pid) / 60, *memory_of(process.pid)))
        except (OSError, AssertionError):  # it ends just now
            break
        time.sleep(1)
    process.wait()
    kept = rows[:: max(1, len(rows) // POINTS)]
    names = ("minute", "resident_mb", "anonymous_mb")
    return {
        **{name: [round(row[i], 2) for row in kept] for i, name in enumerate(names)},
        "peak_resident_mb": [max(row[1] for row in rows)],
        "peak_anonymous_mb": [max(row[2] for row in rows)],
    }


def _texts(n: int) -> Iterator[tuple[range, list[str], list[str]]]:
    """Yield numbers, titles and texts in blocks: a text names its title, then has sentences."""
    rng = np.random.default_rng(SEED)
    for start in range(0, n, BLOCK):
        numbers = range(start, min(start + BLOCK, n))
        drawn_words = VOCABULARY[rng.integers(0, len(VOCABULARY), (len(numbers), SENTENCES, LONG))]
        titles = [f"Entity {i}" for i in numbers]
        texts = [
            " ".join(f"{title} {' '.join(words)}." for words in sentences)
            for title, sentences in zip(titles, drawn_words, strict=True)
        ]
        yield numbers, titles, texts


def _id(i: int) -> str:
    return f"e{i:09}"


def _write_edges(path: Path, n: int) -> None:
    """Write as many related pairs as `RELATED` says."""
    rng = np.random.default_rng(SEED)
    with path.open("w") as file:
        pairs = n * RELATED[n] // 2
        for start in range(0, pairs, BLOCK):
            size = min(BLOCK, pairs - start)
            ends = rng.integers(0, n, (size, 2)).tolist()
            file.write("".join(f"{_id(a)}\t{_id(b)}\n" for a, b in ends))


def _prepare_documents(work: Path) -> None:
    with (work / "docs.jsonl").open("w") as file:
        for numbers, titles, texts in _texts(DOCUMENTS):
            for i, title, text in zip(numbers, titles, texts, strict=True):
                row = {"_id": _id(i), "title": title, "text": text}
                file.write(json.dumps(row) + "\n")
    _write_edges(work / "edges.tsv", DOCUMENTS)


def _prepare_store(work: Path) -> None:
    import lancedb

    encoder, fields = WordVectors(), [("id", pa.string()), ("title", pa.string())]
    schema = pa.schema([*fields, ("text", pa.string()), ("vector", pa.list_(pa.float32(), DIM))])

    def batches() -> Iterator[pa.RecordBatch]:
        for numbers, titles, texts in _texts(RECORDS):
            rows = encoder.encode_documents(texts)
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), DIM)
            columns = [pa.array(map(_id, numbers)), pa.array(titles), pa.array(texts), vectors]
            yield pa.record_batch(columns, schema=schema)

    lancedb.connect(work / "lance").create_table("docs", batches(), schema=schema)
    _write_edges(work / "edges.tsv", RECORDS)


def _audit_documents(work: Path) -> dict[str, Any]:
    import argus

    encoder, corpus, out = WordVectors(), work / "docs.jsonl", work / "report"
    audited = argus.audit(
        corpus, out=out, encoder=encoder, source=argus.KnowledgeSource(relations=work / "edges.tsv")
    )
    config = argus.ExposureConfig(sample=ASKED)
    exposed = argus.exposure(corpus, out=out, encoder=encoder, config=config)
    return {
        "documents": DOCUMENTS, "pairs": len(audited.ranks), "asked": ASKED,
        "mean_rps": audited.summary["mean_rps"], "headline": list(exposed.headline()),
    } | _timings(out)  # fmt: skip


def _audit_store(work: Path) -> dict[str, Any]:
    import argus

    out, encoder = work / "report", WordVectors()
    corpus = argus.StoreCorpus(_store_in(work), argus.StoreConfig(metric="cosine"))
    source = argus.KnowledgeSource(relations=work / "edges.tsv")
    config = argus.AuditConfig(reservoir=RESERVOIR)
    audited = argus.audit(corpus, out=out, encoder=encoder, source=source, config=config)
    told = {"records": RECORDS, "pairs": len(audited.ranks), "reservoir": RESERVOIR}
    return told | {"mean_rps": audited.summary["mean_rps"]} | _timings(out)


def _reach_store(work: Path) -> dict[str, Any]:
    import argus

    out, opening = work / "report", argus.StoreConfig(metric="cosine")
    config = argus.ReachConfig(sample=REACHED, recall_sample=REACHED)
    reached = argus.reach(_store_in(work), out=out, config=config, opening=opening)
    told = {"records": RECORDS, "asked": REACHED}
    return told | {"headline": list(reached.headline())[1:]} | _timings(out)


def _store_in(work: Path) -> str:
    return f"lancedb:{work / 'lance'}/docs"


def _timings(out: Path) -> dict[str, Any]:
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    sections = ("audit", "exposure", "reach")
    return {"steps_s": {s: manifest[s]["timings_s"] for s in sections if s in manifest}}


ARMS = {"documents": _audit_documents, "reach": _reach_store, "store": _audit_store}
PREPARED = {"documents": _prepare_documents, "reach": _prepare_store, "store": _prepare_store}


def _arm(name: str, work: Path) -> dict[str, Any]:
    """Run an arm in this process; count open files and threads before and after."""
    held = [_held()]
    begun = time.monotonic()
    told = ARMS[name](work)
    seconds = time.monotonic() - begun
    held.append(_held())
    return {
        **told, "total_s": round(seconds, 1), "cpu_s": round(time.process_time(), 1),
        "peak_mib": round(peak_memory_bytes() / 2**20), "held_before_and_after": held,
    }  # fmt: skip


def _held() -> dict[str, int]:
    return {
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
    }


if __name__ == "__main__":
    print(json.dumps(_arm(sys.argv[1], Path(sys.argv[2]))), flush=True)
