"""One state of an index in memory: exact search over documents, whatever views they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from argus.data.documents import is_count, listed
from argus.data.types import FloatArray, IntArray, View
from argus.encoders.scoring import reach_of
from argus.errors import InputError
from argus.indexes.blend import SENTENCE, Blend
from argus.indexes.fold import (
    RELEVANCE_WEIGHT,
    SCENARIO,
    Folded,
    Layout,
    Mixed,
    TopDocuments,
    check_weight,
    fold,
    target_ranks,
    top_documents,
)
from argus.indexes.table import first_of

if TYPE_CHECKING:
    from argus.indexes.pruned import SideLayout

T = TypeVar("T")
UNIT = 1e-5
"""How far from 1 the length of a query may be for bounds that hold for unit rows."""
BLOCK_BYTES = 128 << 20
"""Scores held at a time. Each block is folded, so about twice this is used beyond the vectors."""


class Snapshot:
    """Views ordered by (document id, view id) and their vectors, one contiguous array.

    columns: an Arrow table of `id, doc_id, kind, text, source, remedy, added` in that order of
    rows (added: number of the commit; 0 for views that lie in memory alone);
    vectors: (n_views, dim) float32, unit rows unless the encoder ranks by dot product. hubness:
    (n_documents,), r(d) of a blend. Nothing here changes after it was made.
    """

    def __init__(
        self,
        columns: Any,
        vectors: FloatArray,
        blend: Blend | None = None,
        hubness: FloatArray | None = None,
    ) -> None:
        self.columns, self.vectors = columns, vectors
        self.doc_ids, self.starts = _documents(columns["doc_id"])
        self.blend, self.hubness = blend, hubness

    def blended(self, blend: Blend | None) -> Snapshot:
        """Return the same documents and views under another blend, or under none."""
        if not self.layout().plain:
            _ = self._side_layout  # made once, for all copies
        other = copy(self)
        other.blend = blend
        return other

    @classmethod
    def of(cls, views: Sequence[View], vectors: FloatArray) -> Snapshot:
        """Make a snapshot of views that lie in memory, in any order; vectors as `views`."""
        import pyarrow as pa

        order = sorted(range(len(views)), key=lambda i: (views[i].doc_id, views[i].id))
        names = ("id", "doc_id", "kind", "text", "source")
        columns = {
            name: pa.array([getattr(views[i], name) for i in order], pa.string()) for name in names
        }
        columns["remedy"] = pa.array([""] * len(views), pa.string())
        columns["added"] = pa.array([0] * len(views), pa.int64())
        return cls(pa.table(columns), np.ascontiguousarray(vectors[order], np.float32))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.doc_ids)

    def __contains__(self, doc_id: object) -> bool:
        """Return whether a document is here."""
        return doc_id in self._position

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def views(self) -> list[View]:
        """All views, in row order."""
        return list(rows_to_views(self.columns))

    @cached_property
    def scenario_rows(self) -> npt.NDArray[np.bool_] | None:
        """Which views are scenarios, shape (n_views,); None where none is."""
        return self._rows_of_kind(SCENARIO)

    @cached_property
    def sentence_rows(self) -> npt.NDArray[np.bool_] | None:
        """Which views are sentences, shape (n_views,); None where none is."""
        return self._rows_of_kind(SENTENCE)

    def _rows_of_kind(self, kind: str) -> npt.NDArray[np.bool_] | None:
        import pyarrow.compute as pc

        rows: npt.NDArray[np.bool_] = pc.equal(self.columns["kind"], kind).to_numpy(
            zero_copy_only=False
        )
        return rows if rows.any() else None

    @cached_property
    def reach(self) -> float:
        """Length of the longest vector; 1 for unit rows."""
        return reach_of(self.vectors)

    @cached_property
    def _side_layout(self) -> SideLayout | None:
        from argus.indexes.pruned import SideLayout

        return SideLayout.of(self.vectors, self.layout())

    @cached_property
    def _position(self) -> dict[str, int]:
        return {doc_id: i for i, doc_id in enumerate(self.doc_ids)}

    def positions(self, doc_ids: Iterable[str]) -> IntArray:
        """Return the position of each document in `doc_ids`; InputError names unknown ones."""
        ids = listed(doc_ids)
        unknown = sorted({d for d in ids if d not in self._position})
        if unknown:
            raise unknown_documents(unknown)
        return np.array([self._position[d] for d in ids], np.int64)

    def rows_of(self, doc_id: str) -> range:
        """Return the rows of one document's views."""
        position = self._position.get(doc_id)
        if position is None:
            raise unknown_documents([doc_id])
        return range(int(self.starts[position]), int(self.starts[position + 1]))

    def layout(self, weight: float = RELEVANCE_WEIGHT) -> Layout:
        """Return which views are whose, and λ; InputError unless that is from 0 to 1."""
        return Layout(
            self.starts, self.scenario_rows, check_weight(weight), self.reach, self._mixed()
        )

    def _mixed(self) -> Mixed:
        """Return the blend over these documents. Sentences without one weigh nothing."""
        blend = self.blend or Blend(weight=1, hubs=0)
        penalty = None
        if blend.hubs and self.hubness is not None:
            penalty = np.float32(blend.hubs) * self.hubness
        return Mixed(blend.weight, self.sentence_rows, penalty)

    def best_scenario(self, query: FloatArray, doc_id: str) -> str:
        """Return the id of a document's scenario nearest to a query, "" where it has none.

        query: (dim,). Equal ones tie by id. InputError for a document that is not here.
        """
        if self.scenario_rows is None:
            return ""
        own = self.rows_of(doc_id)
        rows = own.start + np.flatnonzero(self.scenario_rows[own.start : own.stop])
        if not len(rows):
            return ""
        best = np.argmax(self.vectors[rows].astype(float) @ query.astype(float))
        return str(self.columns["id"][int(rows[best])])

    def search(self, queries: FloatArray, k: int, weight: float = RELEVANCE_WEIGHT) -> TopDocuments:
        """Return the k best documents of each query; see `argus.indexes.fold` for their scores.

        queries: (n_queries, dim), unit rows. weight: λ, which matters where there are scenarios.
        Ties break by document id; k is cut to the number of documents. Raises InputError for
        queries of another dimension or that are not finite, and for a λ that is not from 0 to 1.
        """
        queries = check_queries(queries, self.dim)
        check_k(k)
        layout = self.layout(weight)
        if not len(self):
            none: list[list[Any]] = [[] for _ in queries]
            return TopDocuments(none, none, none)
        result = TopDocuments([], [], [])
        for top in self._tops(queries, k, layout):
            self._append(result, top)
        return result

    @property
    def _matches(self) -> bool:
        """Whether results tell the scenario that matched."""
        return self.scenario_rows is not None

    def _append(self, result: TopDocuments, top: Folded) -> None:
        """Put the best documents of further queries behind those of the queries before."""
        first = np.flatnonzero(np.diff(top.query, prepend=-1)).tolist()
        spans = [slice(*ends) for ends in pairwise([*first, len(top.query)])]

        def append(lists: list[list[T]], values: list[T]) -> None:
            lists.extend(values[span] for span in spans)

        ids = self.columns["id"]
        append(result.doc_ids, [self.doc_ids[i] for i in top.document.tolist()])
        append(result.scores, top.score.tolist())
        append(result.view_ids, ids.take(top.view).to_pylist())
        if self._matches:
            matched = ids.take(np.maximum(top.scenario, 0)).to_pylist()
            none = top.scenario < 0
            append(result.scenario_ids, np.where(none, "", matched).tolist())

    def _tops(self, queries: FloatArray, k: int, layout: Layout) -> Iterator[Folded]:
        """Yield the best documents of each block of queries."""
        views = self._bounded(queries, layout)
        for _, block in self._query_blocks(queries):
            if views is not None:
                from argus.indexes.pruned import top_documents_pruned

                yield top_documents_pruned(block, self.vectors, layout, views, k)
            else:
                scores = block @ self.vectors.T
                yield top_documents(block, self.vectors, scores, layout, k)

    def _bounded(self, queries: FloatArray, layout: Layout) -> SideLayout | None:
        """Return what bounds the scores of side views; None where all of them are compared."""
        if layout.plain or layout.reach != 1 or 0 in (layout.weight, layout.mixed.weight):
            return None
        from argus.indexes.pruned import off_unit_length

        return self._side_layout if off_unit_length(queries) <= UNIT else None

    def document_scores(self, queries: FloatArray, weight: float = RELEVANCE_WEIGHT) -> FloatArray:
        """Return the score of every document in float32, shape (n_queries, n_documents)."""
        return fold(check_queries(queries, self.dim) @ self.vectors.T, self.layout(weight))

    def ranks(
        self, queries: FloatArray, doc_ids: Sequence[str], weight: float = RELEVANCE_WEIGHT
    ) -> IntArray:
        """Return the 1-based rank of document `doc_ids[i]` in query i, shape (n_queries,).

        Ranks count every document of the snapshot; ties break by document id. Raises InputError
        naming documents that are not here.
        """
        queries = check_queries(queries, self.dim)
        if len(queries) != len(doc_ids):
            raise ValueError(f"{len(doc_ids)} documents for {len(queries)} queries")
        targets = self.positions(doc_ids)
        layout = self.layout(weight)
        parts = [
            target_ranks(
                block, self.vectors, fold(block @ self.vectors.T, layout), layout,
                targets[start : start + len(block)],
            )[0]
            for start, block in self._query_blocks(queries)
        ]  # fmt: skip
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def _query_blocks(self, queries: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        step = max(1, BLOCK_BYTES // (4 * max(1, len(self.vectors))))
        for start in range(0, len(queries), step):
            yield start, queries[start : start + step]


def check_queries(queries: FloatArray, dim: int) -> FloatArray:
    """Return the queries as float32 (n, dim); InputError for another shape or NaN."""
    queries = np.asarray(queries, np.float32)
    if queries.ndim != 2 or queries.shape[1] != dim:
        raise InputError(
            f"query vectors of shape {queries.shape}",
            expected=f"(n, {dim}), as the vectors of the index",
            fix="Embed queries with the encoder that the index names.",
        )
    if not np.isfinite(queries).all():
        bad = int((~np.isfinite(queries).all(axis=1)).sum())
        raise InputError(
            f"{bad} query vectors are not finite",
            expected="numbers",
            fix="Check the encoder that made them.",
        )
    return queries


def check_k(k: int) -> None:
    """Raise InputError unless k is a whole number from 1."""
    if not is_count(k):
        raise InputError(f"k={k!r:.60}", expected="a whole number from 1", fix="For example 10.")


def unknown_documents(ids: Sequence[str]) -> InputError:
    """Return the error for documents that an index does not hold."""
    return InputError(
        f"{len(ids)} unknown document id{'s' if len(ids) > 1 else ''}: {first_of(ids)}",
        expected="ids of documents in the index",
        fix="Check the spelling; ids are case-sensitive.",
    )


def rows_to_views(columns: Any) -> Iterator[View]:
    """Return the rows of an Arrow table as views."""
    names = ("id", "doc_id", "kind", "text", "source")
    for row in zip(*(columns[name].to_pylist() for name in names), strict=True):
        yield View(*row)


def _documents(column: Any) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the distinct ids of a sorted column, and where each begins."""
    import pyarrow.compute as pc

    counted = pc.value_counts(column)  # in order of first appearance, so sorted
    ids = counted.field("values").to_pylist()
    counts = counted.field("counts").to_numpy(zero_copy_only=False)
    return ids, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
