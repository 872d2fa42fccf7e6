"""`argus exposure`: which documents do not come back, with no graph and no questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import blocks
from argus.cli import options as o

if TYPE_CHECKING:
    from argus.retrievability.exposure.summary import ExposureSummary


@blocks.with_blocks
def exposure(
    *,
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries", help="Real queries to add to the sample (JSONL, CSV, TSV, Parquet)."
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("--k", help="How far down a list counts as brought back.", min=1)
    ] = 10,
    sentences: Annotated[
        int, typer.Option("--sentences", help="Sentences held out per document.", min=0)
    ] = 2,
    encoding: blocks.Encoding,
    where: blocks.Engine,
    store: o.Store = None,
    columns: blocks.Columns,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask for every document by its title and by sentences taken out of it.

    Writes exposure.parquet and .csv, misses.parquet and .csv, summary.json, manifest.json and
    report.html. A run that was stopped goes on where it was.
    """
    from argus.retrievability.exposure.job import ExposureConfig
    from argus.retrievability.exposure.job import exposure as run

    result = run(
        corpus,
        out=out,
        encoder=encoding.config(),
        config=ExposureConfig(k=k, sentences=sentences, seed=seed),
        queries=queries or (),
        fields=columns.names(),
        store=store,
        limit=limit,
        fresh=fresh,
        engine=where.chosen(),
    )  # fmt: skip
    o.show(result, print_exposure, as_json=json)


def print_exposure(summary: ExposureSummary) -> None:
    """Print the headline of an exposure run."""
    kinds = ((summary["title"], "their title"), (summary["sentence"], "a sentence of their own"))
    for figures, by in kinds:
        if figures["probes"]:
            typer.echo(
                f"found by {by}, top {summary['k']}: {figures['success_at_k']:.1%} "
                f"(first: {figures['success_at_1']:.1%}) of {figures['probes']:,} probes"
            )
    typer.echo(
        f"never retrieved: {summary['never_retrieved']:,} of {summary['documents']['total']:,} "
        f"documents; Gini {summary['concentration']['gini']:.2f}"
    )
