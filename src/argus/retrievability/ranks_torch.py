"""The exact kernel on a torch device: products, counts, and near-ties in float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import torch

from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph
from argus.retrievability.kernels import dots
from argus.retrievability.pairs import CHECKED_ROWS, WORKING_BYTES, PairRanks, related_pairs

FINER = 2.0**-26  # bound of a float64 sum by that of a float32 one: its unit is 2^-29 of it


def torch_counter(
    vectors: FloatArray, graph: RelationGraph, device: str, bound: float
) -> Callable[[range, np.ndarray | None], PairRanks]:
    """Return a counter with the contract and, to the bit, the counts of the CPU's.

    A related entity is compared with all neutrals of its query at once, on the device. Neutrals
    within `bound`, that of float32, are compared again in float64 there. Those that this leaves
    undecided come back to the CPU, whose order of summation decides.
    """
    place = torch.device(device)
    # TF32 would round to 10 bits: far outside the rounding bound.
    torch.backends.cuda.matmul.allow_tf32 = False

    def send(values: np.ndarray) -> torch.Tensor:
        writeable = values if values.flags.writeable else values.copy()  # torch warns of others
        return torch.from_numpy(writeable).to(place)

    @cache
    def send_all() -> torch.Tensor:
        """Send all vectors block by block, since they may be a large file."""
        whole = torch.empty(vectors.shape, dtype=torch.float32, device=place)
        for start in range(0, len(vectors), CHECKED_ROWS):
            rows = slice(start, start + CHECKED_ROWS)
            whole[rows] = send(vectors[rows])
        return whole

    def count(chunk: range, candidates: np.ndarray | None) -> PairRanks:
        rows, exact, out = related_pairs(vectors, graph, chunk)
        if candidates is None:
            ids, columns = np.arange(len(vectors), dtype=np.int32), send_all()
            queries = columns[chunk.start : chunk.stop]
        else:  # of a reservoir's vectors alone, so that those of all need not fit
            ids, columns = candidates, send(vectors[candidates])
            queries = send(vectors[chunk.start : chunk.stop])
        similarity = queries @ columns.T  # (block, columns)
        excluded_rows = np.concatenate([rows, np.arange(len(chunk))])
        entities = np.concatenate([out.entity, np.arange(chunk.start, chunk.stop)])
        excluded = np.minimum(np.searchsorted(ids, entities), len(ids) - 1)
        inside = ids[excluded] == entities
        similarity[send(excluded_rows[inside]), send(excluded[inside])] = -torch.inf
        left_out = np.bincount(excluded_rows[inside], minlength=len(chunk))
        out.pool[:] = (len(ids) - left_out)[rows]
        step = max(1, WORKING_BYTES // (4 * similarity.shape[1]))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            asking, level = send(rows[part]), send(exact[part].astype(np.float32))[:, None]
            values = similarity[asking]
            above = (values > level + bound).sum(dim=1)
            near = (values >= level - bound) & (values <= level + bound)
            of, column = near.nonzero(as_tuple=True)
            if len(of) and place.type != "mps":  # which has no float64
                difference = _compare(queries, asking[of], columns, column) - send(exact[part])[of]
                undecided = difference.abs() <= bound * FINER
                surely = of[(difference > 0) & ~undecided]
                above.index_add_(0, surely, torch.ones_like(surely))
                of, column = of[undecided], column[undecided]
            pair, rival = of.cpu().numpy(), ids[column.cpu().numpy()]
            tied, target = exact[part][pair], out.entity[part][pair]
            own = np.empty(len(pair), np.float64)
            dots(vectors, out.related[part][pair], rival, own)
            wins = pair[(own > tied) | ((own == tied) & (rival < target))]
            out.above[part] = above.cpu().numpy() + np.bincount(wins, minlength=len(above))
        return out

    return count


def _compare(
    queries: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, places: torch.Tensor
) -> torch.Tensor:
    """Return the products in float64 of some queries with some columns, shape (n,)."""
    products = torch.empty(len(rows), dtype=torch.float64, device=queries.device)
    step = max(1, WORKING_BYTES // (16 * queries.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        left, right = queries[rows[part]].double(), columns[places[part]].double()
        products[part] = (left * right).sum(dim=1)
    return products
