"""`argus scenarios distill`: train a small model to write scenarios as a large one does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.training_lines import training_lines
from argus.data.fields import FieldNames
from argus.scenarios.distill.settings import DistillConfig
from argus.settings import Doc

if TYPE_CHECKING:
    from argus.scenarios.distill.job import DistillResult
    from argus.scenarios.distill.summary import ExampleCounts


@example(
    "argus scenarios distill --corpus docs.jsonl --profiles profiles/ --base student/ --epochs 3"
)
@with_blocks
def distill(
    *,
    corpus: o.Corpus,
    profiles: Annotated[
        Path,
        Doc("Teacher's profiles: a file, or a folder that holds them."),
    ],
    out: o.Out = Path("argus-out"),
    training: DistillConfig,
    device: o.Device = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Fine-tune a small language model with LoRA on the scenarios that a large one wrote.

    Writes OUT/adapter (with --merge, OUT/merged, too), losses.parquet, summary.json and
    manifest.json. The adapter generates with --model local:BASE --adapter OUT/adapter; a merged
    model with --model local:OUT/merged, or from any endpoint that serves it.
    """
    from argus.scenarios.distill.job import distill as run

    result = run(
        corpus, profiles=profiles, config=training, out=out, fields=columns, limit=limit,
        device=device, fresh=fresh,
    )  # fmt: skip
    if json:
        o.print_json(result.summary)
        return
    print_distilled(result)


def print_distilled(result: DistillResult) -> None:
    """Print what was learnt, what it took, and how the result is used."""
    summary = result.summary
    counts = summary["examples"]
    noise = f", {counts['noise']:,} of them noise" if counts["noise"] else ""
    typer.echo(
        f"{counts['train']:,} documents to train on, {counts['validation']:,} to validate "
        f"with{noise}; {_left_out(counts)}"
    )
    for line in training_lines(summary, "epoch"):
        typer.echo(line)
    typer.echo(f"adapter: {result.adapter} (--model local:{summary['base']} --adapter ...)")
    if result.merged:
        typer.echo(f"merged model: {result.merged} (--model local:{result.merged})")


def _left_out(counts: ExampleCounts) -> str:
    kinds = {
        "documents without profile": counts["documents_without_profile"],
        "profiles without document": counts["without_document"],
        "failed profiles": counts["failed"],
        "documents without text": counts["documents_without_text"],
        "too long": counts["too_long"],
    }
    parts = [f"{n:,} {what}" for what, n in kinds.items() if n]
    return f"left out: {', '.join(parts)}" if parts else "none left out"
