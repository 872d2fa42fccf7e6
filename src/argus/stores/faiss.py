"""Read, search and write a FAISS index file, with a file of ids beside it (https://faiss.ai).

`faiss:FILE.index` of --store and --corpus. It implements `argus.stores.protocol` without fields
beside vectors, so it has no texts, filters, or records of remedies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.documents import listed
from argus.data.reading import read_lines, reading
from argus.data.types import FloatArray
from argus.errors import ArgusError, InputError
from argus.stores.client import no_folder
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import StoreConfig, StoreSpec, reported

IDS = ".ids"  # ending of the file of ids, one a line, in the order of the index


class FaissStore:
    """An index. Ids are those of an IDMap. Else lines of a file, or rows.

    Vectors of a compressed index (PQ, SQ) come back compressed.
    """

    can_search_exactly = False

    def __init__(self, index: Any, name: str, ids: Sequence[str] | None, path: Path | None) -> None:
        import faiss

        self._index, self.name, self._path = index, name, path
        inner: Any = faiss.downcast_index(index)
        self._map = inner if hasattr(inner, "id_map") else None
        self._vectors: Any = faiss.downcast_index(inner.index) if self._map else inner
        self._has_ids = self._map is not None
        if ids is not None and len(ids) != index.ntotal:
            got, expected = f"{len(ids):,} ids of {index.ntotal:,} vectors", "an id on each line"
            fix = "Write the file of ids anew, in the order of the index."
            raise InputError(got, expected=expected, fix=fix, where=name)
        if ids is not None and self._has_ids:
            expected, fix = "none: the index holds ids of its own", "Take the file away."
            raise InputError("a file of ids", expected=expected, fix=fix, where=name)
        self._listed = ids

    def describe(self) -> StoreFacts:
        """Return its facts as they are now."""
        import faiss

        kind = type(self._vectors).__name__.removeprefix("Index")
        is_dot = self._index.metric_type == faiss.METRIC_INNER_PRODUCT
        metric, is_exact = Metric.DOT if is_dot else Metric.L2, kind.startswith("Flat")
        n, dim, index = self._index.ntotal, self._index.d, "exact" if is_exact else kind
        return StoreFacts(int(n), int(dim), metric, "", index, is_exact)

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all vectors, in the order of the index or of its lists."""
        import faiss

        ivf: Any = faiss.try_extract_index_ivf(self._vectors)
        ivf = ivf and faiss.downcast_index(ivf)
        expected = "an index that can reconstruct them: Flat, HNSW, IVF, PQ or SQ"
        fix = "Build it so; with ids of its own as an IDMap2."
        got = f"{type(self._vectors).__name__} does not hand out its vectors"
        numbers = self._numbers()
        for start in range(0, len(numbers), size):
            named = numbers[start : start + size]
            with reading(self.name, got, expected=expected, fix=fix):
                if isinstance(ivf, faiss.IndexIVFFastScan):  # it would end the process
                    raise RuntimeError("lists of FastScan are not decoded one by one")
                if ivf is not None:
                    ivf.make_direct_map()
                vectors = np.asarray(self._vectors.reconstruct_n(start, len(named)), np.float32)
                if ivf is not None:  # else nothing could be removed
                    ivf.set_direct_map_type(0)  # DirectMap.NoMap
            yield Records(self._ids(named.tolist()), vectors, [{}] * len(named))

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each vector. L2 distances have their sign turned."""
        if matching:
            expected, fix = "none: FAISS holds no fields", "Leave --where out."
            raise InputError("a filter", expected=expected, fix=fix, where=self.name)
        with reported(self.name):
            scores, rows = self._index.search(np.ascontiguousarray(vectors, np.float32), k)
        signed = scores if self.describe().metric is Metric.DOT else -scores
        hits = rows >= 0  # a list of fewer than k ends with -1
        return [
            list(zip(self._ids(row[hit].tolist()), score[hit].tolist(), strict=True))
            for row, score, hit in zip(rows, signed, hits, strict=True)
        ]

    def upsert(self, records: Records) -> None:
        """Add vectors under their ids, replacing those already there. Writes the file."""
        if not self._has_ids or not all(id_.isdecimal() for id_ in records.ids):
            raise self._fixed()
        ids = np.array([int(id_) for id_ in records.ids], np.int64)
        with reported(self.name):
            if np.isin(ids, self._numbers()).any():  # not every index can remove
                self._index.remove_ids(ids)
            self._index.add_with_ids(np.ascontiguousarray(records.vectors, np.float32), ids)
        self._write()

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors. The file is written."""
        if not self._has_ids:
            raise self._fixed()
        gone = np.array([int(id_) for id_ in listed(ids) if id_.lstrip("-").isdecimal()], np.int64)
        with reported(self.name):
            self._index.remove_ids(gone)
        self._write()

    def close(self) -> None:
        """Let go of the index."""
        del self._index, self._vectors, self._map

    def _ids(self, numbers: list[int]) -> list[str]:
        """Return the ids of search results, or row numbers without own ids."""
        listed = None if self._has_ids else self._listed
        return list(map(str if listed is None else listed.__getitem__, numbers))

    def _numbers(self) -> Any:
        """Return the number of each vector, as a search brings them."""
        import faiss

        if self._map is None:
            return np.arange(self._index.ntotal)
        return faiss.vector_to_array(self._map.id_map)

    def _write(self) -> None:
        import faiss

        if self._path is not None:
            with reported(self.name):
                faiss.write_index(self._index, str(self._path))

    def _fixed(self) -> ArgusError:
        return ArgusError(
            f"{self.name}: only an index with ids of its own is changed, by whole numbers; build "
            "it as an IDMap2."
        )


def open_faiss(
    spec: StoreSpec, config: StoreConfig, key: str | None, hidden: Sequence[str]
) -> FaissStore:
    """Open an index file. Ids stand in `config.id_file`, else in PLACE.ids, if there is one."""
    import faiss

    path = Path(spec.place)
    if not path.is_file():
        raise no_folder(spec.place, "faiss.write_index")
    id_file = Path(config.id_file) if config.id_file else path.with_name(path.name + IDS)
    if config.id_file and not id_file.is_file():
        raise no_folder(config.id_file, "you: ids, one a line")
    ids = [line.rstrip("\r\n") for _, line in read_lines(id_file)] if id_file.is_file() else None
    return FaissStore(faiss.read_index(spec.place), str(spec), ids, path)
