"""Pair ranks written part by part, so that a killed audit goes on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import FloatArray
from argus.engine import Engine, Work
from argus.jobs.parts import Parts
from argus.knowledge import RelationGraph
from argus.progress import Advance, progress
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.ranking_work import Ranking, begin_ranking
from argus.retrievability.pairs import PairRanks
from argus.retrievability.ranks import RESERVOIR_QUERIES

PART_QUERIES = 4 * RESERVOIR_QUERIES


def ranks_in_parts(
    vectors: FloatArray,
    graph: RelationGraph,
    folder: ArtifactFolder,
    config: AuditConfig,
    reservoir: int | None,
    engine: Engine | None = None,
) -> PairRanks:
    """Return `pair_ranks` of all queries, computing only the parts not on disk from before.

    Parts are keyed by what determines them: vectors, edges, reservoir, seed; not by the engine that
    ranks them. `remove_parts` removes them when the results are written.
    """
    parts = Parts(folder, _key(vectors, graph, reservoir, config.seed))
    starts = range(0, graph.n, PART_QUERIES)
    ranges = [range(start, min(start + PART_QUERIES, graph.n)) for start in starts]
    missing = [queries for queries in ranges if queries.start not in parts]
    done = graph.n - sum(map(len, missing))
    ranking = Ranking(vectors, graph, reservoir, config.seed, config.device)
    with progress("ranking", graph.n, done=done) as advance:
        for queries, ranks in _ranked(ranking, missing, engine, advance):
            parts.write(queries.start, asdict(ranks))
    return _joined(parts, ranges, graph)


def _ranked(
    ranking: Ranking, missing: Sequence[range], engine: Engine | None, advance: Advance
) -> Iterator[tuple[range, PairRanks]]:
    """Yield each range with its ranks: here, one after another, or as workers are done."""
    if not missing:
        return
    if engine is None:
        ranker = ranking.ranker(ranking.device or "cpu")
        for queries in missing:
            yield queries, ranker.rank(queries, advance)
        return
    work: Work[Any, range, PairRanks] = Work(
        setup=begin_ranking, shared=ranking, what="ranking", threaded=True
    )
    for number, ranks in engine.run(work, missing):
        yield missing[number], ranks
        advance(len(missing[number]))


def _joined(parts: Parts, ranges: Sequence[range], graph: RelationGraph) -> PairRanks:
    """Read the parts into arrays made for all of them: never two copies at once."""
    whole = {
        f.name: np.empty(graph.n_pairs, np.float32 if f.name == "similarity" else np.int32)
        for f in fields(PairRanks)
    }
    for queries in ranges:
        place = slice(graph.indptr[queries.start], graph.indptr[queries.stop])
        for name, values in parts.read(queries.start).items():
            whole[name][place] = values
    return PairRanks(**whole)


def _key(vectors: FloatArray, graph: RelationGraph, reservoir: int | None, seed: int) -> str:
    arrays = (np.ascontiguousarray(a).data for a in (vectors, graph.indptr, graph.indices))
    return content_hash(*arrays, str(reservoir), str(seed), size=8).hex()
