"""The settings of a training: by default those of SPIKE §C.2.2."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from argus.errors import InputError

_WHOLE = ("rank", "batch_size", "accumulation", "epochs", "patience")
_ABOVE_0 = ("alpha", "learning_rate", "max_grad_norm")
_SHARES = ("dropout", "warmup_ratio")
_PACE = frozenset({"gradient_checkpointing", "checkpoint_every_s"})


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How an adapter is trained.

    rank, alpha, dropout: of LoRA, on all linear layers but the output. learning_rate: the highest,
    reached after `warmup_ratio` of all steps and then falling to 0, both linearly (the paper names
    a linear warm-up and no ratio). batch_size, accumulation: examples per pass, passes per step.
    epochs: at most; training stops after `patience` evaluations in a row, one per epoch, without a
    lower loss. max_grad_norm: gradients are scaled to it (the usual 1; the paper names none).
    gradient_checkpointing: less memory for about a third more time. checkpoint_every_s: so much is
    lost at most when a run is killed.
    """

    rank: int = 32
    alpha: float = 64
    dropout: float = 0.1
    learning_rate: float = 2e-5
    weight_decay: float = 0.1
    warmup_ratio: float = 0.1
    batch_size: int = 4
    accumulation: int = 2
    epochs: int = 10
    patience: int = 4
    max_grad_norm: float = 1.0
    seed: int = 0
    gradient_checkpointing: bool = False
    checkpoint_every_s: float = 300.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name in _WHOLE:
                good, expected = isinstance(value, int) and value >= 1, "a whole number from 1"
            elif name in _ABOVE_0:
                good, expected = math.isfinite(value) and value > 0, "a finite number above 0"
            elif name in _SHARES:
                good, expected = 0 <= value < 1, "a number from 0, below 1"
            else:
                good, expected = math.isfinite(value) and value >= 0, "a finite number from 0"
            if not good:
                raise InputError(
                    f"{value!r}", expected=expected, fix="Leave it out for the default.", where=name
                )

    def described(self) -> dict[str, Any]:
        """Return the settings that change the outcome."""
        return {name: value for name, value in asdict(self).items() if name not in _PACE}

    def rate(self, step: int, steps: int) -> float:
        """Return the learning rate of a step, counted from 0, of so many."""
        warmup = math.ceil(self.warmup_ratio * steps)
        if step < warmup:
            return self.learning_rate * (step + 1) / warmup
        return self.learning_rate * (steps - step) / (steps - warmup)
