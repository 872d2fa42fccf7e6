"""`argus probe fit` and `argus probe predict`: RPS from an entity's vector alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import Group, example
from argus.encoders.config import EncoderConfig
from argus.knowledge.source import KnowledgeSource
from argus.retrievability.audit.config import Pooling
from argus.retrievability.probes.config import ProbeConfig
from argus.settings import Doc, Option

if TYPE_CHECKING:
    from argus.retrievability.probes.metrics import Measure
    from argus.retrievability.probes.summary import PredictionSummary, ProbeSummary

app = Group("Predict which entities will not come back, before anything is indexed.")


@app.command()
@example("argus probe fit --audit report/ --families ridge")
@with_blocks
def fit(
    *,
    audit: Annotated[Path, Doc("Folder that argus audit wrote.")],
    out: Annotated[Path | None, Doc("Folder for the results; default: the audit's.")] = None,
    measure: ProbeConfig,
    fresh: Annotated[
        bool, Doc("Forget the trials of earlier runs first."), Option(("--fresh/--resume",))
    ] = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Fit probes to an audit, choose by validation error, report on held-out entities.

    Writes probe/ (the probe, and trials.jsonl as trials finish), trials.parquet,
    predictions.parquet, summary.json, manifest.json and report.html. A run that was stopped goes
    on where it was.
    """
    from argus.retrievability.probes.fit import fit_probe

    result = fit_probe(audit, out=out, config=measure, fresh=fresh)
    if json:
        o.print_json(result.summary)
    else:
        print_fit(result.summary)
        typer.echo(f"probe: {result.folder / 'probe'}\nreport: {result.report}")


@app.command()
@example("argus probe predict --corpus docs.jsonl --out predicted/")
@with_blocks
def predict(
    *,
    corpus: Annotated[
        Path | None,
        Doc("BEIR folder, or a JSONL, CSV, TSV or Parquet file."),
        o.CORPUS,
    ] = None,
    source: Annotated[KnowledgeSource, Without("relations", "skip_unknown")],
    probe: Annotated[
        Path | None,
        Doc("Folder of a fit; default: what ships for the encoder."),
    ] = None,
    out: o.Out = Path("argus-out"),
    pooling: Annotated[Pooling, Doc("span or sentence, where no --probe says it.")] = "span",
    encoder: EncoderConfig,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Predict the RPS of entities from their vectors; needs no relations and no index.

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
    o.show(result, print_prediction, as_json=json)


COLUMNS: dict[Measure, str] = {
    "rmse": "RMSE", "mae": "MAE", "pearson": "Pearson", "spearman": "Spearman",
    "macro_f1": "macro-F1", "macro_recall": "macro-R", "macro_precision": "macro-P",
    "weighted_precision": "weigh.-P", "weighted_f1": "weigh.-F1", "accuracy": "accuracy",
}  # fmt: skip
"""The measures of ARGUS Tables 1 and 3 and how they are headed."""


def print_fit(summary: ProbeSummary) -> None:
    """Print the table of the fit and its headline."""
    typer.echo(f"{'':<9}" + "".join(f"{heading:>10}" for heading in COLUMNS.values()))
    for row in summary["table"]:
        cells = (row["test"][name] for name in COLUMNS)
        text = "".join(f"{'–' if cell is None else format(cell, '.3f'):>10}" for cell in cells)
        typer.echo(f"{row['family']:<9}{text}")
    counts, labels = summary["entities"], summary["labels"]
    typer.echo(
        f"chosen by validation RMSE: {summary['family']} of {summary['trials']} settings; measured "
        f"on {counts['test']:,} entities that none of them saw, {counts['abstained_on_test']:,} of "
        "them beyond its region"
    )
    sampling = labels["sampling_rmse"]
    typer.echo(
        f"for reference: labels have a standard deviation of {labels['std']:.3f}"
        + (
            f"; drawing other related entities (median {labels['related_median']:.0f}) would move "
            f"them by {sampling:.3f} RMSE"
            if sampling is not None
            else ""
        )
    )


def print_prediction(summary: PredictionSummary) -> None:
    """Print the headline of a prediction."""
    counts = summary["entities"]
    if summary["mean_rps"] is not None:
        typer.echo(
            f"predicted RPS at k={summary['k']}, N={summary['pool']}: mean "
            f"{summary['mean_rps']:.3f}; {summary['below_tau']:,} of {counts['predicted']:,} "
            f"entities below {summary['tau']} (high risk)"
        )
    typer.echo(
        f"entities: {counts['predicted']:,} predicted, {counts['abstained']:,} abstained (unlike "
        f"the training entities), {counts['failed']:,} failed, {counts['not applicable']:,} not "
        "applicable"
    )
