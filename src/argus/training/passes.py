"""What a step takes: examples in an order that the seed decides, in passes that fit memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from argus.devices import is_out_of_memory
from argus.errors import ArgusError
from argus.progress import announce
from argus.training.checkpoint import Progress

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


def in_passes(
    one_pass: Callable[[Sequence[E]], float],
    examples: Sequence[E],
    size: int,
    state: Progress,
    restart: Callable[[], None],
) -> float:
    """Return the sum of `one_pass` over the examples, at most `size` of them at once.

    A pass that does not fit into memory makes all later passes half as large: `restart` undoes
    what passes did so far, and they are repeated. Raises ArgusError when one example is too many.
    """
    while True:
        used = min(size, state.passes or size)
        try:
            return sum(one_pass(part) for part in chunks(examples, used))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if used == 1:
                raise _too_little(error) from error
        state.passes, state.halved = min(used, len(examples)) // 2 or 1, state.halved + 1
        announce(f"out of memory: {state.passes} examples at once instead of {used}")
        restart()  # outside of the handler, which keeps what the failed pass had allocated
        _give_back()


def _give_back() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _too_little(error: BaseException) -> ArgusError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return ArgusError(
        f"not enough memory for a single example ({lines[0][:160]}). Use a smaller model, shorter "
        "examples, or a machine with more memory; what was reached is kept."
    )
