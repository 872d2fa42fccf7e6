"""`argus scenarios distill`: train a small model to write scenarios as a large one does."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.training_lines import training_lines
from argus.data.fields import FieldNames
from argus.settings import Doc, Ge, Option

if TYPE_CHECKING:
    from argus.scenarios.distill.job import DistillResult
    from argus.scenarios.distill.settings import TrainConfig
    from argus.scenarios.distill.summary import ExampleCounts

_PANEL = "Training"


@dataclass(frozen=True, kw_only=True)
class Training:
    """Options of the training; the defaults are the paper's (SPIKE §C.2.2)."""

    epochs: Annotated[int, Ge(1), Doc("At most."), Option(panel=_PANEL)] = 10
    patience: Annotated[
        int,
        Ge(1),
        Doc("Epochs without a lower evaluation loss that end it."),
        Option(panel=_PANEL),
    ] = 4
    learning_rate: Annotated[float, Doc("The highest."), Option(panel=_PANEL)] = 2e-5
    warmup_ratio: Annotated[
        float,
        Doc("Share of the steps."),
        Option(panel=_PANEL),
    ] = 0.1
    weight_decay: Annotated[float, Doc("Of AdamW."), Option(panel=_PANEL)] = 0.1
    batch_size: Annotated[
        int, Ge(1), Doc("Examples at once."), Option(("--batch",), panel=_PANEL)
    ] = 4
    accumulation: Annotated[
        int, Ge(1), Doc("Batches per step."), Option(("--accumulate",), panel=_PANEL)
    ] = 2
    rank: Annotated[int, Ge(1), Doc("Of LoRA."), Option(panel=_PANEL)] = 32
    alpha: Annotated[float, Doc("Of LoRA."), Option(panel=_PANEL)] = 64
    dropout: Annotated[float, Doc("Of LoRA."), Option(panel=_PANEL)] = 0.1
    gradient_checkpointing: Annotated[
        bool,
        Doc("Less memory, about a third more time."),
        Option(panel=_PANEL),
    ] = False
    seed: o.Seed = 0

    def config(self) -> TrainConfig:
        """Return the settings."""
        from argus.scenarios.distill.settings import TrainConfig

        return TrainConfig(**{f.name: getattr(self, f.name) for f in fields(self)})


@with_blocks
def distill(
    *,
    corpus: o.Corpus,
    profiles: Annotated[
        Path,
        Doc("Teacher's profiles: a file, or a folder that holds them."),
    ],
    base: Annotated[
        str,
        Doc("Causal language model with tokenizer: a folder, or a name."),
    ],
    out: o.Out = Path("argus-out"),
    merge: Annotated[bool, Doc("Also write the model with the adapter in its weights.")] = False,
    max_length: Annotated[
        int,
        Ge(1),
        Doc("Longer examples (in tokens) are left out."),
    ] = 4096,
    validation_share: Annotated[float, Doc("Documents kept for evaluation.")] = 0.1,
    dtype: Annotated[str, Doc("auto, float32, bfloat16, float16.")] = "auto",
    device: o.Device = None,
    training: Training,
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
    from argus.scenarios.distill.job import DistillConfig
    from argus.scenarios.distill.job import distill as run

    chosen = DistillConfig(
        base=base, training=training.config(), max_length=max_length,
        validation_share=validation_share, dtype=dtype, merge=merge,
    )  # fmt: skip
    result = run(
        corpus, profiles=profiles, config=chosen, out=out, fields=columns, limit=limit,
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
