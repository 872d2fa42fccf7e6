"""Ranks of related pairs: the table, and how near-ties are resolved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph

Arrays = dict[str, np.ndarray]
"""Columns of a table by name."""
CHECKED_ROWS = 1 << 16  # checked at a time: vectors may be a file larger than the memory


@dataclass(frozen=True)
class PairRanks:
    """One row per measured pair, ordered by (related, entity). All arrays have shape (n_pairs,)."""

    entity: np.ndarray
    """x, the target. Int32 position."""
    related: np.ndarray
    """t, the query. Int32 position."""
    similarity: np.ndarray
    """cos(e_t, e_x), or how else the encoder compares t's row with x's. float32."""
    above: np.ndarray
    """r: neutrals (or members of the reservoir) that rank above x. int32."""
    pool: np.ndarray
    """M: neutrals of t (in the reservoir, if there is one). int32."""

    def __len__(self) -> int:
        return len(self.entity)

    def of_targets(self, targets: npt.NDArray[np.bool_]) -> PairRanks:
        """Return the pairs whose x is a target. targets: bool, by position."""
        rows = targets[self.entity]
        return PairRanks(*(getattr(self, f.name)[rows] for f in fields(PairRanks)))

    @staticmethod
    def joined(parts: Iterable[tuple[slice, Arrays]], n_pairs: int) -> PairRanks:
        """Put parts, each with its place, into arrays made for all: never two copies at once."""
        whole = {
            f.name: np.empty(n_pairs, np.float32 if f.name == "similarity" else np.int32)
            for f in fields(PairRanks)
        }
        for place, arrays in parts:
            for name, values in arrays.items():
                whole[name][place] = values
        return PairRanks(**whole)

    @staticmethod
    def concatenate(parts: list[PairRanks]) -> PairRanks:
        """Join parts in order."""
        names = [f.name for f in fields(PairRanks)]
        if not parts:
            return PairRanks(
                *(np.zeros(0, np.float32 if n == "similarity" else np.int32) for n in names)
            )
        return PairRanks(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))


def pairs_in(graph: RelationGraph, chunk: range) -> tuple[np.ndarray, PairRanks]:
    """Return the chunk's pairs: row in the chunk, and similarity and ranks to fill in."""
    first, last = graph.indptr[chunk.start], graph.indptr[chunk.stop]
    rows = np.repeat(np.arange(len(chunk)), graph.degree[chunk.start : chunk.stop])
    entity = graph.indices[first:last].astype(np.int32)
    related = (rows + chunk.start).astype(np.int32)
    above, pool = (np.empty(len(rows), np.int32) for _ in range(2))
    return rows, PairRanks(entity, related, np.empty(len(rows), np.float32), above, pool)


def related_pairs(
    vectors: FloatArray, graph: RelationGraph, chunk: range
) -> tuple[np.ndarray, np.ndarray, PairRanks]:
    """Return the chunk's pairs: row in the chunk, exact similarity, and ranks to fill in."""
    from argus.retrievability.rank_kernels import dots

    rows, pairs = pairs_in(graph, chunk)
    exact = np.empty(len(rows), np.float64)
    dots(vectors, pairs.related, pairs.entity, exact)
    pairs.similarity[:] = exact
    return rows, exact, pairs


def resolve_ties(
    vectors: FloatArray, pairs: PairRanks, exact: np.ndarray, of: np.ndarray, near: np.ndarray
) -> np.ndarray:
    """Return, per pair, how many of the candidates near it rank above it.

    They are compared in float64, ties by position. exact: similarities of the pairs, float64.
    of, near: pair and position of each candidate.
    """
    from argus.retrievability.rank_kernels import dots

    similarity = np.empty(len(near), np.float64)
    dots(vectors, pairs.related[of], near.astype(np.int32), similarity)
    first = near < pairs.entity[of]
    above = (similarity > exact[of]) | ((similarity == exact[of]) & first)
    return np.asarray(np.bincount(of[above], minlength=len(pairs)))
