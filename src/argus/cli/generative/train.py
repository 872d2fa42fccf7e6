"""`argus generative train`: a model that writes n-grams of the passages that answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.generative.training.config import GenerativeTrainConfig
from argus.generative.training.config import learning as learning_of
from argus.generative.training.settings import LearningConfig
from argus.settings import Doc, Setting, settings_of

PseudoQueries = Annotated[Path | None, Doc('JSONL of {"_id", "queries"}: MINDER\'s third view.')]


class Learning:
    """Options of the training; what is left out has the default of the model's kind."""

    NAMES = (
        "max_minutes", "epochs", "patience", "evaluate_every", "batch_size", "accumulation",
        "learning_rate", "label_smoothing", "dtype",
    )  # fmt: skip

    def __init__(self, **options: Any) -> None:
        self.options = options

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return settings of LearningConfig, unset unless given where kinds of models differ."""
        settings = {s.name: s for s in settings_of(LearningConfig)}
        unset = (replace(settings[name], default=None, optional=True) for name in cls.NAMES[:-1])
        return *unset, settings["dtype"]

    def config(self, model: str, seed: int) -> LearningConfig:
        """Return how a model of this name learns."""
        return learning_of(model, seed=seed, **self.options)


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
    pseudo_queries: PseudoQueries = None,
    out: o.Out = Path("argus-out"),
    what: Annotated[GenerativeTrainConfig, Without("training")],
    learning: Learning,
    device: o.Device = None,
    columns: Annotated[FieldNames, Without("template")],
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
