"""Records that ask for themselves by their own vectors, and what their lists held."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from argus.data.types import FloatArray
from argus.stores.protocol import Hits


@dataclass
class SelfQueries:
    """Records with their vectors and the ids that came back; the id of a plain query is ""."""

    ids: list[str] = field(default_factory=list)
    vectors: list[FloatArray] = field(default_factory=list)
    hits: list[list[str]] = field(default_factory=list)

    def add(self, id_: str, vector: FloatArray, hits: Hits) -> None:
        """Keep one record; the vector is copied, since it is a row of what was read."""
        self.ids.append(id_)
        self.vectors.append(np.array(vector, np.float32))
        self.hits.append([hit for hit, _ in hits])

    def replace(self, row: int, id_: str, vector: FloatArray, hits: Hits) -> None:
        """Put a record in the place of another."""
        self.ids[row], self.vectors[row] = id_, np.array(vector, np.float32)
        self.hits[row] = [hit for hit, _ in hits]

    def extend(self, other: SelfQueries) -> None:
        """Add the records of another list."""
        self.ids += other.ids
        self.vectors += other.vectors
        self.hits += other.hits

    def __len__(self) -> int:
        return len(self.ids)


class Reservoir:
    """So many records of a stream, each with the same chance (Vitter, 1985, algorithm R)."""

    def __init__(self, size: int, seed: int) -> None:
        self.kept = SelfQueries()
        self._size, self._seen = size, 0
        self._rng = np.random.default_rng(seed)

    def offer(self, id_: str, vector: FloatArray, hits: Hits) -> None:
        """Take a record, or not."""
        self._seen += 1
        if len(self.kept) < self._size:
            self.kept.add(id_, vector, hits)
        elif (row := int(self._rng.integers(self._seen))) < self._size:
            self.kept.replace(row, id_, vector, hits)
