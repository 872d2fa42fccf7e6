"""FAISS: an index in a file, with a file of ids beside it (https://faiss.ai)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.errors import ArgusError, InputError
from argus.stores.errors import no_folder, reported
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts

IDS = ".ids"
"""Ending of the file of ids, one a line, in the order of the index; else rows are ids."""


class FaissStore:
    """An index. Ids of an IDMap are its own; else lines of a file, or row numbers.

    Vectors of a compressed index (PQ, SQ) come back as it has them, which is not as they were.
    """

    can_search_exactly = False

    def __init__(self, index: Any, name: str, ids: Sequence[str] | None, path: Path | None) -> None:
        import faiss

        self._index, self.name, self._path = index, name, path
        inner: Any = faiss.downcast_index(index)
        self._map = hasattr(inner, "id_map")
        if self._map:
            own = faiss.vector_to_array(inner.id_map)
            self._ids, self._vectors = [str(i) for i in own], faiss.downcast_index(inner.index)
        else:
            self._ids = list(ids) if ids is not None else [str(i) for i in range(index.ntotal)]
            self._vectors = inner
        if len(self._ids) != index.ntotal:
            raise InputError(
                f"{len(self._ids):,} ids of {index.ntotal:,} vectors",
                expected="an id on each line of the file of ids",
                fix="Write the file anew, in the order of the index.",
                where=name,
            )
        self._rows = {id_: row for row, id_ in enumerate(self._ids)}

    def describe(self) -> StoreFacts:
        """Return what is known of it now."""
        import faiss

        kind = type(self._vectors).__name__.removeprefix("Index")
        dot = self._index.metric_type == faiss.METRIC_INNER_PRODUCT
        return StoreFacts(
            records=int(self._index.ntotal),
            dim=int(self._index.d),
            metric=Metric.DOT if dot else Metric.L2,
            vector_field="",
            vector_fields=("",),
            index="exact" if kind.startswith("Flat") else kind,
            is_exact=kind.startswith("Flat"),
        )

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all vectors, in the order of the index."""
        if hasattr(self._vectors, "make_direct_map"):
            self._vectors.make_direct_map()
        for start in range(0, len(self._ids), size):
            n = min(size, len(self._ids) - start)
            with reported(self.name):
                vectors = np.asarray(self._vectors.reconstruct_n(start, n), np.float32)
            yield Records(self._ids[start : start + n], vectors, [{}] * n)

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each vector; L2 distances have their sign turned."""
        if matching:
            raise InputError(
                "a filter", expected="none: FAISS holds no fields", fix="Leave --where out.",
                where=self.name,
            )  # fmt: skip
        with reported(self.name):
            scores, rows = self._index.search(np.ascontiguousarray(vectors, np.float32), k)
        sign = 1 if self.describe().metric is Metric.DOT else -1
        return [
            [
                (self._id(row), sign * float(score))
                for row, score in zip(r, s, strict=True)
                if row >= 0
            ]
            for r, s in zip(rows.tolist(), scores.tolist(), strict=True)
        ]

    def upsert(self, records: Records) -> None:
        """Add vectors under their ids, in the place of what is there; the file is written."""
        import faiss

        if not self._map or not all(id_.isdecimal() for id_ in records.ids):
            raise self._fixed()
        known = [id_ for id_ in records.ids if id_ in self._rows]
        if known:
            self.delete(known)
        ids = np.array([int(id_) for id_ in records.ids], np.int64)
        with reported(self.name):
            self._index.add_with_ids(np.ascontiguousarray(records.vectors, np.float32), ids)
        self._ids += list(records.ids)
        self._written(faiss)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; the file is written."""
        import faiss

        if not self._map:
            raise self._fixed()
        gone = np.array([int(id_) for id_ in ids if id_ in self._rows], np.int64)
        with reported(self.name):
            self._index.remove_ids(gone)
        inner: Any = faiss.downcast_index(self._index)
        self._ids = [str(i) for i in faiss.vector_to_array(inner.id_map)]
        self._written(faiss)

    def close(self) -> None:
        """Let go of the index."""
        del self._index, self._vectors

    def _id(self, row: int) -> str:
        return str(row) if self._map else self._ids[row]

    def _written(self, faiss: Any) -> None:
        self._rows = {id_: row for row, id_ in enumerate(self._ids)}
        if self._path is not None:
            with reported(self.name):
                faiss.write_index(self._index, str(self._path))

    def _fixed(self) -> ArgusError:
        return ArgusError(
            f"{self.name}: an index without ids of its own is not changed; build it as an IDMap2."
        )


def open_faiss(place: str, id_file: str | None) -> FaissStore:
    """Open an index file. id_file: ids, one a line; default: PLACE.ids, where there is one."""
    import faiss

    path, name = Path(place), f"faiss:{place}"
    if not path.is_file():
        raise no_folder(place, "faiss.write_index")
    listed = Path(id_file) if id_file else path.with_name(path.name + IDS)
    if id_file and not listed.is_file():
        raise no_folder(id_file, "you: ids, one a line")
    ids = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else None
    with reported(name):
        index = faiss.read_index(place)
    return FaissStore(index, name, ids, path)
