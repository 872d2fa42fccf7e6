"""Pair ranks written part by part, so that a killed audit goes on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from argus.data.artifacts import ArtifactFolder
from argus.engine import Engine, Work
from argus.jobs.parts import Parts
from argus.progress import Advance, progress
from argus.retrievability.audit.ranking_work import Ranking, begin_ranking
from argus.retrievability.limits import RESERVOIR_QUERIES
from argus.retrievability.pairs import PairRanks

PART_QUERIES = 4 * RESERVOIR_QUERIES


def ranks_in_parts(
    ranking: Ranking, folder: ArtifactFolder, engine: Engine | None = None
) -> PairRanks:
    """Return `pair_ranks` of all queries, computing only the parts not on disk from before.

    Parts are keyed by what determines them, which is not the engine that ranks them.
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
