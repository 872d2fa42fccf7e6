"""Ranges of rows: where n-grams stand in the suffix arrays of all segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray


@dataclass(frozen=True)
class Rows:
    """The rows of n n-grams of `depth` tokens each; low and high: (segments, n), half open."""

    depth: int
    low: IntArray
    high: IntArray

    def __len__(self) -> int:
        """Return how many n-grams there are."""
        return int(self.low.shape[1])

    @property
    def counts(self) -> IntArray:
        """How often each n-gram occurs; (n,)."""
        return np.asarray((self.high - self.low).sum(axis=0), np.int64)

    def take(self, which: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of some n-grams, in the order asked for; they may come repeatedly."""
        return Rows(self.depth, self.low[:, which], self.high[:, which])
