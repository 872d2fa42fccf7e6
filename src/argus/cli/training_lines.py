"""What both trainings print: evaluations, pace and memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def training_lines(summary: Mapping[str, Any], count: str) -> Iterator[str]:
    """Yield the lines of a training's summary.

    count: by what evaluations are told apart, "epoch" or "step"; 0 is before training.
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
