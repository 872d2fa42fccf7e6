"""The pairs that an audit ranked, read back from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.parquet import read_table
from argus.retrievability.pairs import PairRanks

FILE = "pair_ranks.parquet"


def read_pairs(path: Path, ids: Sequence[str]) -> PairRanks:
    """Return the pairs whose entity is among `ids`; positions are in `ids`.

    related: -1 for a query that is not among them.
    """
    table = read_table(path).combine_chunks()
    positions = {id_: position for position, id_ in enumerate(ids)}
    entity, related = (_positions(table[name], positions) for name in ("entity", "related"))
    rows = entity >= 0
    similarity, above, pool = (
        table[name].to_numpy()[rows] for name in ("similarity", "above", "pool")
    )
    return PairRanks(entity[rows], related[rows], similarity, above, pool)


def _positions(column: pa.ChunkedArray, positions: dict[str, int]) -> npt.NDArray[np.int32]:
    if not column.num_chunks:
        return np.zeros(0, np.int32)
    names = column.chunk(0)
    owners = np.array([positions.get(n, -1) for n in names.dictionary.to_pylist()], np.int32)
    return np.asarray(owners[names.indices.to_numpy()])
