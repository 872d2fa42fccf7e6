"""`argus check`: documents never found, records a store loses, and superseded documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.authority.config import AuthoritySource
from argus.cli import output
from argus.cli.groups import example
from argus.cli.signatures import with_blocks
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.jobs import options as o
from argus.reachability.config import ReachConfig
from argus.retrievability.config import ExposureConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.settings import (
    ALONE,
    CORPUS,
    Option,
    Options,
    Without,
)

SHARED = ("k", "sample", "seed", "by")  # settings of a reach that an exposure has, too


@example("argus check --corpus docs.jsonl --out report/")
@with_blocks
def check(
    context: typer.Context,
    *,
    source: Annotated[
        str | None, typer.Argument(help="Documents or a store, as --corpus names them."), CORPUS
    ] = None,
    corpus: Annotated[NamedCorpus | None, CORPUS] = None,
    served: Annotated[str | None, Option(("--store",))] = None,
    retriever: NamedRetriever = None,
    encoder: EncoderConfig,
    authority: Annotated[AuthoritySource | None, Options(AuthoritySource, optional=True)] = None,
    out: o.Out = o.OUT,
    queries: Path | None = None,
    measure: ExposureConfig,
    reaching: Annotated[ReachConfig, Without(*SHARED, "batch")],
    asking: AskingConfig,
    run: Annotated[Path | None, Option(panel=RETRIEVER)] = None,
    export_probes: Annotated[Path | None, Option(panel=RETRIEVER), ALONE] = None,
    engine: o.Engine = None,
    cache: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Check what is never found, what a store loses, and what is superseded but still served.

    Documents are asked for by their title and by sentences taken out of them, a store for its own
    records by their own vectors, and superseded documents (--records with --rules or --edges) for
    what controls now. Each part runs where its inputs are there. No label and no language model is
    needed. It measures reachability; which real questions fail it does not tell. A run that was
    stopped goes on where it was.

    Args:
        corpus: BEIR folder, a JSONL, CSV, TSV or Parquet file, or a store (KIND:PLACE/COLLECTION).
        served: Store that serves them: it is asked for its own records (KIND:PLACE/COLLECTION).
        queries: Real queries to add to the sample (JSONL, CSV, TSV, Parquet).
        run: What it answered elsewhere to exported probes: TREC or JSON.
        export_probes: Write the probes here as a BEIR collection, to be run elsewhere; ask nothing.
    """
    if source is not None and corpus is not None:
        raise InputError(
            "documents are named twice",
            expected="one corpus",
            fix="Leave --corpus out.",
            where="--corpus",
        )
    place: Any = corpus if source is None else source
    common: dict[str, Any] = {"queries": queries or (), "fields": columns, "limit": limit}
    if export_probes is not None:
        if place is None:
            raise InputError(
                "no documents",
                expected="those that the probes ask for",
                fix="Name them with --corpus.",
                where="--export-probes",
            )
        from argus.retrievability.exposure import export_probes as export

        probes = export(place, export_probes, config=measure, **common)
        typer.echo(
            f"{len(probes.queries):,} probes of {len(probes.documents):,} documents: run "
            f"{export_probes}/queries.jsonl; then the same command with --run RUN.trec "
            f"in place of --export-probes"
        )
        return
    from argus.checks import check as run_check

    is_default = context.get_parameter_source("encoder").name == "DEFAULT"  # type: ignore[union-attr]
    result = run_check(
        place, store=served, authority=authority, out=out, retriever=retriever, asking=asking,
        run=run, encoder=None if is_default and encoder == EncoderConfig() else encoder,
        exposing=measure, cache=cache, engine=engine, fresh=fresh,
        reaching=replace(reaching, **{name: getattr(measure, name) for name in SHARED}),
        **common,
    )  # fmt: skip
    output.show(result, as_json=json)
