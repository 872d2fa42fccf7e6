"""`argus exposure`: which documents do not come back, with no graph and no questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.retrievability.exposure.config import ExposureConfig
from argus.settings import Doc

if TYPE_CHECKING:
    from argus.retrievability.exposure.summary import ExposureSummary


@example("argus exposure --corpus docs.jsonl --out report/")
@with_blocks
def exposure(
    *,
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    queries: Annotated[
        Path | None,
        Doc("Real queries to add to the sample (JSONL, CSV, TSV, Parquet)."),
    ] = None,
    measure: ExposureConfig,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask for every document by its title and by sentences taken out of it.

    Writes exposure.parquet and .csv, misses.parquet and .csv, summary.json, manifest.json and
    report.html. A run that was stopped goes on where it was.
    """
    from argus.retrievability.exposure.job import exposure as run

    result = run(
        corpus,
        out=out,
        encoder=encoder,
        config=measure,
        queries=queries or (),
        fields=columns,
        store=store,
        limit=limit,
        fresh=fresh,
        engine=engine,
    )
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
