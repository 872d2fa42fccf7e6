"""`argus probe fit` and `argus probe predict`: RPS from an entity's vector alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import Group, example
from argus.corpora import NamedCorpus
from argus.encoders.config import EncoderConfig
from argus.knowledge.source import KnowledgeSource
from argus.retrievability.audit.config import POOLING, Pooling
from argus.retrievability.probes.config import ProbeConfig
from argus.settings import Doc, Option

app = Group("Predict how reachable entities are, before anything is indexed.")


@app.command()
@example("argus probe fit --audit report/ --families ridge")
@with_blocks
def fit(
    *,
    audit: Annotated[Path, Doc("Folder that argus audit wrote.")],
    out: Annotated[
        Path | None,
        Doc("Folder for the results; default: the audit's."),
        o.Output(lambda options: options["audit"]),
    ] = None,
    measure: ProbeConfig,
    fresh: Annotated[
        bool, Doc("Forget the trials of earlier runs first."), Option(("--fresh/--resume",))
    ] = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Fit probes to an audit, choose by validation error, report on held-out entities.

    RPS measures reachability; which real questions fail it does not tell.

    Writes probe/ (the probe, and trials.jsonl as trials finish), trials.parquet,
    predictions.parquet, summary.json, manifest.json and report.html. A run that was stopped goes
    on where it was.
    """
    from argus.retrievability.probes.fit import fit_probe
    from argus.verdict.reading import Results

    result = fit_probe(audit, out=out, config=measure, fresh=fresh)
    places = Results.of(audit).places
    prediction = o.command(
        "probe", "predict", "--corpus", places.corpus, *places.options_of("probe predict"),
        "--probe", result.folder,
    )  # fmt: skip
    o.show(result, as_json=json, then=f"Next: {prediction}")


@app.command()
@example("argus probe predict --corpus docs.jsonl --out predicted/")
@with_blocks
def predict(
    *,
    corpus: Annotated[
        NamedCorpus | None,
        Doc("BEIR folder, a JSONL, CSV, TSV or Parquet file, or a store."),
        o.CORPUS,
    ] = None,
    source: Annotated[KnowledgeSource, Without("relations", "skip_unknown")],
    probe: Annotated[
        Path | None,
        Doc("Folder of a fit; default: what ships for the encoder."),
    ] = None,
    out: o.Out = Path("argus-out"),
    pooling: Annotated[Pooling, Doc("span or sentence, where no --probe says it.")] = POOLING,
    encoder: EncoderConfig,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Predict the RPS of entities from their vectors; needs no relations and no index.

    RPS measures reachability; which real questions fail it does not tell.

    Writes predicted.parquet and .csv, summary.json, manifest.json and report.html. Where an entity
    is unlike all that the probe was trained on it abstains and says so.
    """
    from argus.retrievability.probes.predict import predict_rps

    result = predict_rps(
        corpus,
        out=out,
        probe=probe,
        pooling=pooling,
        source=source,
        encoder=encoder,
        store=store,
        limit=limit,
        fresh=fresh,
    )  # fmt: skip
    o.show(result, as_json=json)
