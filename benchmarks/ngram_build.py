"""What the n-gram index takes: time and memory of a build, bytes of its files, time to open it.

Part of `ngram_index`. Builds and profiles run in processes of their own, whose peak is counted from
where their inputs are in memory (Linux).
"""

from __future__ import annotations

import json
import subprocess
import sys
from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np

from argus.generative.index import NgramIndex
from argus.generative.index.ngram_index import SEGMENTS
from argus.generative.index.segment import Segment, make_segment
from argus.generative.passages import Passages
from benchmarks.shared import timed
from tests.support.plain_ngrams import SortedSuffixes

ROUNDS, SLICE, TIMEOUT_S = 3, 200_000, 1200
PUBLISHED_BYTES = 3.28  # per token, of the FM-index of SEAL

BUILD = """
import json, sys, tempfile, time
from pathlib import Path
from argus.generative.index.ngram_index import open_segment, read_manifest
from argus.generative.index.segment import make_segment, write_segment
from benchmarks.ngram_build import inputs, resident_bytes
manifest = read_manifest(Path(sys.argv[1]))
border, size = manifest.border, manifest.size
held = open_segment(Path(sys.argv[1]) / "segments" / "0001")
make_segment([inputs(held, 50)], border, size)  # compiles
given = [inputs(held, held.n_documents)]
before = resident_bytes("VmRSS", reset_peak=True)
start = time.perf_counter()
made = make_segment(given, border, size)
seconds = time.perf_counter() - start
beyond = resident_bytes("VmHWM") - before
with tempfile.TemporaryDirectory() as folder:
    start = time.perf_counter()
    write_segment(made, Path(folder) / "0001")
    writing = time.perf_counter() - start
print(json.dumps({"seconds": round(seconds, 2), "writing_s": round(writing, 2),
                  "peak_bytes_per_token_beyond_inputs": round(beyond / held.n_tokens, 1)}))
"""


def resident_bytes(field: str, *, reset_peak: bool = False) -> int:
    """Return VmRSS or VmHWM of this process (Linux); the peak may be counted anew from here."""
    if reset_peak:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def in_child(code: str, folder: Path) -> dict[str, Any]:
    """Run a measurement in a process of its own."""
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True)
    return dict(json.loads(done.stdout))


def inputs(segment: Segment, n: int) -> Passages:
    """Return the first n passages of a segment as the arrays it was built from, in memory."""
    return Passages(
        [segment.id_of(i) for i in range(n)],
        segment.text[: segment.starts[n]].astype(np.int32),
        np.array(segment.starts[: n + 1]),
        np.array(segment.splits[:n]),
        np.array(segment.hashes[:n]),
    )


def random_ngrams(
    index: NgramIndex, rng: np.random.Generator, length: int, n: int
) -> list[list[int]]:
    """Return n-grams at random places of the corpus, inside passages, without borders."""
    found: list[list[int]] = []
    while len(found) < n:
        start = int(rng.integers(0, index.n_tokens - length))
        ngram = index.segments[0].text[start : start + length].tolist()
        if index.border not in ngram:
            found.append(ngram)
    return found


def plain_index(index: NgramIndex) -> SortedSuffixes:
    """Return the same corpus as sorted suffixes in lists."""
    one = index.segments[0]
    return SortedSuffixes(one.text.tolist(), one.suffixes.tolist(), one.starts[:-1].tolist())


def build(index: NgramIndex, folder: Path) -> dict[str, Any]:
    """Time token arrays to a segment; and a slice of the corpus, against sorting its suffixes."""
    whole = min((in_child(BUILD, folder) for _ in range(ROUNDS)), key=lambda r: float(r["seconds"]))
    segment, border = index.segments[0], index.border
    n = int(np.searchsorted(segment.starts, min(SLICE, index.n_tokens), side="right")) - 1
    given = inputs(segment, n)
    text = [*given.tokens.tolist(), border]
    plain_s, plain = timed(lambda: SortedSuffixes.of(text, given.starts[:-1].tolist()))
    make_segment([inputs(segment, 50)], border, index.vocabulary_size)  # compiles
    ours_s, made = timed(lambda: make_segment([given], border, index.vocabulary_size))
    ends = np.append(given.starts[1:], len(text) - 1).tolist()
    for a, b in zip(made.suffixes.tolist(), plain.suffixes, strict=True):
        rests = [text[at : ends[bisect_right(ends, at)] + 1] for at in (a, b)]
        if rests[0] != rests[1]:
            raise AssertionError(f"suffixes {a} and {b} are in another order")
    return {
        **whole,
        "slice": {
            "tokens": len(text) - 1,
            "seconds": round(ours_s, 3),
            "plain_s": round(plain_s, 2),
            "times_plain": round(plain_s / ours_s, 1),
        },
    }


def files(index: NgramIndex) -> dict[str, Any]:
    """Return the bytes per token of every array."""
    sizes = {name: size / index.n_tokens for name, size in index.bytes().items()}
    total = sum(sizes.values())
    return {
        "bytes_per_token": round(total, 2),
        "by_array": {name: round(size, 3) for name, size in sizes.items()},
        "published": PUBLISHED_BYTES,
        "times_published": round(total / PUBLISHED_BYTES, 2),
    }


def load(index: NgramIndex) -> dict[str, Any]:
    """Time the opening of the folder; plain: reading the same files into lists."""
    folder = index.folder
    assert folder is not None
    files = sorted((folder / SEGMENTS).glob("*/*.npy"))
    opening = min(timed(lambda: NgramIndex.open(folder))[0] for _ in range(20)) * 1e3
    reading = timed(lambda: [np.load(file).tolist() for file in files])[0] * 1e3
    return {
        "ms": round(opening, 2),
        "plain_ms": round(reading, 1),
        "times_plain": round(reading / opening, 1),
    }
