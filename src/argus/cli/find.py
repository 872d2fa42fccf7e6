"""`argus audit`, `diagnose` and `exposure`: find documents that never come back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import job, with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.knowledge.source import KnowledgeSource
from argus.remedies.config import TAU, ReferenceConfig
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.retrievers.config import AskingConfig
from argus.settings import Doc, Option


@job("argus.retrievability.audit.job:audit", "argus audit --corpus docs.jsonl --out report/")
def audit(
    *,
    corpus: o.Corpus,
    out: o.Out = o.OUT,
    source: KnowledgeSource,
    config: AuditConfig,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> None:
    """Measure how reachable entities are: RPS, which tells nothing of real questions.

    Writes retrievability.parquet and .csv, pair_ranks.parquet, summary.json, manifest.json and
    report.html. A run that was stopped goes on where it was.
    """


@job(
    "argus.remedies.diagnosis:diagnose",
    "argus diagnose --corpus docs.jsonl --kb kb.jsonl --out diagnosis/",
)
def diagnose(
    *,
    corpus: o.Corpus,
    out: o.Out = o.OUT,
    reference: ReferenceConfig,
    probe: o.ProbeFolder = None,
    tau: o.Tau = TAU,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    fields: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> None:
    """Find the entities of every document and predict how reachable they are (RPS).

    RPS measures reachability, and cannot tell which real questions fail (AUC 0.50, where 0.50 is
    chance). Needs no query and no index. Writes diagnosis.parquet, summary.json, manifest.json and
    report.html.
    """


@example("argus exposure --corpus docs.jsonl --out report/")
@with_blocks
def exposure(
    *,
    corpus: o.Corpus,
    out: o.Out = o.OUT,
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
) -> None:
    """Ask for every document by its title and by sentences taken out of it.

    Measures reachability; which real questions fail it does not tell.
    Writes exposure.parquet and .csv, misses.parquet and .csv, summary.json, manifest.json and
    report.html; with --parent-field documents.parquet and .csv, with --by slices.parquet and .csv.
    A run that was stopped goes on where it was.
    """
    from argus.retrievability.exposure import job as jobs

    common: dict[str, Any] = {
        "config": measure,
        "queries": queries or (),
        "fields": columns,
        "limit": limit,
    }
    if export_probes is not None:
        probes = jobs.export_probes(corpus, export_probes, **common)
        typer.echo(
            f"{len(probes.queries):,} probes of {len(probes.documents):,} documents: run "
            f"{export_probes}/queries.jsonl; then the same command with --run RUN.trec "
            f"in place of --export-probes"
        )
        return
    result = jobs.exposure(
        corpus, out=out, encoder=encoder, store=store, fresh=fresh, engine=engine,
        retriever=retriever, asking=asking, run=run, **common,
    )  # fmt: skip
    o.show(result, as_json=json)
