"""What a training learns: examples, their loss, and how much there is to learn in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    import torch

E = TypeVar("E")


class Examples(Protocol[E]):
    """What is learnt from: as many examples in every epoch, made when they are asked for.

    The same epoch and numbers give the same examples, whatever was asked for before.
    """

    def __len__(self) -> int: ...

    def batch(self, epoch: int, numbers: Sequence[int]) -> list[E]:
        """Return the examples of those numbers (0 to n - 1) in an epoch, counted from 0."""
        ...


@dataclass(frozen=True)
class Fixed(Generic[E]):
    """Examples that are the same in every epoch."""

    examples: Sequence[E]

    def __len__(self) -> int:
        return len(self.examples)

    def batch(self, epoch: int, numbers: Sequence[int]) -> list[E]:
        """Return the examples of those numbers."""
        return [self.examples[i] for i in numbers]


@dataclass(frozen=True)
class Task(Generic[E]):
    """How examples teach.

    summed_loss: (network, examples, device) to the loss summed over all learnt tokens, a scalar
    tensor; where the network is not in training mode, the loss to evaluate by. read, learnt: tokens
    of an example that the network reads, and that it learns.
    """

    summed_loss: Callable[[torch.nn.Module, Sequence[E], str], torch.Tensor]
    read: Callable[[E], int]
    learnt: Callable[[E], int]
