"""What seed, epoch and step alone decide: the order of examples, and the dropout of a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

E = TypeVar("E")


def epoch_order(n: int, seed: int, epoch: int) -> list[int]:
    """Return the order in which `n` examples come in an epoch."""
    return [int(i) for i in np.random.default_rng([seed, epoch]).permutation(n)]


def step_seed(seed: int, step: int) -> int:
    """Return the seed of a step's dropout: steps need nothing of those before them."""
    return int(np.random.SeedSequence([seed, step]).generate_state(1)[0])


def chunks(examples: Sequence[E], size: int) -> Iterator[Sequence[E]]:
    """Yield the examples in groups of at most `size`."""
    for start in range(0, len(examples), size):
        yield examples[start : start + size]
