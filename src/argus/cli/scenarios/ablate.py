"""`argus scenarios ablate`: components x λ, and document expansion beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import blocks
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.scenarios import grid
from argus.data.fields import FieldNames
from argus.engine.config import EngineConfig
from argus.settings import Doc, Ge


@with_blocks
def ablate(
    *,
    corpus: o.Corpus,
    profiles: Annotated[Path, Doc("Scenarios (profiles.jsonl, or its folder).")],
    queries: Annotated[Path, Doc("Queries (JSONL, CSV, TSV, Parquet, BEIR folder).")],
    qrels: Annotated[
        Path,
        Doc("Judgements (BEIR: query-id, corpus-id, score; or TREC)."),
    ],
    out: o.Out = Path("argus-out"),
    component: grid.Components = None,
    weights: grid.Weights = None,
    measure: Annotated[
        list[str] | None,
        Doc("May be given again; cells are judged by the first. Default: nDCG@10, R@10."),
    ] = None,
    expansions: Annotated[
        Path | None,
        Doc("Pseudo-queries and summaries (JSONL), instead of --model."),
    ] = None,
    asked: blocks.LanguageModel,
    tune_share: Annotated[
        float,
        Doc("Share of the queries to choose a cell on, told on the rest; 0: not at all."),
    ] = 0.5,
    placebos: Annotated[int, Ge(0), Doc("Random exchanges of profiles; 0: no placebo.")] = 5,
    resamples: Annotated[int, Doc("Of the test and the intervals; 1,000 or more.")] = 10_000,
    seed: o.Seed = 0,
    encoder: o.EncoderName = "all-MiniLM-L6-v2",
    precision: o.Precision = "auto",
    device: o.Device = None,
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
    from argus.encoders import EncoderConfig
    from argus.scenarios.ablation.job import AblateConfig, ablate_scenarios

    given: dict[str, Any] = {"measures": tuple(measure)} if measure else {}
    if component:
        given["components"] = grid.components(component)
    if weights:
        given["weights"] = grid.weights(weights)
    result = ablate_scenarios(
        corpus,
        profiles,
        queries,
        qrels,
        out=out,
        encoder=EncoderConfig(model=encoder, precision=precision, device=device),
        expansions=expansions,
        model=asked.config(),
        config=AblateConfig(  tune_share=tune_share, placebos=placebos,
            resamples=resamples, seed=seed, **given,
        ),
        fields=columns,
        store=store,
        fresh=fresh,
        engine=engine,
    )  # fmt: skip
    o.show(result, print_ablation, as_json=json)


def print_ablation(summary: dict[str, Any]) -> None:
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
    for name, title in (("whole", "whole corpus"), ("profiled", "only documents with scenarios")):
        if summary[name] is not None:
            typer.echo(f"{title}:")
            _print_corpus(summary[name], summary["headline"])
    if summary["expansions"] is None:
        typer.echo("document expansion: not applicable, neither --expansions nor --model was given")
        return
    for baseline, told in summary["expansions"]["baselines"].items():
        reach = f"{told['documents']:,} of {documents['indexed']:,} documents"
        state = "" if told["documents"] else "failed: "
        typer.echo(f"{baseline}: {state}{reach} have any")


def _print_corpus(found: dict[str, Any], measure: str) -> None:
    best, usual = found["best"], found["usual"]
    for row in found["rows"]:
        cell = {name: row[name] for name in ("component", "lambda")}
        if row["system"] == "scenarios" and cell not in (best, usual):
            continue
        name = row["system"]
        if row["component"]:
            name += f" {_cell(row)}"
        if row["system"] == "scenarios" and cell == best:
            name += " (best, chosen on these questions)"
        change = f" ({_change(row['comparison'])})" if row["comparison"] else ""
        typer.echo(f"  {name}: {row['measures'][measure]:.4f}{change}")
    if tuned := found["tuned"]:
        told = tuned["comparison"]
        typer.echo(
            f"  chosen on {tuned['chosen_on']:,} questions: {_cell(tuned)}; on the other "
            f"{told['queries']:,}: {told['mean_before']:.4f} -> {told['mean_after']:.4f} "
            f"({_change(told)})"
        )


def _cell(row: dict[str, Any]) -> str:
    return f"{row['component']} at λ = {row['lambda']:g}"


def _change(found: dict[str, Any]) -> str:
    interval = (
        f"no interval: {found['no_interval']}"
        if found["low"] is None
        else f"95% {found['low']:+.4f} to {found['high']:+.4f}"
    )
    return (
        f"{found['mean_difference']:+.4f}, {interval}, p={found['p_value']:.3g}; "
        f"{found['improved']:,} improved, {found['harmed']:,} harmed"
    )
