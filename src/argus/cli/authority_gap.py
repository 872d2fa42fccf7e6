"""`argus authority gap`: how far questions are from what controls, in words."""

from __future__ import annotations

from argus.authority.benchmarks.config import NamedBenchmark, OtherQueries
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.tasks.released import benchmark_of


@example("argus authority gap --benchmark cvepatchqa")
@with_blocks
def gap(
    *,
    benchmark: NamedBenchmark,
    queries: OtherQueries = None,
    seed: o.Seed = 0,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Measure the vocabulary gap: words that questions share with each side (CAR, Table 4).

    Each question is held against the superseded document that it is about, and against what
    controls that: by Jaccard of their words, with and without stop words, and by BM25. The gap is
    positive where the superseded one is nearer.
    """
    from argus.authority.benchmarks.gap import gap_lines, vocabulary_gap

    summary = vocabulary_gap(benchmark_of(benchmark), queries=queries, seed=seed)
    if json:
        o.print_json(summary)
        return
    o.print_lines(gap_lines(summary))
