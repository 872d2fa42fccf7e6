"""Searches of an exposure run: blocks of probes, kept as they are done, on an engine or here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import IntArray
from argus.encoders.rows import Rows, arrays_of
from argus.encoders.scoring import scoring_of
from argus.engine import Engine, Work
from argus.indexes import known_item_search, search
from argus.indexes.dense import Groups, RowLists, queries_per_block
from argus.jobs.parts import Parts
from argus.progress import progress


@dataclass(frozen=True)
class ExactSearch:
    """State of every worker: the rows of the documents, and how deep they are searched."""

    documents: Rows
    k: int
    groups: Groups | None = None
    """Chunks by document, where they are folded."""


@dataclass(frozen=True)
class ProbeQueries:
    """Queries. `targets` (-1: none) and the rest as in `known_item_search`. All of n rows."""

    vectors: Rows
    targets: IntArray
    stand_ins: Rows
    hidden: RowLists | None = None

    def part(self, rows: IntArray) -> ProbeQueries:
        """Return some of them."""
        hidden = None if self.hidden is None else self.hidden.part(rows)
        return ProbeQueries(self.vectors[rows], self.targets[rows], self.stand_ins[rows], hidden)


@dataclass(frozen=True)
class ProbeRanks:
    """Ranks of the targets, 0 where there is none, and the best rows, (n,) and (n, k)."""

    rank: IntArray
    top: IntArray
    group_rank: IntArray | None = None
    """Ranks of the targets' groups among groups, where there are any."""

    def arrays(self) -> dict[str, IntArray]:
        """Return the kept values of a part."""
        arrays = {"rank": self.rank, "top": self.top}
        return arrays if self.group_rank is None else {**arrays, "group_rank": self.group_rank}


def begin_search(index: ExactSearch) -> Callable[[ProbeQueries], ProbeRanks]:
    """Return the search with a block of queries, all with a target or all without."""
    rows = index.documents
    documents = scoring_of(np.asarray(rows) if isinstance(rows, np.ndarray) else rows)

    def answer(queries: ProbeQueries) -> ProbeRanks:
        if queries.targets[0] < 0:
            top = search(queries.vectors, documents, index.k).rows
            none = np.zeros(len(top), np.int64)
            return ProbeRanks(none, top, None if index.groups is None else none)
        known = known_item_search(
            queries.vectors, documents, queries.targets, index.k,
            target_vectors=queries.stand_ins, groups=index.groups, hidden=queries.hidden,
        )  # fmt: skip
        return ProbeRanks(known.rank, known.top.rows, known.group_rank)

    return answer


def search_in_parts(
    index: ExactSearch,
    queries: ProbeQueries,
    folder: ArtifactFolder,
    engine: Engine | None = None,
) -> tuple[ProbeRanks, Parts]:
    """Search with every query, but for those of parts that are on disk from before.

    Returns ranks and best rows, and the parts, to be removed when the results are written. Their
    keys are all that determines them. Blocks are those of `known_item_search`, so that its results
    do not depend on where they are made.
    """
    n = len(queries.targets)
    parts = Parts(folder, _key(index, queries))
    blocks = [*_blocks(queries.targets >= 0, queries_per_block(len(index.documents)))]
    missing = [number for number in range(len(blocks)) if number not in parts]
    done = n - sum(len(blocks[number]) for number in missing)
    with progress("searching", n, done=done) as advance:
        for number, ranks in _searched(index, queries, blocks, missing, engine):
            parts.write(number, ranks.arrays())
            advance(len(ranks.rank))
    ranks = ProbeRanks(
        np.zeros(n, np.int64),
        np.zeros((n, min(index.k, len(index.documents))), np.int64),
        None if index.groups is None else np.zeros(n, np.int64),
    )
    whole = ranks.arrays()
    for number, rows in enumerate(blocks):
        for name, values in parts.read(number).items():
            whole[name][rows] = values
    return ranks, parts


def _searched(
    index: ExactSearch,
    queries: ProbeQueries,
    blocks: Sequence[IntArray],
    missing: Sequence[int],
    engine: Engine | None,
) -> Iterator[tuple[int, ProbeRanks]]:
    if not missing:
        return
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


def _key(index: ExactSearch, queries: ProbeQueries) -> str:
    arrays = [*arrays_of(index.documents), *arrays_of(queries.vectors), queries.targets]
    arrays += arrays_of(queries.stand_ins)
    arrays += [] if index.groups is None else [index.groups.of]
    hidden = queries.hidden
    arrays += [] if hidden is None else [hidden.of, hidden.starts, hidden.rows]
    parts = (np.ascontiguousarray(a).data for a in arrays)
    return f"search-{content_hash(*parts, str(index.k), size=8).hex()}"
