"""`argus remedy`: repair an index, and undo a repair."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.evaluate import print_change

if TYPE_CHECKING:
    from argus.llm import Estimate
    from argus.workflows.receipt import RemedyResult

app = typer.Typer(
    help="Repair an index, with a receipt, and undo a repair.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Index = Annotated[Path, typer.Option("--index", help="Folder from argus index build.")]
Model = Annotated[
    str | None, typer.Option("--encoder", help="Default: the encoder that the index names.")
]
Queries = Annotated[Path | None, typer.Option("--queries", help="Judged queries, for the receipt.")]
Judgements = Annotated[Path | None, typer.Option("--qrels", help="Their judgements.")]
Titles = Annotated[
    Path | None,
    typer.Option("--corpus", help="Where titles are, to tell implicit questions apart."),
]
Depth = Annotated[int, typer.Option("--k", help="How far down a list counts.", min=1)]
ResultFolder = Annotated[
    Path | None, typer.Option("--out", help="Folder for the receipt; default INDEX/remedies/ID.")
]


@app.command()
def expand(
    index: Index,
    kb: o.Kb = None,
    preset: Annotated[
        str, typer.Option("--preset", help="robust, or paper (ARGUS §5.2 to the letter).")
    ] = "robust",
    k_aug: Annotated[
        int | None, typer.Option("--k-aug", help="Passages per entity at risk.", min=1)
    ] = None,
    min_similarity: Annotated[
        float | None, typer.Option("--min-similarity", help="Context check: least cosine.")
    ] = None,
    max_views: Annotated[
        int | None, typer.Option("--max-views", help="Most views per document.", min=1)
    ] = None,
    mentions: o.Mentions = "gazetteer",
    ignore_case: o.IgnoreCase = False,
    common_words: o.CommonWords = False,
    min_length: o.MinLength = 3,
    encoder: Model = None,
    probe: o.ProbeFolder = None,
    tau: o.Tau = 0.3,
    queries: Queries = None,
    qrels: Judgements = None,
    corpus: Titles = None,
    k: Depth = 10,
    out: ResultFolder = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Add views that join documents at risk with what a knowledge base says of their entities.

    No language model is needed. The same repair is never added twice; `argus remedy rollback`
    takes it out again.
    """
    from argus.remedies.expand import preset as named
    from argus.workflows.expand import expand_index

    result = expand_index(
        index,
        reference=o.reference(kb, mentions, ignore_case, common_words, min_length),
        config=named(preset, k_aug=k_aug, min_similarity=min_similarity, max_views=max_views),
        encoder=encoder,
        probe=probe,
        tau=tau,
        queries=queries,
        qrels=qrels,
        corpus=corpus,
        k=k,
        out=out,
    )
    _print(result, json)


@app.command()
def synthesize(
    index: Index,
    kb: o.Kb = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Model of an OpenAI-compatible endpoint; without, the knowledge base's own "
            "short descriptions are inserted.",
        ),
    ] = None,
    base_url: Annotated[
        str, typer.Option("--base-url", help="The endpoint.", rich_help_panel="Language model")
    ] = "https://api.openai.com/v1",
    api_key_env: Annotated[
        str,
        typer.Option(
            "--api-key-env",
            help="Environment variable that holds the API key.",
            rich_help_panel="Language model",
        ),
    ] = "OPENAI_API_KEY",
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Only say what would be asked and what it would cost.",
            rich_help_panel="Language model",
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            help="Most that may be spent, in the currency of the prices.",
            rich_help_panel="Language model",
        ),
    ] = None,
    input_price: Annotated[
        float | None,
        typer.Option(
            "--input-price", help="Per million tokens read.", rich_help_panel="Language model"
        ),
    ] = None,
    output_price: Annotated[
        float | None,
        typer.Option(
            "--output-price", help="Per million tokens written.", rich_help_panel="Language model"
        ),
    ] = None,
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency", help="Requests at once.", min=1, rich_help_panel="Language model"
        ),
    ] = 8,
    per_minute: Annotated[
        float | None,
        typer.Option("--requests-per-minute", help="At most.", rich_help_panel="Language model"),
    ] = None,
    timeout_s: Annotated[
        float,
        typer.Option("--timeout", help="Seconds for one answer.", rich_help_panel="Language model"),
    ] = 120.0,
    min_similarity: Annotated[
        float | None,
        typer.Option("--min-similarity", help="Context check without a model: least cosine."),
    ] = None,
    mentions: o.Mentions = "gazetteer",
    ignore_case: o.IgnoreCase = False,
    common_words: o.CommonWords = False,
    min_length: o.MinLength = 3,
    encoder: Model = None,
    probe: o.ProbeFolder = None,
    tau: o.Tau = 0.3,
    queries: Queries = None,
    qrels: Judgements = None,
    corpus: Titles = None,
    k: Depth = 10,
    out: ResultFolder = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Add one text per document at risk, with short descriptions after first mentions.

    Whatever a model answers, only the document itself with descriptions of at most five words, that
    the knowledge base supports, is ever indexed; other answers are listed, and the original stays.
    """
    import os

    from argus.llm import ChatConfig
    from argus.remedies.expand import MIN_SIMILARITY
    from argus.workflows.synthesize import (
        SynthesizeConfig,
        estimate_synthesis,
        synthesize_index,
    )

    chat = None
    if model is not None:
        chat = ChatConfig(
            model=model, base_url=base_url, api_key=os.environ.get(api_key_env),
            budget=budget, input_price=input_price, output_price=output_price,
            concurrency=concurrency, requests_per_minute=per_minute, timeout_s=timeout_s,
        )  # fmt: skip
    chosen = SynthesizeConfig(
        model=chat, min_similarity=MIN_SIMILARITY if min_similarity is None else min_similarity
    )
    reference = o.reference(kb, mentions, ignore_case, common_words, min_length)
    if estimate:
        _print_estimate(
            estimate_synthesis(
                index, reference=reference, config=chosen, encoder=encoder, probe=probe, tau=tau
            ),
            json,
        )
        return
    result = synthesize_index(
        index, reference=reference, config=chosen, encoder=encoder, probe=probe, tau=tau,
        queries=queries, qrels=qrels, corpus=corpus, k=k, out=out,
    )  # fmt: skip
    _print(result, json)


def _print_estimate(found: Estimate, as_json: bool) -> None:
    if as_json:
        o.print_json(asdict(found))
        return
    cost = ""
    if found.cost is not None and found.cost_at_most is not None:
        cost = f"; about {found.cost:.2f}, at most {found.cost_at_most:.2f}"
    typer.echo(
        f"{found.to_ask:,} of {found.prompts:,} prompts would be asked ({found.cached:,} are in "
        f"the ledger): {found.tokens_in:,} tokens in, at most {found.tokens_out_at_most:,} "
        f"out{cost}"
    )


@app.command()
def rollback(
    remedy: Annotated[str, typer.Argument(help="Id of the remedy, as its receipt names it.")],
    index: Index,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Remove exactly the views that a remedy added."""
    from argus.workflows.remedy import rollback as run

    note = run(index, remedy)
    if json:
        o.print_json(note)
    else:
        typer.echo(f"removed {note['views_removed']:,} views of {remedy} from {index}")


def _print(result: RemedyResult, as_json: bool) -> None:
    if as_json:
        judged = {"evaluation": result.evaluation} if result.evaluation else {}
        o.print_json(result.summary | judged)
        return
    print_remedy(result.summary)
    if result.evaluation:
        print_change(result.evaluation)
    typer.echo(f"report: {result.report}")


def print_remedy(summary: dict[str, Any]) -> None:
    """Print the headline of a receipt."""
    counts, repaired = summary["counts"], summary["of_repaired"]
    typer.echo(
        f"{summary['remedy']}: {counts['views']:,} views ({counts['bytes'] / 2**20:.1f} MiB) for "
        f"{counts['documents_repaired']:,} of {counts['documents_at_risk']:,} documents at risk"
    )
    if failed := summary["made"].get("views_failed"):
        typer.echo(f"{failed:,} views could not be embedded and were left out")
    if back := sum(summary["made"].get("fallen_back", {}).values()):
        typer.echo(
            f"{back:,} documents keep their original alone, rejected or not answered: "
            "see synthesis.parquet"
        )
    if repaired["queries"]:
        typer.echo(
            f"asked for by the names of their entities at risk, top {summary['k']}: "
            f"{repaired['found_before']:.1%} → {repaired['found_after']:.1%} come back "
            f"({repaired['recovered']:,} recovered, {repaired['lost']:,} lost); "
            f"{summary['neighbours_fallen']:,} documents lost a place to them"
        )
    if summary["rps"]:
        rps = summary["rps"]
        typer.echo(f"predicted RPS of these entities: {rps['before']:.3f} → {rps['after']:.3f}")
