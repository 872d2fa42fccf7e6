"""What every training says of itself in summary.json, and in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from argus.training.checkpoint import Losses


class TrainingFigures(Losses):
    """What a training took.

    dtype: type of the numbers that were computed with.
    device: device that it ran on.
    stopped: why it ended.
    seconds: seconds of training, without validating.
    tokens_per_s: tokens per second, of training alone.
    peak_memory_bytes: peak memory of the process, in bytes.
    device_memory_bytes: peak memory of the device, in bytes; None on the CPU.
    """

    dtype: str
    device: str
    steps: int
    stopped: str
    seconds: float
    tokens_per_s: float | None
    peak_memory_bytes: int
    device_memory_bytes: int | None


def training_lines(summary: TrainingFigures, count: Literal["epoch", "step"]) -> Iterator[str]:
    """Yield the evaluations, the pace and the memory.

    count: by what evaluations are told apart; 0 is before training.
    """
    for evaluation in summary["evaluations"]:
        name = f"epoch {evaluation['epoch']:g}" if evaluation[count] else "before training"
        best = " (best, kept)" if evaluation[count] == summary["best"][count] else ""
        yield f"evaluation loss, {name}: {evaluation['loss']:.4f}{best}"
    rate = summary["tokens_per_s"]
    memory = f"{summary['peak_memory_bytes'] / 2**30:.2f} GiB"
    if summary["device_memory_bytes"] is not None:
        memory += f", {summary['device_memory_bytes'] / 2**30:.2f} GiB on {summary['device']}"
    yield (
        f"stopped after {summary['stopped']}, {summary['steps']:,} steps; "
        f"{'?' if rate is None else f'{rate:,.0f}'} tokens per second in {summary['dtype']} on "
        f"{summary['device']}; peak memory {memory}"
    )
