"""Searches of an exposure run: blocks of probes, kept as they are done, on an engine or here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import IntArray
from argus.encoders.rows import Rows, arrays_of
from argus.encoders.scoring import scoring_of
from argus.engine import Engine, Work
from argus.indexes import known_item_search, search
from argus.indexes.dense import queries_per_block
from argus.jobs.parts import Parts
from argus.progress import progress


@dataclass(frozen=True)
class ExactSearch:
    """What every worker holds: the rows of the documents, and how deep they are searched."""

    documents: Rows
    k: int


@dataclass(frozen=True)
class ProbeQueries:
    """Queries; `targets` (-1: none) and `stand_ins` as in `known_item_search`. All of n rows."""

    vectors: Rows
    targets: IntArray
    stand_ins: Rows

    def part(self, rows: IntArray) -> ProbeQueries:
        """Return some of them."""
        return ProbeQueries(self.vectors[rows], self.targets[rows], self.stand_ins[rows])


@dataclass(frozen=True)
class ProbeRanks:
    """Ranks of the targets, 0 where there is none, and the best rows, (n,) and (n, k)."""

    rank: IntArray
    top: IntArray


def begin_search(index: ExactSearch) -> Callable[[ProbeQueries], ProbeRanks]:
    """Return what searches with a block of queries, all with a target or all without."""
    rows = index.documents
    documents = scoring_of(np.asarray(rows) if isinstance(rows, np.ndarray) else rows)

    def answer(queries: ProbeQueries) -> ProbeRanks:
        if queries.targets[0] < 0:
            top = search(queries.vectors, documents, index.k).rows
            return ProbeRanks(np.zeros(len(top), np.int64), top)
        known = known_item_search(
            queries.vectors, documents, queries.targets, index.k, target_vectors=queries.stand_ins
        )
        return ProbeRanks(known.rank, known.top.rows)

    return answer


def search_in_parts(
    documents: Rows,
    queries: ProbeQueries,
    k: int,
    folder: ArtifactFolder,
    engine: Engine | None = None,
) -> tuple[ProbeRanks, Parts]:
    """Search with every query, but for those of parts that are on disk from before.

    Returns ranks and best rows, and the parts, to be removed when the results are written. They are
    keyed by what determines them. Blocks are those of `known_item_search`, so that its results do
    not depend on where they are made.
    """
    parts = Parts(folder, _key(documents, queries, k))
    blocks = [*_blocks(queries.targets >= 0, queries_per_block(len(documents)))]
    missing = [number for number in range(len(blocks)) if number not in parts]
    done = len(queries.targets) - sum(len(blocks[number]) for number in missing)
    with progress("searching", len(queries.targets), done=done) as advance:
        for number, ranks in _searched(documents, queries, k, blocks, missing, engine):
            parts.write(number, {"rank": ranks.rank, "top": ranks.top})
            advance(len(ranks.rank))
    rank = np.zeros(len(queries.targets), np.int64)
    top = np.zeros((len(queries.targets), min(k, len(documents))), np.int64)
    for number, rows in enumerate(blocks):
        part = parts.read(number)
        rank[rows], top[rows] = part["rank"], part["top"]
    return ProbeRanks(rank, top), parts


def _searched(
    documents: Rows,
    queries: ProbeQueries,
    k: int,
    blocks: Sequence[IntArray],
    missing: Sequence[int],
    engine: Engine | None,
) -> Iterator[tuple[int, ProbeRanks]]:
    if not missing:
        return
    index = ExactSearch(documents, k)
    pending = (queries.part(blocks[number]) for number in missing)
    if engine is None:
        answer = begin_search(index)
        yield from zip(missing, map(answer, pending), strict=True)
        return
    work = Work[ExactSearch, ProbeQueries, ProbeRanks](
        setup=begin_search, shared=index, what="searching"
    )
    for i, ranks in engine.run(work, pending):
        yield missing[i], ranks


def _blocks(own: np.ndarray, size: int) -> Iterator[IntArray]:
    """Yield positions: of the queries with a target, block by block, then of those without."""
    for these in (own, ~own):
        rows = np.flatnonzero(these)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def _key(documents: Rows, queries: ProbeQueries, k: int) -> str:
    rows = (documents, queries.vectors, queries.stand_ins)
    of_rows = [arrays_of(each) for each in rows]
    arrays = (*of_rows[0], *of_rows[1], queries.targets, *of_rows[2])
    parts = (np.ascontiguousarray(a).data for a in arrays)
    return f"search-{content_hash(*parts, str(k), size=8).hex()}"
