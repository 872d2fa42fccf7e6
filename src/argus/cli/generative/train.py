"""`argus generative train`: a model that writes n-grams of the passages that answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.generative.training.config import GenerativeTrainConfig
from argus.generative.training.config import learning as learning_of
from argus.generative.training.settings import LearningConfig
from argus.settings import Doc, Ge, Option

_PANEL = "Training"


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

    def config(self, model: str, seed: int) -> LearningConfig:
        """Return how a model of this name learns."""
        return learning_of(
            model, max_minutes=self.minutes, epochs=self.epochs, patience=self.patience,
            evaluate_every=self.evaluate_every, batch_size=self.batch,
            accumulation=self.accumulation, learning_rate=self.learning_rate,
            label_smoothing=self.label_smoothing, dtype=self.dtype, seed=seed,
        )  # fmt: skip


@example(
    "argus generative train --index ngrams/ --corpus docs.jsonl --d-model 32 --layers 1 "
    "--epochs 1 --out trained/"
)
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
    out: o.Out = Path("argus-out"),
    what: Annotated[GenerativeTrainConfig, Without("training")],
    learning: Learning,
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
    from argus.generative.training.job import train_generative

    whole = replace(what, training=learning.config(what.model, what.examples.seed))
    result = train_generative(
        corpus, index=index, config=whole, out=out, queries=questions, qrels=qrels,
        pseudo_queries=pseudo_queries, fields=columns, limit=limit, device=device,
        fresh=fresh,
    )  # fmt: skip
    search = o.command("generative", "search", index, "--model", result.model, "--query", "WORDS")
    o.show(result, as_json=json, then=f"Next: {search}")
