"""The exact kernel on a torch device: products, counts, and near-ties in float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph
from argus.retrievability.limits import WORKING_BYTES
from argus.retrievability.pairs import CHECKED_ROWS, PairRanks, related_pairs, resolve_ties

FINER = 2.0**-26
"""Bound of a float64 sum by that of a float32 one: its unit is 2^-29 of it, in any order."""


class TorchCounter:
    """Same contract and, to the bit, the same counts as the CPU's.

    A related entity is compared with all neutrals of its query at once, on the device. Neutrals
    within the rounding bound of float32 are compared again in float64 there. Those that this
    leaves undecided come back to the CPU, whose order of summation decides.
    """

    def __init__(
        self, vectors: FloatArray, graph: RelationGraph, device: str, bound: float
    ) -> None:
        self.vectors, self.graph, self.bound = vectors, graph, bound
        self.device = torch.device(device)
        # TF32 would round to 10 bits: far outside the rounding bound.
        torch.backends.cuda.matmul.allow_tf32 = False

    @cached_property
    def on_device(self) -> torch.Tensor:
        """All vectors, for exact ranks. Sent block by block, since they may be a large file."""
        whole = torch.empty(self.vectors.shape, dtype=torch.float32, device=self.device)
        for start in range(0, len(self.vectors), CHECKED_ROWS):
            rows = slice(start, start + CHECKED_ROWS)
            whole[rows] = self._sent(self.vectors[rows])
        return whole

    def _sent(self, values: np.ndarray) -> torch.Tensor:
        writeable = values if values.flags.writeable else values.copy()  # torch warns of others
        return torch.from_numpy(writeable).to(self.device)

    def count(self, chunk: range, candidates: np.ndarray | None) -> PairRanks:
        """Rank the related entities of the queries in `chunk` among `candidates` (None: all)."""
        rows, exact, out = related_pairs(self.vectors, self.graph, chunk)
        if candidates is None:
            ids, columns = np.arange(len(self.vectors), dtype=np.int32), self.on_device
            queries = columns[chunk.start : chunk.stop]
        else:  # of a reservoir's vectors alone, so that those of all need not fit
            ids, columns = candidates, self._sent(self.vectors[candidates])
            queries = self._sent(self.vectors[chunk.start : chunk.stop])
        similarity = queries @ columns.T  # (block, columns)
        out.pool[:] = self._leave_out(similarity, ids, chunk, rows, out.entity)
        block = _Block(queries, columns, similarity, self.bound)
        above, of, near = self._above(block, rows, exact)
        out.above[:] = above + resolve_ties(self.vectors, out, exact, of, ids[near])
        return out

    def _leave_out(
        self,
        similarity: torch.Tensor,
        ids: np.ndarray,
        chunk: range,
        rows: np.ndarray,
        related: np.ndarray,
    ) -> np.ndarray:
        """Rank the queries and their related entities below all. Return the neutrals per pair."""
        excluded_rows = np.concatenate([rows, np.arange(len(chunk))])
        entities = np.concatenate([related, np.arange(chunk.start, chunk.stop)])
        excluded = np.minimum(np.searchsorted(ids, entities), len(ids) - 1)
        excluded[ids[excluded] != entities] = -1
        inside = excluded >= 0
        places = self._sent(excluded_rows[inside]), self._sent(excluded[inside])
        similarity[places] = -torch.inf
        neutrals = len(ids) - np.bincount(excluded_rows[inside], minlength=len(chunk))
        return np.asarray(neutrals[rows])

    def _above(
        self, block: _Block, rows: np.ndarray, exact: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the counts of `_Block.above`, for pairs of any number."""
        counts, pairs, columns = [], [], []
        most = max(1, WORKING_BYTES // (4 * block.similarity.shape[1]))
        for start in range(0, len(rows), most):
            part = slice(start, start + most)
            queries, level = self._sent(rows[part]), self._sent(exact[part].astype(np.float32))
            above, of, near = block.above(queries, level)
            if len(of) and self.device.type != "mps":  # which has no float64
                surely, undecided = block.compared(queries[of], near, self._sent(exact[part])[of])
                above.index_add_(0, of[surely], torch.ones_like(of[surely]))
                of, near = of[undecided], near[undecided]
            counts.append(above.cpu().numpy())
            pairs.append(of.cpu().numpy() + start)
            columns.append(near.cpu().numpy())
        none = np.zeros(0, np.int64)
        return (
            np.concatenate([none, *counts]),
            np.concatenate([none, *pairs]),
            np.concatenate([none, *columns]),
        )


@dataclass(frozen=True)
class _Block:
    """Queries, the columns to compare, and the similarities of all: (queries, columns)."""

    queries: torch.Tensor
    columns: torch.Tensor
    similarity: torch.Tensor
    bound: float
    """How far two similarities in float32 may be from their exact difference."""

    def above(
        self, rows: torch.Tensor, level: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return how many columns are above each level, and pair and column of those near it.

        rows: query of each pair. level: similarity of its related entity, float32.
        """
        values, level = self.similarity[rows], level[:, None]
        above = (values > level + self.bound).sum(dim=1)
        near = (values >= level - self.bound) & (values <= level + self.bound)
        of, column = near.nonzero(as_tuple=True)
        return above, of, column

    def compared(
        self, rows: torch.Tensor, columns: torch.Tensor, exact: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return which columns are above a level for sure in float64, and which may be equal."""
        difference = -exact
        most = max(1, WORKING_BYTES // (16 * self.queries.shape[1]))
        for start in range(0, len(rows), most):
            part = slice(start, start + most)
            left, right = self.queries[rows[part]], self.columns[columns[part]]
            difference[part] += (left.double() * right.double()).sum(dim=1)
        undecided = difference.abs() <= self.bound * FINER
        return (difference > 0) & ~undecided, undecided
