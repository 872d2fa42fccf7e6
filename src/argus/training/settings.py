"""The settings of a training loop, whatever is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from argus.errors import InputError

Check = tuple[Callable[[Any], bool], str]
"""What a setting, of whatever type it is, must be: a test, and in words."""

WHOLE: Check = (lambda v: isinstance(v, int) and v >= 1, "a whole number from 1")
ABOVE_0: Check = (lambda v: math.isfinite(v) and v > 0, "a finite number above 0")
FROM_0: Check = (lambda v: math.isfinite(v) and v >= 0, "a finite number from 0")
SHARE: Check = (lambda v: 0 <= v < 1, "a number from 0, below 1")


def optional(check: Check) -> Check:
    """Return the check of a setting that may be None."""
    return lambda v: v is None or check[0](v), check[1]


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """How weights are learnt with AdamW.

    learning_rate: the highest, reached after `warmup_ratio` of all steps and then falling to 0,
    both linearly. batch_size, accumulation: examples per pass, passes per step. epochs: at most.
    evaluate_every: steps between evaluations, besides those that end an epoch. Training stops after
    `patience` evaluations in a row without a lower loss. max_minutes: time for steps and
    evaluations together, all runs of a training counted; where it is too little for all epochs, the
    rate falls to 0 by its end, so that steps depend on the clock. max_grad_norm: gradients are
    scaled to it. checkpoint_every_s: so much is lost at most when a run is killed.
    """

    learning_rate: float = 2e-5
    weight_decay: float = 0.1
    warmup_ratio: float = 0.1
    batch_size: int = 4
    accumulation: int = 2
    epochs: int = 10
    patience: int = 4
    evaluate_every: int | None = None
    max_minutes: float | None = None
    max_grad_norm: float = 1.0
    seed: int = 0
    checkpoint_every_s: float = 300.0

    CHECKS: ClassVar[Mapping[str, Check]] = MappingProxyType(
        dict.fromkeys(("batch_size", "accumulation", "epochs", "patience"), WHOLE)
        | {"evaluate_every": optional(WHOLE), "max_minutes": optional(ABOVE_0)}
        | {"learning_rate": ABOVE_0, "max_grad_norm": ABOVE_0, "warmup_ratio": SHARE}
    )
    """What settings must be; those not named, finite numbers from 0."""
    PACE: ClassVar[frozenset[str]] = frozenset({"max_minutes", "checkpoint_every_s"})
    """Settings that decide how far and how safely a training goes, not what it is."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            good, expected = self.CHECKS.get(name, FROM_0)
            if not good(value):
                raise InputError(
                    f"{value!r}", expected=expected, fix="Leave it out for the default.", where=name
                )

    @property
    def max_seconds(self) -> float:
        """The time budget; infinite where there is none."""
        return math.inf if self.max_minutes is None else 60 * self.max_minutes

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome, by name: every training has its own."""
        settings = asdict(self).items()
        return {
            name: value for name, value in settings if name not in self.PACE and value is not None
        }

    def rate(self, step: int, steps: int, spent: float = 0.0) -> float:
        """Return the learning rate of a step, counted from 0, of so many.

        spent: share of the time budget that is used up; where more of it is gone than of the
        steps, the next included, it says how far the training is.
        """
        warmup = math.ceil(self.warmup_ratio * steps)
        place = min(max(step, spent * steps - 1), steps)
        if place < warmup:
            return self.learning_rate * (place + 1) / warmup
        return self.learning_rate * (steps - place) / max(1, steps - warmup)
