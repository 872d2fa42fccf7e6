"""`argus authority score`: retrieval systems on a benchmark of controlling authority."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.authority.benchmarks.config import NamedBenchmark, OtherQueries, ScoreConfig
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.encoders.config import EncoderConfig
from argus.settings import Doc
from argus.tasks.released import benchmark_of

NONE = "none"
"""Name of the encoder that is none."""


@example(
    "argus authority score --benchmark finsuperqa --encoder none --system latest-bm25 --out scores/"
)
@with_blocks
def score(
    *,
    benchmark: NamedBenchmark,
    out: o.Out = Path("argus-out"),
    queries: OtherQueries = None,
    rules: Annotated[
        str | None,
        Doc("RULES.yaml that the pipelines know, instead of the benchmark's own."),
    ] = None,
    retriever: Annotated[
        str | None,
        Doc("FILE.py or FILE.py:NAME, a class with retrieve(query, corpus, k) -> list of doc_id."),
    ] = None,
    measure: ScoreConfig,
    cross_encoder: Annotated[
        str | None,
        Doc("Folder or name of a model that re-ranks."),
    ] = None,
    encoder: EncoderConfig,
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Score the built-in systems, or a retriever of your own, on a benchmark.

    Writes authority_questions.parquet and .csv, summary.json, manifest.json and report.html. A
    question on which the retriever fails is counted apart, never as a zero; exit code 2 when all
    fail. --encoder none leaves out the systems that need one.
    """
    from argus.authority.benchmarks.job import score_systems

    result = score_systems(
        benchmark_of(benchmark),
        out=out,
        config=measure,
        queries=queries,
        rules=rules,
        retriever=retriever,
        encoder=None if encoder.model == NONE else encoder,
        cross_encoder=cross_encoder,
        store=store,
        fresh=fresh,
    )
    o.show(result, as_json=json)
