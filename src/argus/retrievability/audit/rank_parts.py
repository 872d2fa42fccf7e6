"""Pair ranks, a range of queries at a time, on an engine or here: a killed audit goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.devices import check_device
from argus.encoders.config import COSINE
from argus.encoders.rows import Rows, arrays_of
from argus.engine import Engine, Work
from argus.jobs.parts import Parts
from argus.knowledge import RelationGraph
from argus.progress import Advance, progress
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.limits import RESERVOIR_QUERIES
from argus.retrievability.pairs import PairRanks
from argus.retrievability.ranks import Ranker


@dataclass(frozen=True)
class Ranking:
    """State of every worker. Device None takes a GPU where there is one.

    reservoir: as for `pair_ranks`. Vectors that are memory-mapped go to workers as the name of
    their file.
    """

    vectors: Rows
    graph: RelationGraph
    reservoir: int | None
    seed: int
    device: str | None
    unit: bool = True

    @classmethod
    def of(
        cls, vectors: Rows, graph: RelationGraph, config: AuditConfig, similarity: str = COSINE
    ) -> Ranking:
        """Take from an audit's settings those of ranks, and how rows are compared."""
        reservoir, unit = config.reservoir_for(graph.n), similarity == COSINE
        return cls(vectors, graph, reservoir, config.seed, config.device, unit)

    @property
    def key(self) -> str:
        """Hash of all that determines the ranks: not of where they are counted."""
        arrays = (*arrays_of(self.vectors), self.graph.indptr, self.graph.indices)
        parts = (np.ascontiguousarray(a).data for a in arrays)
        return content_hash(*parts, str(self.reservoir), str(self.seed), size=8).hex()

    def ranker(self, device: str) -> Ranker:
        """Return the ranker on a device."""
        return Ranker(
            self.vectors, self.graph, reservoir=self.reservoir, seed=self.seed,
            device=device, unit=self.unit,
        )  # fmt: skip


def begin_ranking(ranking: Ranking) -> Callable[[range], PairRanks]:
    """Return the ranker of the related entities of a range of queries."""
    return ranking.ranker(check_device(ranking.device)).rank


PART_QUERIES = 4 * RESERVOIR_QUERIES


def ranks_in_parts(
    ranking: Ranking, folder: ArtifactFolder, engine: Engine | None = None
) -> PairRanks:
    """Return `pair_ranks` of all queries, computing only the parts not on disk from before.

    Parts are keyed by all that determines them, but not by the engine that ranks them.
    `remove_parts` removes them when the results are written.
    """
    parts, graph = Parts(folder, ranking.key), ranking.graph
    starts = range(0, graph.n, PART_QUERIES)
    ranges = [range(start, min(start + PART_QUERIES, graph.n)) for start in starts]
    missing = [queries for queries in ranges if queries.start not in parts]
    done = graph.n - sum(map(len, missing))
    with progress("ranking", graph.n, done=done) as advance:
        for queries, ranks in _ranked(ranking, missing, engine, advance):
            parts.write(queries.start, asdict(ranks))
    ends = graph.indptr
    columns = ((slice(ends[q.start], ends[q.stop]), parts.read(q.start)) for q in ranges)
    return PairRanks.joined(columns, graph.n_pairs)


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
    work = Work[Ranking, range, PairRanks](
        setup=begin_ranking, shared=ranking, what="ranking", threaded=True
    )
    for number, ranks in engine.run(work, missing):
        yield missing[number], ranks
        advance(len(missing[number]))
