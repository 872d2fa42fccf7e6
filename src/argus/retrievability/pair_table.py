"""The pairs that an audit ranked, read back from its folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.reading import WRITTEN
from argus.data.tables import read_table
from argus.errors import InputError, Location
from argus.retrievability.pairs import PairRanks

FILE = "pair_ranks.parquet"
FITS: dict[str, Callable[[pa.DataType], bool]] = {
    "entity": pa.types.is_dictionary,
    "related": pa.types.is_dictionary,
    "similarity": pa.types.is_floating,
    "above": pa.types.is_integer,
    "pool": pa.types.is_integer,
}
"""Columns that are read, and their contents."""
COLUMNS = tuple(FITS)


def read_pairs(path: Path, ids: Sequence[str]) -> PairRanks:
    """Return the pairs whose entity is among `ids`. Positions are in `ids`.

    related: -1 for a query that is not among them. Raises InputError for ranks outside of their
    pools, and for a column that is not as an audit writes it.
    """
    table = read_table(path, COLUMNS).combine_chunks()
    for name in COLUMNS:
        _check(path, name, table[name])
    positions = {id_: position for position, id_ in enumerate(ids)}
    entity, related = (_positions(table[name], positions) for name in ("entity", "related"))
    rows = entity >= 0
    similarity, above, pool = (table[name].to_numpy() for name in ("similarity", "above", "pool"))
    wrong = np.flatnonzero((above < 0) | (above > pool))
    if len(wrong):
        row = int(wrong[0])
        raise _damaged(path, "above", f"{above[row]} above, of a pool of {pool[row]}", row + 1)
    return PairRanks(entity[rows], related[rows], similarity[rows], above[rows], pool[rows])


def _check(path: Path, name: str, column: pa.ChunkedArray) -> None:
    if not FITS[name](column.type) or column.null_count:
        empty = f", {column.null_count:,} of it empty" if column.null_count else ""
        raise _damaged(path, name, f"{column.type}{empty}")


def _damaged(path: Path, name: str, what: str, row: int | None = None) -> InputError:
    return InputError(
        what,
        expected="the ranks that argus research audit wrote",
        fix=WRITTEN,
        where=Location(path, row, name),
    )


def _positions(column: pa.ChunkedArray, positions: dict[str, int]) -> npt.NDArray[np.int32]:
    if not column.num_chunks:
        return np.zeros(0, np.int32)
    names = column.chunk(0)
    owners = np.array([positions.get(n, -1) for n in names.dictionary.to_pylist()], np.int32)
    return np.asarray(owners[names.indices.to_numpy()])
