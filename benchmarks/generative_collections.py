"""The collections of `generative_quality` with their small models, as other benchmarks ask them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.data.runs import read_qrels
from argus.data.types import Qrels, Query
from argus.generative.decode import Seq2Seq
from argus.generative.index import NgramIndex
from argus.generative.index.build import build_ngrams
from argus.generative.settings import GenerativeTrainConfig, LearningConfig, NgramBuildConfig
from argus.generative.training.job import GenerativeTrainResult, train_generative
from benchmarks.generative_quality import (
    DEMO_MINUTES,
    TOKENIZER,
    TRAINING,
    WIKI2_MINUTES,
    demo_model,
    kept_in,
    texts_index,
    wiki2_model,
)
from benchmarks.shared import collection


@dataclass(frozen=True)
class Judged:
    """A collection with its model. indexes: by what passages hold."""

    steps: int
    model: Seq2Seq
    indexes: dict[str, NgramIndex]
    questions: Sequence[Query]
    qrels: Qrels


def judged_wiki2(size: float) -> Judged:
    """Return wiki2 with and without titles; size: of the minutes of training."""
    home = kept_in("wiki2")
    index, trained, questions = wiki2_model(home, WIKI2_MINUTES * size)
    model = Seq2Seq.open(trained.model, index.vocabulary)
    indexes = {"titles": index, "texts": texts_index(collection("wiki2"), home)}
    qrels = read_qrels(home / "train" / "held_out.tsv")
    return Judged(trained.summary["steps"], model, indexes, questions, qrels)


def judged_demo(size: float) -> Judged:
    """Return the demo, which has titles; size: of the minutes of training."""
    home = kept_in("demo")
    corpus, trained, questions = demo_model(home, DEMO_MINUTES * size)
    index = NgramIndex.open(home / "index" / "ngrams")
    model = Seq2Seq.open(trained.model, index.vocabulary)
    qrels = read_qrels(corpus / "qrels" / "test.tsv")
    return Judged(trained.summary["steps"], model, {"titles": index}, questions, qrels)


def untaught(name: str, minutes: float) -> tuple[NgramIndex, GenerativeTrainResult]:
    """Return the index of a collection, and a model that was trained on its passages alone."""
    home, corpus = kept_in(name), collection(name)
    index = build_ngrams(
        corpus, out=home / "index", config=NgramBuildConfig(tokenizer=TOKENIZER)
    ).index
    training = LearningConfig(max_minutes=TRAINING * minutes)
    trained = train_generative(
        corpus, index=home / "index", out=home / "train",
        config=GenerativeTrainConfig(training=training),
    )  # fmt: skip
    return index, trained
