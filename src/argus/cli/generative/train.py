"""`argus generative train`: a model that writes n-grams of the passages that answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import blocks
from argus.cli import options as o
from argus.cli.training_lines import training_lines

if TYPE_CHECKING:
    from argus.generative.training.job import GenerativeTrainResult
    from argus.generative.training.scratch import ScratchSize
    from argus.generative.training.settings import ExampleConfig

_PANEL, _EXAMPLES, _SIZE = "Training", "Examples", "Model from scratch"


@dataclass(frozen=True, kw_only=True)
class Learning:
    """Options of the training; what is left out has the default of the model's kind."""

    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            help="Time for training, all runs together; with more of it, a training goes on. "
            "Default 25 from scratch, else none.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    epochs: Annotated[
        int | None,
        typer.Option("--epochs", help="At most: 20 from scratch, else 10.", min=1,
                     rich_help_panel=_PANEL),
    ] = None  # fmt: skip
    patience: Annotated[
        int | None,
        typer.Option("--patience", help="Evaluations without a lower loss that end it: 10, else 4.",
                     min=1, rich_help_panel=_PANEL),
    ] = None  # fmt: skip
    evaluate_every: Annotated[
        int | None,
        typer.Option("--evaluate-every", help="Steps, besides every epoch: 200 from scratch.",
                     min=1, rich_help_panel=_PANEL),
    ] = None  # fmt: skip
    batch: Annotated[
        int | None,
        typer.Option("--batch", help="Examples at once (64, else 32); halved for want of memory.",
                     min=1, rich_help_panel=_PANEL),
    ] = None  # fmt: skip
    accumulation: Annotated[
        int | None,
        typer.Option("--accumulate", help="Batches per step: 1.", min=1, rich_help_panel=_PANEL),
    ] = None
    learning_rate: Annotated[
        float | None,
        typer.Option("--learning-rate", help="The highest: 1e-3 from scratch, else 3e-5.",
                     rich_help_panel=_PANEL),
    ] = None  # fmt: skip
    label_smoothing: Annotated[
        float | None,
        typer.Option("--label-smoothing", help="0 from scratch, else 0.1.",
                     rich_help_panel=_PANEL),
    ] = None  # fmt: skip
    dtype: Annotated[
        str,
        typer.Option("--dtype", help="What is computed in: float32, bfloat16.",
                     rich_help_panel=_PANEL),
    ] = "float32"  # fmt: skip

    def given(self, seed: int) -> dict[str, Any]:
        """Return the settings of the training, None where nothing was said."""
        return {
            "max_minutes": self.minutes, "epochs": self.epochs, "patience": self.patience,
            "evaluate_every": self.evaluate_every, "batch_size": self.batch,
            "accumulation": self.accumulation, "learning_rate": self.learning_rate,
            "label_smoothing": self.label_smoothing, "dtype": self.dtype, "seed": seed,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Options of the examples."""

    bodies: Annotated[
        int,
        typer.Option("--bodies", help="Spans per question and passage in an epoch.", min=1,
                     rich_help_panel=_EXAMPLES),
    ] = 2  # fmt: skip
    unsupervised: Annotated[
        int,
        typer.Option("--unsupervised", help="Rounds over all passages in an epoch; 0 for none.",
                     min=0, rich_help_panel=_EXAMPLES),
    ] = 1  # fmt: skip
    title_questions: Annotated[
        bool,
        typer.Option("--title-questions/--no-title-questions",
                     help="Whether titles are questions, too.", rich_help_panel=_EXAMPLES),
    ] = True  # fmt: skip
    source_tokens: Annotated[
        int,
        typer.Option("--source-tokens", help="Longer sources are cut.", min=8,
                     rich_help_panel=_EXAMPLES),
    ] = 64  # fmt: skip

    def config(self, seed: int) -> ExampleConfig:
        """Return the settings of the examples."""
        from argus.generative.training.settings import ExampleConfig

        return ExampleConfig(
            bodies=self.bodies, unsupervised=self.unsupervised, seed=seed,
            title_questions=self.title_questions, source_tokens=self.source_tokens,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Size:
    """Options of a model from scratch."""

    d_model: Annotated[
        int,
        typer.Option("--d-model", help="Its width, a multiple of 16.", min=16,
                     rich_help_panel=_SIZE),
    ] = 256  # fmt: skip
    layers: Annotated[
        int,
        typer.Option("--layers", help="Of encoder and decoder each.", min=1, rich_help_panel=_SIZE),
    ] = 2
    dropout: Annotated[
        float, typer.Option("--dropout", help="In training.", rich_help_panel=_SIZE)
    ] = 0.1

    def config(self) -> ScratchSize:
        """Return the size."""
        from argus.generative.training.scratch import ScratchSize

        return ScratchSize(d_model=self.d_model, layers=self.layers, dropout=self.dropout)


@blocks.with_blocks
def train(
    *,
    index: Annotated[
        Path, typer.Option("--index", help="N-gram index whose tokenizer the model is to use.")
    ],
    corpus: o.Corpus,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="Questions, BEIR queries.jsonl or TSV.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="Which passages answer the questions.")
    ] = None,
    pseudo_queries: Annotated[
        Path | None,
        typer.Option("--pseudo-queries", help='JSONL of {"_id", "queries"}: MINDER\'s third view.'),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="Folder of a seq2seq model (BART, T5, ...), or scratch.")
    ] = "scratch",
    hold_out: Annotated[
        str,
        typer.Option(
            "--hold-out",
            help="Titles to keep out of training, to test with: how many, or a file of ids.",
        ),
    ] = "0",
    out: o.Out = Path("argus-out"),
    learning: Learning,
    mixture: Mixture,
    size: Size,
    seed: o.Seed = 0,
    device: o.Device = None,
    columns: blocks.Columns,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Train a model to write n-grams, titles and pseudo-queries of the passages that answer.

    Learns from judged questions where there are some, and from titles and passages themselves.
    Writes OUT/model, a model of transformers, with what was held out, losses.parquet, summary.json
    and manifest.json. A run that was stopped goes on where it was.
    """
    from argus.generative.training.job import (
        GenerativeTrainConfig,
        train_generative,
    )
    from argus.generative.training.job import learning as learnt

    chosen = GenerativeTrainConfig(
        model=model, size=size.config(), examples=mixture.config(seed),
        training=learnt(model, **learning.given(seed)),
        hold_out=int(hold_out) if hold_out.isdecimal() else Path(hold_out),
    )  # fmt: skip
    result = train_generative(
        corpus, index=index, config=chosen, out=out, queries=questions, qrels=qrels,
        pseudo_queries=pseudo_queries, fields=columns.names(), limit=limit, device=device,
        fresh=fresh,
    )  # fmt: skip
    if json:
        o.print_json(result.summary)
        return
    print_trained(result)


def print_trained(result: GenerativeTrainResult) -> None:
    """Print what was learnt, what it took, and where the model is."""
    summary = result.summary
    counts = summary["examples"]
    typer.echo(
        f"{counts['train']:,} examples an epoch, {counts['validation']:,} to validate with; "
        f"{counts['questions']:,} questions, {counts['held_out']:,} titles held out"
    )
    for line in training_lines(summary, "step"):
        typer.echo(line)
    if summary["out_of_time"]:
        typer.echo("give more --minutes, and it goes on")
    if summary["halved"]:
        typer.echo(f"out of memory {summary['halved']} times: {summary['batch']} examples at once")
    typer.echo(f"model: {result.model} ({summary['weights'] / 1e6:.1f} million weights)")
