"""Searches of an exposure run: blocks of probes, kept as they are done, on an engine or here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import FloatArray, IntArray
from argus.engine import Engine, Work
from argus.indexes import known_item_search, search
from argus.indexes.dense import queries_per_block
from argus.jobs.parts import Parts
from argus.progress import progress


@dataclass(frozen=True)
class Searched:
    """What every worker holds: the vectors of the index, and how deep it is searched."""

    documents: FloatArray
    k: int


@dataclass(frozen=True)
class Asked:
    """Queries; `targets` (-1: none) and `stand_ins` as in `known_item_search`. All of n rows."""

    queries: FloatArray
    targets: IntArray
    stand_ins: FloatArray

    def part(self, rows: IntArray) -> Asked:
        """Return some of them."""
        return Asked(self.queries[rows], self.targets[rows], self.stand_ins[rows])


@dataclass(frozen=True)
class Found:
    """Ranks of the targets, 0 where there is none, and the best rows, (n,) and (n, k)."""

    rank: IntArray
    top: IntArray


def begin_search(searched: Searched) -> Callable[[Asked], Found]:
    """Return what searches with a block of queries, all with a target or all without."""
    documents = np.asarray(searched.documents)

    def answer(asked: Asked) -> Found:
        if asked.targets[0] < 0:
            top = search(asked.queries, documents, searched.k).rows
            return Found(np.zeros(len(top), np.int64), top)
        known = known_item_search(
            asked.queries, documents, asked.targets, searched.k, target_vectors=asked.stand_ins
        )
        return Found(known.rank, known.top.rows)

    return answer


def search_in_parts(
    documents: FloatArray,
    asked: Asked,
    k: int,
    folder: ArtifactFolder,
    engine: Engine | None = None,
) -> tuple[Found, Parts]:
    """Search with every query, but for those of parts that are on disk from before.

    Returns what was found, and the parts, to be removed when the results are written. They are
    keyed by what determines them. Blocks are those of `known_item_search`, so that its results do
    not depend on where they are made.
    """
    parts = Parts(folder, _key(documents, asked, k))
    blocks = [*_blocks(asked.targets >= 0, queries_per_block(len(documents)))]
    missing = [number for number in range(len(blocks)) if number not in parts]
    done = len(asked.targets) - sum(len(blocks[number]) for number in missing)
    with progress("searching", len(asked.targets), done=done) as advance:
        for number, found in _searched(documents, asked, k, blocks, missing, engine):
            parts.write(number, {"rank": found.rank, "top": found.top})
            advance(len(found.rank))
    rank = np.zeros(len(asked.targets), np.int64)
    top = np.zeros((len(asked.targets), min(k, len(documents))), np.int64)
    for number, rows in enumerate(blocks):
        part = parts.read(number)
        rank[rows], top[rows] = part["rank"], part["top"]
    return Found(rank, top), parts


def _searched(
    documents: FloatArray,
    asked: Asked,
    k: int,
    blocks: Sequence[IntArray],
    missing: Sequence[int],
    engine: Engine | None,
) -> Iterator[tuple[int, Found]]:
    if not missing:
        return
    searched = Searched(documents, k)
    to_ask = (asked.part(blocks[number]) for number in missing)
    if engine is None:
        answer = begin_search(searched)
        yield from zip(missing, map(answer, to_ask), strict=True)
        return
    work: Work[Any, Asked, Found] = Work(setup=begin_search, shared=searched, what="searching")
    for i, found in engine.run(work, to_ask):
        yield missing[i], found


def _blocks(own: np.ndarray, size: int) -> Iterator[IntArray]:
    """Yield positions: of the queries with a target, block by block, then of those without."""
    for chosen in (own, ~own):
        rows = np.flatnonzero(chosen)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def _key(documents: FloatArray, asked: Asked, k: int) -> str:
    arrays = (documents, asked.queries, asked.targets, asked.stand_ins)
    parts = (np.ascontiguousarray(a).data for a in arrays)
    return f"search-{content_hash(*parts, str(k), size=8).hex()}"
