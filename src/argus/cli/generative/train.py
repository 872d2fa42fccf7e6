"""`argus generative train`: a model that writes n-grams of the passages that answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.training_lines import training_lines
from argus.data.fields import FieldNames
from argus.settings import Doc, Ge, Option

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
        Doc(
            "Time for training, all runs together; with more of it, a training goes on. "
            "Default 25 from scratch, else none."
        ),
        Option(panel=_PANEL),
    ] = None
    epochs: Annotated[
        int | None,
        Ge(1),
        Doc("At most: 20 from scratch, else 10."),
        Option(panel=_PANEL),
    ] = None
    patience: Annotated[
        int | None,
        Ge(1),
        Doc("Evaluations without a lower loss that end it: 10, else 4."),
        Option(panel=_PANEL),
    ] = None
    evaluate_every: Annotated[
        int | None,
        Ge(1),
        Doc("Steps, besides every epoch: 200 from scratch."),
        Option(panel=_PANEL),
    ] = None
    batch: Annotated[
        int | None,
        Ge(1),
        Doc("Examples at once (64, else 32); halved for want of memory."),
        Option(panel=_PANEL),
    ] = None
    accumulation: Annotated[
        int | None,
        Ge(1),
        Doc("Batches per step: 1."),
        Option(("--accumulate",), panel=_PANEL),
    ] = None
    learning_rate: Annotated[
        float | None,
        Doc("The highest: 1e-3 from scratch, else 3e-5."),
        Option(panel=_PANEL),
    ] = None
    label_smoothing: Annotated[
        float | None,
        Doc("0 from scratch, else 0.1."),
        Option(panel=_PANEL),
    ] = None
    dtype: Annotated[
        str,
        Doc("What is computed in: float32, bfloat16."),
        Option(panel=_PANEL),
    ] = "float32"

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
        Ge(1),
        Doc("Spans per question and passage in an epoch."),
        Option(panel=_EXAMPLES),
    ] = 2
    unsupervised: Annotated[
        int,
        Ge(0),
        Doc("Rounds over all passages in an epoch; 0 for none."),
        Option(panel=_EXAMPLES),
    ] = 1
    title_questions: Annotated[
        bool,
        Doc("Whether titles are questions, too."),
        Option(("--title-questions/--no-title-questions",), panel=_EXAMPLES),
    ] = True
    source_tokens: Annotated[
        int,
        Ge(8),
        Doc("Longer sources are cut."),
        Option(panel=_EXAMPLES),
    ] = 64

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
        Ge(16),
        Doc("Its width, a multiple of 16."),
        Option(panel=_SIZE),
    ] = 256
    layers: Annotated[
        int,
        Ge(1),
        Doc("Of encoder and decoder each."),
        Option(panel=_SIZE),
    ] = 2
    dropout: Annotated[float, Doc("In training."), Option(panel=_SIZE)] = 0.1

    def config(self) -> ScratchSize:
        """Return the size."""
        from argus.generative.training.scratch import ScratchSize

        return ScratchSize(d_model=self.d_model, layers=self.layers, dropout=self.dropout)


@with_blocks
def train(
    *,
    index: Annotated[Path, Doc("N-gram index whose tokenizer the model is to use.")],
    corpus: o.Corpus,
    questions: Annotated[Path | None, Doc("Questions, BEIR queries.jsonl or TSV.")] = None,
    qrels: Annotated[Path | None, Doc("Which passages answer the questions.")] = None,
    pseudo_queries: Annotated[
        Path | None,
        Doc('JSONL of {"_id", "queries"}: MINDER\'s third view.'),
    ] = None,
    model: Annotated[
        str, Doc("Folder of a seq2seq model (BART, T5, ...), or scratch.")
    ] = "scratch",
    hold_out: Annotated[
        str,
        Doc("Titles to keep out of training, to test with: how many, or a file of ids."),
    ] = "0",
    out: o.Out = Path("argus-out"),
    learning: Learning,
    mixture: Mixture,
    size: Size,
    seed: o.Seed = 0,
    device: o.Device = None,
    columns: FieldNames,
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
        pseudo_queries=pseudo_queries, fields=columns, limit=limit, device=device,
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
