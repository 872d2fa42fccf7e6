"""Vectors of documents that were made before, by what was embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argus.data.types import FloatArray


@dataclass(frozen=True)
class HeldVectors:
    """Vectors that an `EmbeddingStore` answers from, without having them on the disk.

    vectors: (n, dim). rows: of each key the row. failures: of each key that has no vector, why.
    """

    vectors: FloatArray
    rows: Mapping[bytes, int]
    failures: Mapping[bytes, str]

    @classmethod
    def of(
        cls, keys: Sequence[bytes], vectors: FloatArray, broken: Mapping[int, str]
    ) -> HeldVectors:
        """Hold a vector under each key; broken: position to why it has none."""
        failures = {keys[position]: why for position, why in broken.items()}
        rows: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in failures:
                rows.setdefault(key, row)
        return cls(vectors, rows, failures)
