"""Ranks of related pairs (x, t), their table on disk, and how near-ties are resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.reading import WRITTEN
from argus.data.tables import read_table
from argus.data.types import FloatArray
from argus.errors import InputError, Location
from argus.knowledge.relations import RelationGraph

WORKING_BYTES = 384 << 20  # memory for the products of all workers
CHECKED_ROWS = 1 << 16  # checked at a time: vectors may be a file larger than the memory
FILE = "pair_ranks.parquet"
_NAMES = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("entity", _NAMES), ("related", _NAMES), ("similarity", pa.float32()),
        ("above", pa.int32()), ("pool", pa.int32()),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class PairRanks:
    """One row per measured pair, ordered by (related, entity). All arrays have shape (n_pairs,).

    entity: x, the target, an int32 position. related: t, the query, an int32 position.
    similarity: cos(e_t, e_x), or how else the encoder compares t's row with x's, float32.
    above: r, neutrals (or members of the reservoir) that rank above x, int32.
    pool: M, neutrals of t (in the reservoir, if there is one), int32.
    """

    entity: np.ndarray
    related: np.ndarray
    similarity: np.ndarray
    above: np.ndarray
    pool: np.ndarray

    def __len__(self) -> int:
        return len(self.entity)

    def of_targets(self, targets: npt.NDArray[np.bool_]) -> PairRanks:
        """Return the pairs whose x is a target. targets: bool, by position."""
        rows = targets[self.entity]
        return PairRanks(**{name: values[rows] for name, values in vars(self).items()})

    @staticmethod
    def concatenate(parts: Sequence[PairRanks]) -> PairRanks:
        """Join parts in order, at least one."""
        names = vars(parts[0])
        return PairRanks(**{name: np.concatenate([vars(p)[name] for p in parts]) for name in names})

    def table(self, ids: Sequence[str]) -> pa.Table:
        """Return one row per pair. Every RPS is computed from these.

        entity: id of the entity that is to be retrieved.
        related: id of the one that asks.
        similarity: cosine of the two.
        above: unrelated entities that are more similar to the one that asks.
        pool: unrelated entities, all of them.
        """
        names, columns = pa.array(ids, pa.string()), dict(vars(self))
        for end in ("entity", "related"):
            columns[end] = pa.DictionaryArray.from_arrays(pa.array(columns[end]), names)
        return pa.table(columns, schema=SCHEMA)


def read_pairs(path: Path, ids: Sequence[str]) -> PairRanks:
    """Return the pairs of an audit whose entity is among `ids`. Positions are in `ids`.

    related: -1 for a query that is not among them. Raises InputError for ranks outside of their
    pools, and for a column that is not as an audit writes it.
    """

    def damaged(column: str, got: str, row: int | None = None) -> InputError:
        expected, where = "the ranks that argus research audit wrote", Location(path, row, column)
        return InputError(got, expected=expected, fix=WRITTEN, where=where)

    table = read_table(path, SCHEMA.names).combine_chunks()
    for field in SCHEMA:
        column = table[field.name]
        if column.type != field.type or column.null_count:
            empty = f", {column.null_count:,} of it empty" if column.null_count else ""
            raise damaged(field.name, f"{column.type}{empty}")
    above, pool = table["above"].to_numpy(), table["pool"].to_numpy()
    if len(wrong := np.flatnonzero((above < 0) | (above > pool))):
        row = int(wrong[0])
        raise damaged("above", f"{above[row]} above, of a pool of {pool[row]}", row + 1)
    positions = {id_: position for position, id_ in enumerate(ids)}
    columns = {"similarity": table["similarity"].to_numpy(), "above": above, "pool": pool}
    for end in ("entity", "related"):
        names = pa.concat_arrays(table[end].chunks or [pa.array([], _NAMES)])
        of = np.array([positions.get(n, -1) for n in names.dictionary.to_pylist()], np.int32)
        columns[end] = of[names.indices.to_numpy()]
    rows = columns["entity"] >= 0
    return PairRanks(**{name: values[rows] for name, values in columns.items()})


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
    from argus.retrievability.kernels import dots

    rows, pairs = pairs_in(graph, chunk)
    exact = np.empty(len(rows), np.float64)
    dots(vectors, pairs.related, pairs.entity, exact)
    pairs.similarity[:] = exact
    return rows, exact, pairs
