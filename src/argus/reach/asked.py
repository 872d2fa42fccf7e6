"""Records that were asked for by their own vectors, and what their lists held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from argus.data.types import FloatArray
from argus.stores.protocol import Hits, Records

NAN, ZERO = "a value that is no number", "all zeros"


@dataclass
class AskedRecords:
    """Records with their vectors and the ids that came back."""

    ids: list[str] = field(default_factory=list)
    vectors: list[FloatArray] = field(default_factory=list)
    hits: list[list[str]] = field(default_factory=list)

    def add(self, id_: str, vector: FloatArray, hits: Hits) -> None:
        """Keep one record; the vector is copied, since it is a row of what was read."""
        self.ids.append(id_)
        self.vectors.append(np.array(vector, np.float32))
        self.hits.append([hit for hit, _ in hits])

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def matrix(self) -> FloatArray:
        """The vectors, (n, dim)."""
        return np.stack(self.vectors)


def whole_rows(records: Records) -> tuple[list[int], dict[int, str]]:
    """Return the rows whose vectors can be searched by, and why others cannot."""
    broken = dict(records.broken)
    odd = np.flatnonzero(~np.isfinite(records.vectors).all(axis=1))
    zero = np.flatnonzero(~records.vectors.any(axis=1))
    for rows, why in ((odd, NAN), (zero, ZERO)):
        broken |= {row: why for row in rows.tolist() if row not in broken}
    return [row for row in range(len(records.ids)) if row not in broken], broken


def blocks(rows: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Yield rows, `size` at a time."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
