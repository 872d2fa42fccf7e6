"""`argus scenarios ablate`: components x λ, and document expansion beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.scenarios.ablation.config import AblateConfig
from argus.settings import Doc

if TYPE_CHECKING:
    from argus.scenarios.ablation.summary import (
        AblationSummary,
        CellName,
        Comparison,
        CorpusSummary,
    )


ENDPOINT = ("base_url", "api_key_env", "batch_size", "concurrency")
"""Settings of an encoder that its own options would name as those of the language model."""


@example(
    "argus scenarios ablate --corpus docs.jsonl --profiles profiles/ --queries queries.jsonl "
    "--qrels qrels.tsv"
)
@with_blocks
def ablate(
    *,
    corpus: o.Corpus,
    profiles: Annotated[Path, Doc("Scenarios (profiles.jsonl, or its folder).")],
    queries: o.Queries,
    qrels: o.Qrels,
    out: o.Out = Path("argus-out"),
    measure: AblateConfig,
    expansions: Annotated[
        Path | None,
        Doc("Pseudo-queries and summaries (JSONL), instead of --model."),
    ] = None,
    model: LanguageModel,
    encoder: Annotated[EncoderConfig, Without(*ENDPOINT)],
    store: o.Store = None,
    columns: FieldNames,
    engine: EngineConfig | None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Search with every component at every λ, and compare each with the documents alone.

    With --expansions or --model also documents expanded with pseudo-queries and with a summary; the
    model's answers are kept in OUT/answers.sqlite. Writes ablation.parquet and .csv, summary.json,
    manifest.json and report.html with a heat map.
    """
    from argus.scenarios.ablation.job import ablate_scenarios

    result = ablate_scenarios(
        corpus,
        profiles,
        queries,
        qrels,
        out=out,
        encoder=encoder,
        expansions=expansions,
        model=model.config(),
        config=measure,
        fields=columns,
        store=store,
        fresh=fresh,
        engine=engine,
    )  # fmt: skip
    o.show(result, print_ablation, as_json=json)


def print_ablation(summary: AblationSummary) -> None:
    """Print the usual cell, the best one and what makes them doubtful."""
    documents, whole = summary["documents"], summary["whole"]
    typer.echo(
        f"{documents['with_scenarios']:,} of {documents['indexed']:,} documents "
        f"({documents['share']:.1%}) have scenarios; {whole['queries']:,} questions, "
        f"{summary['headline']}"
    )
    others = summary["profiles"]["of_other_documents"]
    if others:
        typer.echo(f"{others:,} profiles are of documents that the corpus does not hold")
    typer.echo("whole corpus:")
    _print_corpus(whole, summary["headline"])
    if summary["profiled"] is not None:
        typer.echo("only documents with scenarios:")
        _print_corpus(summary["profiled"], summary["headline"])
    if summary["expansions"] is None:
        typer.echo("document expansion: not applicable, neither --expansions nor --model was given")
        return
    for baseline, counts in summary["expansions"]["baselines"].items():
        reach = f"{counts['documents']:,} of {documents['indexed']:,} documents"
        state = "" if counts["documents"] else "failed: "
        typer.echo(f"{baseline}: {state}{reach} have any")


def _print_corpus(corpus: CorpusSummary, measure: str) -> None:
    best, usual = corpus["best"], corpus["usual"]
    for row in corpus["rows"]:
        name: str = row["system"]
        if row["system"] == "scenarios" or row["system"] == "placebo":
            cell: CellName = {"component": row["component"], "lambda": row["lambda"]}
            if row["system"] == "scenarios" and cell not in (best, usual):
                continue
            name += f" {_cell(cell)}"
            if row["system"] == "scenarios" and cell == best:
                name += " (best, chosen on these questions)"
        change = f" ({_change(row['comparison'])})" if row["comparison"] else ""
        typer.echo(f"  {name}: {row['measures'][measure]:.4f}{change}")
    if tuned := corpus["tuned"]:
        difference = tuned["comparison"]
        typer.echo(
            f"  chosen on {tuned['chosen_on']:,} questions: {_cell(tuned)}; on the other "
            f"{difference['queries']:,}: {difference['mean_before']:.4f} -> "
            f"{difference['mean_after']:.4f} ({_change(difference)})"
        )


def _cell(cell: CellName) -> str:
    return f"{cell['component']} at λ = {cell['lambda']:g}"


def _change(change: Comparison) -> str:
    interval = (
        f"no interval: {change['no_interval']}"
        if change["low"] is None
        else f"95% {change['low']:+.4f} to {change['high']:+.4f}"
    )
    return (
        f"{change['mean_difference']:+.4f}, {interval}, p={change['p_value']:.3g}; "
        f"{change['improved']:,} improved, {change['harmed']:,} harmed"
    )
