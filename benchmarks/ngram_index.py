"""The n-gram index on ten million tokens: build, files, load, and every question it answers.

The corpus is what the machine holds (`ngram_corpus`). Each figure stands beside a plain reading of
the same thing (`tests/support/plain_ngrams.py`: sorted suffixes in Python lists, bisect, Counter),
measured in the same run, with equal answers required. Bytes stand beside those published for the
C++ reference (an FM-index), whose licence keeps it out of this project.

Prefixes are read off the corpus at random positions inside passages, without a border. Microseconds
are the median (and 95th percentile) of single calls, the least of three rounds; a round is all
calls of one, then all of the other, because a plain call in between walks through lists that push
the index out of the processor's caches. Run it alone: `load_before` says how busy the machine was.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from argus.data.types import IntArray
from argus.generative.index import NgramIndex, Rows
from benchmarks import ngram_corpus
from benchmarks.ngram_build import build, files, load, plain_index, random_ngrams
from tests.support.plain_ngrams import SortedSuffixes

LENGTHS, PREFIXES = (1, 2, 3, 5, 8, 10), tuple(range(1, 10))
SAMPLES, ROUNDS, BATCH, BEAMS = 300, 3, 300, 15
MOST_ROWS, LEAST_ROWS = 1500, 1000


def run(tokens: int = ngram_corpus.TOKENS) -> dict[str, Any]:
    index = ngram_corpus.index(tokens)
    rng = np.random.default_rng(0)
    segment, folder = index.segments[0], ngram_corpus.home(tokens) / "index"
    for array in (segment.text, segment.suffixes, segment.list_tokens, segment.list_begins):
        int(array.sum())  # pages are read before anything is timed
    result: dict[str, Any] = {
        "load_before": round(os.getloadavg()[0], 1),
        "corpus": ngram_corpus.described(tokens),
        "build": build(index, folder),
        "files": files(index),
        "load": load(index),
    }
    plain = plain_index(index)
    gc.freeze()  # or the collector would walk the plain lists, in the middle of calls
    sample = partial(random_ngrams, index, rng)

    result |= {
        "count": [
            {"length": m} | _compare(index.count, plain.count, sample(m, SAMPLES)) for m in LENGTHS
        ],
        "count_batched": [{"length": m} | _count_batched(index, plain, sample, m) for m in LENGTHS],
        "distinct": [{"length": m} | _distinct(index, plain, sample, m) for m in PREFIXES],
        "beams": [{"length": m} | _beams(index, plain, sample, m) for m in PREFIXES],
        "row_to_document": _row_to_document(index, plain, sample),
        "get_doc": _get_doc(index, plain, rng),
    }
    return result


def _count_batched(index: NgramIndex, plain: SortedSuffixes, sample: Any, length: int) -> Any:
    return _compare(
        lambda batch: index.counts(batch).tolist(),
        lambda batch: [plain.count(ngram) for ngram in batch],
        [sample(length, BATCH) for _ in range(20)],
        per=BATCH,
    )


def _distinct(index: NgramIndex, plain: SortedSuffixes, sample: Any, length: int) -> Any:
    return _compare(
        index.continuations,
        plain.continuations,
        sample(length, SAMPLES),
        same=lambda a, b: dict(zip(*map(np.ndarray.tolist, a), strict=True)) == b,
    )


def _beams(index: NgramIndex, plain: SortedSuffixes, sample: Any, length: int) -> Any:
    """Time one step of fifteen beams: to their last token, and what may follow it."""
    groups = [sample(length, BEAMS) for _ in range(20 if length == 1 else 60)]
    states = {id(g): (_state(index, g), np.array([b[-1] for b in g], np.int64)) for g in groups}

    def step(beams: list[list[int]]) -> tuple[IntArray, Any, IntArray]:
        return index.next_tokens(index.step(*states[id(beams)]))

    return _compare(
        step,
        lambda beams: [plain.continuations(beam) for beam in beams],
        groups,
        same=_same_beams,
    )


def _state(index: NgramIndex, beams: Sequence[list[int]]) -> Rows:
    """Return the rows of all but the last token of each beam."""
    rows = index.rows((), len(beams))
    for depth in range(len(beams[0]) - 1):
        rows = index.step(rows, np.array([beam[depth] for beam in beams], np.int64))
    return rows


def _same_beams(got: tuple[IntArray, Any, IntArray], expected: list[dict[int, int]]) -> bool:
    pointers, tokens, counts = got
    return all(
        dict(zip(tokens[a:b].tolist(), counts[a:b].tolist(), strict=True)) == want
        for a, b, want in zip(pointers[:-1], pointers[1:], expected, strict=True)
    )


def _row_to_document(index: NgramIndex, plain: SortedSuffixes, sample: Any) -> dict[str, Any]:
    """Time the passage of every occurrence, per occurrence; finding the n-gram is included."""
    frequent: list[list[int]] = []
    most, least = MOST_ROWS, min(LEAST_ROWS, index.n_tokens // 5000)
    while len(frequent) < 40:
        candidates = sample(1, BATCH) + sample(2, BATCH)
        counts = index.counts(candidates)
        frequent += [n for n, c in zip(candidates, counts, strict=True) if least <= c <= most]
    rows = statistics.median(index.counts(frequent).tolist())
    timed = _compare(
        lambda ngram: index.documents_at(index.occurrences([ngram], most)[1]),
        plain.documents,
        frequent,
        per=rows,
        same=lambda a, b: a.tolist() == sorted(b),
    )
    return {"median_rows": rows, **timed}


def _get_doc(index: NgramIndex, plain: SortedSuffixes, rng: np.random.Generator) -> dict[str, Any]:
    """Time one passage a call; and as evidence asks, 1,500 in one call, per passage."""
    single = _compare(
        lambda d: index.tokens_of(np.array([d]))[1],
        plain.tokens_of,
        rng.integers(0, index.n_documents, SAMPLES).tolist(),
        same=lambda a, b: a.tolist() == b,
    )
    n = min(MOST_ROWS, index.n_documents)
    many = _compare(
        lambda ds: index.tokens_of(ds)[1],
        lambda ds: [plain.tokens_of(d) for d in ds],
        [rng.integers(0, index.n_documents, n) for _ in range(20)],
        per=n,
        same=lambda a, b: a.tolist() == [token for tokens in b for token in tokens],
    )
    return {**single, "batched": many}


def _compare(
    ours: Callable[[Any], Any],
    plain: Callable[[Any], Any],
    arguments: Sequence[Any],
    *,
    per: float = 1,
    same: Callable[[Any, Any], bool] = lambda a, b: bool(a == b),
) -> dict[str, float]:
    """Time both on every argument, round by round in turn; the answers must be the same."""
    for argument in arguments:
        if not same(ours(argument), plain(argument)):
            raise AssertionError(f"the plain index answers otherwise: {argument}")
    rounds: dict[str, list[tuple[float, float]]] = {"ours": [], "plain": []}
    for _ in range(ROUNDS):
        for name, work in (("ours", ours), ("plain", plain)):
            took = []
            for argument in arguments:
                start = time.perf_counter_ns()
                work(argument)
                took.append(time.perf_counter_ns() - start)
            p50, p95 = np.quantile(took, [0.5, 0.95]) / 1e3 / per
            rounds[name].append((float(p50), float(p95)))
    (p50, p95), (plain_p50, _) = min(rounds["ours"]), min(rounds["plain"])
    return {
        "p50_us": round(p50, 3),
        "p95_us": round(p95, 3),
        "plain_p50_us": round(plain_p50, 2),
        "times_plain": round(plain_p50 / p50, 1),
    }
