"""`argus exposure`: which documents do not come back, with no graph and no questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.retrievers.config import AskingConfig
from argus.settings import Doc, Option


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
    retriever: o.Retriever = None,
    asking: AskingConfig,
    run: Annotated[
        Path | None,
        Doc("What it answered elsewhere to exported probes: TREC or JSON."),
        Option(panel=RETRIEVER),
    ] = None,
    export_probes: Annotated[
        Path | None,
        Doc("Write the probes here as a BEIR collection, to be run elsewhere; ask nothing."),
        Option(panel=RETRIEVER),
        o.ALONE,
    ] = None,
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

    Measures reachability; which real questions fail it does not tell.
    Writes exposure.parquet and .csv, misses.parquet and .csv, summary.json, manifest.json and
    report.html; with --parent-field documents.parquet and .csv, with --by slices.parquet and .csv.
    A run that was stopped goes on where it was.
    """
    from argus.retrievability.exposure import job

    if export_probes is not None:
        probes = job.export_probes(
            corpus,
            export_probes,
            config=measure,
            queries=queries or (),
            fields=columns,
            limit=limit,
        )
        typer.echo(
            f"{len(probes.queries):,} probes of {len(probes.documents):,} documents: run "
            f"{export_probes}/queries.jsonl; then the same command with --run RUN.trec "
            f"in place of --export-probes"
        )
        return
    result = job.exposure(
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
        retriever=retriever,
        asking=asking,
        run=run,
    )
    o.show(result, as_json=json)
