"""Settings of training a model to write n-grams, and of learning to rank by them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.generative.folders import SCRATCH
from argus.generative.settings import NgramSearchConfig
from argus.settings import Choices, Ge, Gt, Le, Lt, Option, Seed, check_settings
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

    Attributes:
        bodies: Spans per question and passage in an epoch.
        unsupervised: Rounds over all passages in an epoch; 0 for none.
        title_questions: Whether titles are questions, too.
        source_tokens: Longer sources are cut.
    """

    span_words: Annotated[int, Ge(1)] = 10
    bodies: Annotated[int, Ge(1), Option(panel=_EXAMPLES)] = 2
    unsupervised: Annotated[int, Ge(0), Option(panel=_EXAMPLES)] = 1
    title_questions: Annotated[
        bool, Option(("--title-questions/--no-title-questions",), panel=_EXAMPLES)
    ] = True
    plain_share: Annotated[float, Ge(0), Le(1)] = 0.5
    copied: Annotated[float, Ge(0), Le(1)] = 0.5
    least_words: Annotated[int, Ge(1)] = 4
    most_words: int = 14
    source_tokens: Annotated[int, Ge(8), Option(panel=_EXAMPLES)] = 64
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

    Attributes:
        learning_rate: The highest: 1e-3 from scratch, else 3e-5.
        batch_size: Examples at once (64, else 32); halved for want of memory.
        accumulation: Batches per step: 1.
        epochs: At most: 20 from scratch, else 10.
        patience: Evaluations without a lower loss that end it: 10, else 4.
        evaluate_every: Steps, besides every epoch: 200 from scratch.
        max_minutes: Time for training, all runs together; with more of it, a training goes on.
            Default 25 from scratch, else none.
        label_smoothing: 0 from scratch, else 0.1.
        dtype: What is computed in: float32, bfloat16.
    """

    learning_rate: Annotated[float, Gt(0), _TRAINING] = 3e-5
    weight_decay: WeightDecay = 0.01
    warmup_ratio: WarmupRatio = 0.05
    batch_size: Annotated[int, Ge(1), Option(("--batch",), panel="Training")] = 32
    accumulation: Annotated[int, Ge(1), Option(("--accumulate",), panel="Training")] = 1
    epochs: Annotated[int, Ge(1), _TRAINING] = 10
    patience: Annotated[int, Ge(1), _TRAINING] = 4
    evaluate_every: Annotated[int | None, Ge(1), _TRAINING] = None
    max_minutes: Annotated[float | None, Gt(0), Option(("--minutes",), panel="Training")] = None
    label_smoothing: Annotated[float, Ge(0), Lt(1), _TRAINING] = 0.1
    dtype: Annotated[str, Choices(("float32", "bfloat16")), _TRAINING] = "float32"


_SIZE = "Model from scratch"
_MULTIPLE = 16
SCRATCH_LEARNING = LearningConfig(
    learning_rate=1e-3, batch_size=64, label_smoothing=0.0, epochs=20, patience=10,
    evaluate_every=200, max_minutes=25.0,
)  # fmt: skip
"""Default settings for a model from scratch: measured on two cores."""


def learning(model: str, **options: Any) -> LearningConfig:  # the fields of LearningConfig
    """Return how a model learns: options that are not None, else the defaults for its kind."""
    defaults = SCRATCH_LEARNING if model == SCRATCH else LearningConfig()
    return replace(defaults, **{k: v for k, v in options.items() if v is not None})


@dataclass(frozen=True, kw_only=True)
class ScratchSize:
    """Size of a network.

    positions: tokens of an encoder input at most. The decoder writes no more either.

    Attributes:
        d_model: Its width, a multiple of 16.
        layers: Of encoder and decoder each.
        dropout: In training.
    """

    d_model: Annotated[int, Ge(_MULTIPLE), Option(panel=_SIZE)] = 256
    layers: Annotated[int, Ge(1), Option(panel=_SIZE)] = 2
    positions: Annotated[int, Ge(16)] = 256
    dropout: Annotated[float, Ge(0), Lt(1), Option(panel=_SIZE)] = 0.1

    def __post_init__(self) -> None:
        check_settings(self)
        if self.d_model % _MULTIPLE:
            raise InputError(
                f"{self.d_model!r}",
                expected=f"a multiple of {_MULTIPLE}",
                fix="Leave it out for the default.",
                where="--d-model",
            )


@dataclass(frozen=True, kw_only=True)
class GenerativeTrainConfig:
    """Settings of the model and its training data.

    training: how it learns. None for the defaults of the model's kind. hold_out: how many titles
    are kept out of training, or a file with the ids of their documents, one a line.

    Attributes:
        model: Folder of a seq2seq model (BART, T5, ...), or scratch.
        hold_out: Titles to keep out of training, to test with: how many, or a file of ids.
    """

    model: str = SCRATCH
    size: ScratchSize = field(default_factory=ScratchSize)
    examples: ExampleConfig = field(default_factory=ExampleConfig)
    training: LearningConfig | None = None
    hold_out: int | Path = 0

    @classmethod
    def from_options(cls, *, hold_out: str, **options: Any) -> GenerativeTrainConfig:
        """Return the config. hold_out: a number, or else a file."""
        titles = int(hold_out) if hold_out.isdecimal() else Path(hold_out)
        return cls(hold_out=titles, **options)

    @property
    def learning(self) -> LearningConfig:
        """Settings of learning."""
        return self.training or learning(self.model)


_PANEL = "Ranking"
_VALIDATION_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class GenerativeTuneConfig:
    """Settings of learning to rank. The defaults are LTRGR's, but for those of the training loop.

    search: model and settings of the search. Its k and formats are not used.
    rank_weight: 1 / lambda of the paper, whose lambda of 1,000 weighs the loss of writing.

    Attributes:
        passages: Of a question's list: those that rank first as yet.
        keys: Of a passage, the weightiest: its score here.
        margin: By which a right passage is to lead a wrong one.
        rank_weight: Of the margins, beside the loss of writing.
    """

    search: NgramSearchConfig = field(default_factory=NgramSearchConfig)
    passages: Annotated[int, Ge(2), Option(panel=_PANEL)] = 200
    keys: Annotated[int, Ge(1), Option(panel=_PANEL)] = 40
    margin: Annotated[float, Ge(0), Option(panel=_PANEL)] = 500.0
    rank_weight: Annotated[float, Ge(0), Option(panel=_PANEL)] = 0.001
    training: LoopConfig = field(default_factory=LoopConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.search.decoding.rescore:
            raise InputError(
                "a search without rescoring",
                expected="scores that are sums of weights by equation 2, of keys scored again",
                fix="Leave rescore as it is.",
                where="search",
            )

    @property
    def examples(self) -> ExampleConfig:
        """Texts written for questions meanwhile: spans, titles and queries of right passages."""
        return ExampleConfig(
            unsupervised=0, title_questions=False, validation_share=_VALIDATION_SHARE,
            seed=self.training.seed,
        )  # fmt: skip
