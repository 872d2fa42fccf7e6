"""Settings of the model and its training data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.generative.folders import SCRATCH
from argus.generative.training.settings import ExampleConfig, LearningConfig
from argus.settings import Doc, Ge, Lt, Option, check_settings

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
    """

    d_model: Annotated[
        int, Ge(_MULTIPLE), Doc("Its width, a multiple of 16."), Option(panel=_SIZE)
    ] = 256
    layers: Annotated[int, Ge(1), Doc("Of encoder and decoder each."), Option(panel=_SIZE)] = 2
    positions: Annotated[int, Ge(16)] = 256
    dropout: Annotated[float, Ge(0), Lt(1), Doc("In training."), Option(panel=_SIZE)] = 0.1

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
    """

    model: Annotated[str, Doc("Folder of a seq2seq model (BART, T5, ...), or scratch.")] = SCRATCH
    size: ScratchSize = field(default_factory=ScratchSize)
    examples: ExampleConfig = field(default_factory=ExampleConfig)
    training: LearningConfig | None = None
    hold_out: Annotated[
        int | Path,
        Doc("Titles to keep out of training, to test with: how many, or a file of ids."),
    ] = 0

    @classmethod
    def from_options(cls, *, hold_out: str, **options: Any) -> GenerativeTrainConfig:
        """Return the config. hold_out: a number, or else a file."""
        titles = int(hold_out) if hold_out.isdecimal() else Path(hold_out)
        return cls(hold_out=titles, **options)

    @property
    def learning(self) -> LearningConfig:
        """Settings of learning."""
        return self.training or learning(self.model)
