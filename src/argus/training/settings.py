"""Declare the settings of a training (rate, batch, epochs, time), and describe its progress.

`LoopConfig` has the options of every training command and the learning rate of each step.
`training_lines` prints losses, pace and memory. `argus.training.loop` trains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

from argus.settings import Doc, Ge, Gt, Lt, Option, Seed, check_settings

_PANEL = "Training"

WeightDecay = Annotated[float, Ge(0), Doc("Of AdamW."), Option(panel=_PANEL)]
WarmupRatio = Annotated[float, Ge(0), Lt(1), Doc("Share of the steps."), Option(panel=_PANEL)]


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """How weights are learnt with AdamW.

    The learning rate rises over `warmup_ratio` of all steps and then falls to 0, both linearly.
    evaluate_every: steps between evaluations, besides those that end an epoch. `patience` of them
    in a row without a lower loss end a training. max_minutes: time for steps and evaluations
    together, all runs of a training counted. Where it is too little for all epochs, the rate falls
    to 0 by its end, so that steps depend on the clock. max_grad_norm: gradients are scaled to it.
    checkpoint_every_s: so much is lost at most when a run is killed.

    Attributes:
        learning_rate: The highest.
        batch_size: Examples at once.
        accumulation: Batches per step.
        epochs: At most.
        patience: Epochs without a lower evaluation loss that end it.
    """

    learning_rate: Annotated[float, Gt(0), Option(panel=_PANEL)] = 2e-5
    weight_decay: WeightDecay = 0.1
    warmup_ratio: WarmupRatio = 0.1
    batch_size: Annotated[int, Ge(1), Option(("--batch",), panel=_PANEL)] = 4
    accumulation: Annotated[int, Ge(1), Option(("--accumulate",), panel=_PANEL)] = 2
    epochs: Annotated[int, Ge(1), Option(panel=_PANEL)] = 10
    patience: Annotated[int, Ge(1), Option(panel=_PANEL)] = 4
    evaluate_every: Annotated[int | None, Ge(1)] = None
    max_minutes: Annotated[float | None, Gt(0)] = None
    max_grad_norm: Annotated[float, Gt(0)] = 1.0
    seed: Seed = 0
    checkpoint_every_s: Annotated[float, Ge(0)] = 300.0

    PACE: ClassVar[frozenset[str]] = frozenset({"max_minutes", "checkpoint_every_s"})
    """Settings that decide how far and how safely a training goes, not its result."""

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def max_seconds(self) -> float:
        """The time budget. Infinite where there is none."""
        return math.inf if self.max_minutes is None else 60 * self.max_minutes

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome, by name: every training has its own."""
        settings = asdict(self).items()
        return {
            name: value for name, value in settings if name not in self.PACE and value is not None
        }

    def rate(self, step: int, steps: int, spent: float = 0.0) -> float:
        """Return the learning rate of a step, counted from 0, of so many.

        spent: share of the time budget that is used up. Where more of it is gone than of the
        steps, the next included, it says how far the training is.
        """
        warmup = math.ceil(self.warmup_ratio * steps)
        place = min(max(step, spent * steps - 1), steps)
        if place < warmup:
            return self.learning_rate * (place + 1) / warmup
        return self.learning_rate * (steps - place) / max(1, steps - warmup)


def training_lines(summary: Mapping[str, Any], count: Literal["epoch", "step"]) -> Iterator[str]:
    """Yield the evaluations, the pace and the memory.

    count: key of an evaluation. 0 is before training.

    Keys of a summary that every training has:
    evaluations: losses in validation, in their order: epoch (so far, a fraction inside of one),
    step (so far) and loss, in nats.
    best: evaluation whose weights are kept.
    training_loss: of the first and of the last step, in nats.
    dtype: type of the numbers that were computed with.
    device: device that it ran on.
    steps: steps of training.
    stopped: why it ended.
    seconds: seconds of training, without validating.
    tokens_per_s: tokens per second, of training alone. None where none was timed.
    peak_memory_bytes: peak memory of the process, in bytes.
    device_memory_bytes: peak memory of the device, in bytes. None on the CPU.
    """
    for evaluation in summary["evaluations"]:
        name = f"epoch {evaluation['epoch']:g}" if evaluation[count] else "before training"
        best = " (best, kept)" if evaluation[count] == summary["best"][count] else ""
        yield f"evaluation loss, {name}: {evaluation['loss']:.4f}{best}"
    memory = summary["device_memory_bytes"] or summary["peak_memory_bytes"]
    yield (
        f"stopped after {summary['stopped']}, {summary['steps']:,} steps; "
        f"{summary['tokens_per_s'] or 0:,.0f} tokens per second in {summary['dtype']} on "
        f"{summary['device']}; peak memory {memory / 2**30:.2f} GiB"
    )
