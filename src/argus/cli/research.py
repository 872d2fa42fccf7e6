"""`argus research`: entities, probes, suites and published tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, job, with_blocks
from argus.cli.groups import Group, example
from argus.cli.model_options import LanguageModel
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.knowledge.source import KnowledgeSource
from argus.remedies.config import TAU, ReferenceConfig
from argus.retrievability.audit.config import POOLING, AuditConfig, Pooling
from argus.retrievability.probes.config import ProbeConfig
from argus.settings import Doc, Option
from argus.suite.config import ReproduceConfig


@job(
    "argus.retrievability.audit.job:audit",
    "argus research audit --corpus docs.jsonl --pool 100 --k 10 --out report/",
)
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
    "argus research diagnose --corpus docs.jsonl --kb kb.jsonl --out diagnosis/",
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


@job("argus.suite.job:run_suite", "argus research suite suite.toml --out suite/")
def suite(
    suite: Annotated[
        Path, typer.Argument(help="TOML of retrievers, remedies, tasks and k.", metavar="FILE")
    ],
    *,
    out: o.Out = o.OUT,
    store: o.Store = None,
    engine: EngineConfig | None,
    fresh: o.Fresh = False,
) -> None:
    """Ask every retriever under every remedy the questions of every task, and write the tables.

    Each cell is kept as it is finished: the same command goes on where it was stopped, and runs
    again what changed or failed. A text is embedded once per encoder. Tables are in OUT/tables, as
    Markdown, LaTeX and Parquet.
    """


@example("argus research reproduce car-9 --out reproduced/")
@with_blocks
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A recipe, such as car-9; without it all are listed.")
    ] = None,
    *,
    data: Annotated[
        Path | None, Doc("Folder of data sets; default: $ARGUS_SHARED/data, else shared/data.")
    ] = None,
    measure: ReproduceConfig,
    model: LanguageModel,
    out: o.Out = o.OUT,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Measure a published table as far as models and data are here, beside what was published.

    Recipes are the tables of four papers (ARGUS, SPIKE, the thesis on SEAL and MINDER, CAR), and
    the figures of ARGUS. A cell that cannot be measured here has its reason. Nothing is
    downloaded, and no language model is asked but the one of --model. Without a name all recipes
    are listed, with how many of their cells are measured here, of how many more only a run can
    tell, and how long their last run into --out took.
    """
    from argus.suite.reproduce import listed_lines, recipes
    from argus.suite.reproduce import reproduce as run

    if name is not None:
        o.show(
            run(name, out=out, data=data, config=measure, model=model.config(), fresh=fresh),
            as_json=json,
        )
        return
    listed = recipes(data, out, model.config())
    if json:
        o.print_json(listed)
        return
    o.print_lines(listed_lines(listed))


probe = Group("Predict how reachable entities are, before anything is indexed.")


def _prediction(result: Any, given: Mapping[str, Any]) -> str:
    from argus.verdict.verdict import Results

    places = Results.of(given["audit"]).places
    options = places.options_of("research probe predict")
    where = ["--corpus", places.corpus, *options, "--probe", result.folder]
    return o.command("research", "probe", "predict", *where)


@probe.command()
@job(
    "argus.retrievability.probes.fit:fit_probe",
    "argus research probe fit --audit report/ --families ridge",
    _prediction,
)
def fit(
    *,
    audit: Annotated[Path, Doc("Folder that argus research audit wrote.")],
    out: Annotated[
        Path | None,
        Doc("Folder for the results; default: the audit's."),
        o.Output(lambda options: options["audit"]),
    ] = None,
    config: ProbeConfig,
    fresh: Annotated[
        bool, Doc("Forget the trials of earlier runs first."), Option(("--fresh/--resume",))
    ] = False,
) -> None:
    """Fit probes to an audit, choose by validation error, report on held-out entities.

    RPS measures reachability; which real questions fail it does not tell.

    Writes probe/ (the probe, and trials.jsonl as trials finish), trials.parquet,
    predictions.parquet, summary.json, manifest.json and report.html. A run that was stopped goes
    on where it was.
    """


@probe.command()
@job(
    "argus.retrievability.probes.predict:predict_rps",
    "argus research probe predict --corpus docs.jsonl --out predicted/",
)
def predict(
    *,
    corpus: Annotated[
        NamedCorpus | None,
        Doc("BEIR folder, a JSONL, CSV, TSV or Parquet file, or a store."),
        o.CORPUS,
    ] = None,
    source: Annotated[KnowledgeSource, Without("relations", "skip_unknown")],
    probe: Annotated[
        Path | None, Doc("Folder of a fit; default: what ships for the encoder.")
    ] = None,
    out: o.Out = o.OUT,
    pooling: Annotated[Pooling, Doc("span or sentence, where no --probe says it.")] = POOLING,
    encoder: EncoderConfig,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> None:
    """Predict the RPS of entities from their vectors; needs no relations and no index.

    RPS measures reachability; which real questions fail it does not tell.

    Writes predicted.parquet and .csv, summary.json, manifest.json and report.html. Where an entity
    is unlike all that the probe was trained on it abstains and says so.
    """
