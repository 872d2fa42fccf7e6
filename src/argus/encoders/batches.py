"""Texts of like length in batches of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

ALIKE = 0.8
"""A text this much shorter than the longest begins the next batch."""


@dataclass(frozen=True)
class BatchSizes:
    """How much is read at once.

    tokens: padded ones, at most. texts: at most. enough: a batch of fewer tokens takes shorter
    texts, too, since it would be slower per token.
    """

    tokens: int
    texts: int
    enough: int


ON_CPU = BatchSizes(tokens=2_048, texts=64, enough=96)
"""Measured: larger ones leave the caches."""
ON_GPU = BatchSizes(tokens=32_768, texts=1_024, enough=8_192)
"""Measured on an H100: `python -m benchmarks accelerator`."""


def sizes_on(device: torch.device) -> BatchSizes:
    """Return the sizes that are fast on a device."""
    return ON_CPU if device.type == "cpu" else ON_GPU


def batches_of(counts: Sequence[int], sizes: BatchSizes = ON_CPU) -> list[list[int]]:
    """Return positions, longest texts first, in batches of bounded size.

    counts: tokens of every text. Texts of one batch are of like length, where there are enough:
    what is padded is computed, too.
    """
    batches: list[list[int]] = []
    width = 0
    for i in sorted(range(len(counts)), key=lambda i: (-counts[i], i)):
        size = len(batches[-1]) if batches else sizes.texts
        is_full = size == sizes.texts or (size + 1) * width > sizes.tokens
        if is_full or (size * width >= sizes.enough and counts[i] < ALIKE * width):
            batches.append([])
            width = counts[i]
        batches[-1].append(i)
    return batches
