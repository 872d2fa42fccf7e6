"""The exact kernel on a torch device: products and counts there, near-ties in float64 here."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph
from argus.retrievability.pairs import CHECKED_ROWS, PairRanks, related_pairs, resolve_ties


class TorchCounter:
    """Same contract and, to the bit, the same counts as the CPU's.

    Per query the neutrals' similarities are sorted on the device; a related entity's count is then
    a bisection. Neutrals within the rounding bound come back to the CPU and are compared in
    float64, in the order of summation that the CPU path uses.
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
        """All vectors, for exact ranks; sent block by block, since they may be a large file."""
        whole = torch.empty(self.vectors.shape, dtype=torch.float32, device=self.device)
        for start in range(0, len(self.vectors), CHECKED_ROWS):
            rows = slice(start, start + CHECKED_ROWS)
            whole[rows] = self._sent(self.vectors[rows])
        return whole

    def _sent(self, rows: FloatArray) -> torch.Tensor:
        writeable = rows if rows.flags.writeable else rows.copy()  # torch warns of others
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
        excluded_rows = np.concatenate([rows, np.arange(len(chunk))])
        entities = np.concatenate([out.entity, np.arange(chunk.start, chunk.stop)])
        excluded = np.minimum(np.searchsorted(ids, entities), len(ids) - 1)
        excluded[ids[excluded] != entities] = -1
        inside = excluded >= 0
        similarity[
            torch.from_numpy(excluded_rows[inside]).to(self.device),
            torch.from_numpy(excluded[inside]).to(self.device),
        ] = -torch.inf
        out.pool[:] = (len(ids) - np.bincount(excluded_rows[inside], minlength=len(chunk)))[rows]
        ordered, order = similarity.sort(dim=1)
        low, high = self._bounds(ordered, rows, exact)
        out.above[:] = len(ids) - high
        tied = np.flatnonzero(high > low)
        for i in tied:  # few: candidates within rounding of x
            near = ids[order[rows[i], int(low[i]) : int(high[i])].cpu().numpy()]
            out.above[i] += resolve_ties(
                self.vectors, out.related[i], out.entity[i], near, exact[i]
            )
        return out

    def _bounds(
        self, ordered: torch.Tensor, rows: np.ndarray, exact: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return, per pair, the range of sorted positions that rounding leaves undecided."""
        bound = self.bound
        low, high = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        starts = np.searchsorted(rows, np.arange(len(ordered) + 1))
        for row in range(len(ordered)):
            part = slice(starts[row], starts[row + 1])
            values = torch.from_numpy(exact[part]).to(self.device, torch.float32)
            low[part] = torch.searchsorted(ordered[row], values - bound).cpu().numpy()
            high[part] = torch.searchsorted(ordered[row], values + bound, right=True).cpu().numpy()
        return low, high
