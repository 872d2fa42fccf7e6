"""Settings of the examples and of learning from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.errors import InputError
from argus.settings import Choices, Doc, Ge, Gt, Le, Lt, Option, Seed, check_settings
from argus.training.settings import LoopConfig, WarmupRatio, WeightDecay

_EXAMPLES = "Examples"
_TRAINING = Option(panel="Training")


@dataclass(frozen=True, kw_only=True)
class ExampleConfig:
    """Settings of the examples of an epoch. Each epoch draws new spans.

    span_words: words of a span that is learnt (10 in SEAL). unsupervised: spans of the passages
    themselves are sources. plain_share: of sources for spans, those without markers: spans are
    searched for with them and scored without. copied: share of unsupervised spans that are drawn by
    similarity to their source, which teaches to find the source's words again. The rest is drawn
    evenly, which teaches the passage. least_words, most_words: of a span that is a source.
    validation_share, validation_most: titles and questions that are validated with, and at most how
    many of either.
    """

    span_words: Annotated[int, Ge(1)] = 10
    bodies: Annotated[
        int, Ge(1), Doc("Spans per question and passage in an epoch."), Option(panel=_EXAMPLES)
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
    plain_share: Annotated[float, Ge(0), Le(1)] = 0.5
    copied: Annotated[float, Ge(0), Le(1)] = 0.5
    least_words: Annotated[int, Ge(1)] = 4
    most_words: int = 14
    source_tokens: Annotated[
        int, Ge(8), Doc("Longer sources are cut."), Option(panel=_EXAMPLES)
    ] = 64
    target_tokens: Annotated[int, Ge(1)] = 64
    validation_share: Annotated[float, Gt(0), Lt(1)] = 0.02
    validation_most: Annotated[int, Ge(1)] = 100
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if self.most_words < self.least_words:
            raise InputError(
                f"{self.most_words!r}",
                expected="at least least_words",
                fix="Leave it out for the default.",
                where="most_words",
            )


@dataclass(frozen=True, kw_only=True)
class LearningConfig(LoopConfig):
    """Settings of learning. See `LoopConfig`. Defaults are for a model that has been pretrained.

    label_smoothing: share of probability spread over the vocabulary (0.1 when BART is fine-tuned).
    None if the loss is evaluated. dtype: of computations, "float32" or "bfloat16". Weights
    stay in float32.
    """

    learning_rate: Annotated[
        float, Gt(0), Doc("The highest: 1e-3 from scratch, else 3e-5."), _TRAINING
    ] = 3e-5
    weight_decay: WeightDecay = 0.01
    warmup_ratio: WarmupRatio = 0.05
    batch_size: Annotated[
        int,
        Ge(1),
        Doc("Examples at once (64, else 32); halved for want of memory."),
        Option(("--batch",), panel="Training"),
    ] = 32
    accumulation: Annotated[
        int, Ge(1), Doc("Batches per step: 1."), Option(("--accumulate",), panel="Training")
    ] = 1
    epochs: Annotated[int, Ge(1), Doc("At most: 20 from scratch, else 10."), _TRAINING] = 10
    patience: Annotated[
        int, Ge(1), Doc("Evaluations without a lower loss that end it: 10, else 4."), _TRAINING
    ] = 4
    evaluate_every: Annotated[
        int | None, Ge(1), Doc("Steps, besides every epoch: 200 from scratch."), _TRAINING
    ] = None
    max_minutes: Annotated[
        float | None,
        Gt(0),
        Doc(
            "Time for training, all runs together; with more of it, a training goes on. "
            "Default 25 from scratch, else none."
        ),
        Option(("--minutes",), panel="Training"),
    ] = None
    label_smoothing: Annotated[float, Ge(0), Lt(1), Doc("0 from scratch, else 0.1."), _TRAINING] = (
        0.1
    )
    dtype: Annotated[
        str,
        Choices(("float32", "bfloat16")),
        Doc("What is computed in: float32, bfloat16."),
        _TRAINING,
    ] = "float32"
