"""Hold one state of an index in memory, several vectors per document, and search it exactly.

`argus.indexes.views` reads a `Snapshot` from disk. It takes query vectors and returns ranked
documents, scores, or the ranks of wanted documents. Each row is a view: one indexed text of a
document with its vector. `argus.indexes.fold` turns the scores of rows into those of documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from argus.data.documents import is_count, listed
from argus.data.types import FloatArray, IntArray, View
from argus.errors import InputError
from argus.indexes.blend import RELEVANCE_WEIGHT, SENTENCE, TEXT, Blend, check_weight
from argus.indexes.exact import reach_of
from argus.indexes.fold import (
    SCENARIO,
    BoolArray,
    Layout,
    TopDocuments,
    fold,
    target_ranks,
    top_documents,
)

# Columns that make a `View`.
NAMES = ("id", "doc_id", "kind", "text", "source")
# Scores held at a time. Each block is folded, so about twice this is used beyond the vectors.
BLOCK_BYTES = 128 << 20


class Snapshot:
    """Views ordered by (document id, view id) and their vectors, one contiguous array.

    columns: an Arrow table of `id, doc_id, kind, text, source, remedy, added` in that order of
    rows (added: number of the commit, 0 for views that lie in memory alone).
    vectors: (n_views, dim) float32, unit rows unless the encoder ranks by dot product. Nothing here
    changes after it was made.
    """

    def __init__(self, columns: Any, vectors: FloatArray, blend: Blend | None = None) -> None:
        self.columns, self.vectors, self.blend = columns, vectors, blend
        # by Python: pyarrow.compute takes longer to import than a small index to search
        counts = Counter[str](columns["doc_id"].to_pylist())  # in their order
        self.doc_ids = list(counts)
        self.starts = np.cumsum([0, *counts.values()], dtype=np.int64)

    def blended(self, blend: Blend | None) -> Snapshot:
        """Return the same documents and views under another blend, or under none."""
        other = copy(self)
        other.blend = blend
        return other

    @classmethod
    def of(cls, views: Sequence[View], vectors: FloatArray) -> Snapshot:
        """Make a snapshot of views that lie in memory, in any order. vectors: as `views`."""
        import pyarrow as pa

        order = sorted(range(len(views)), key=lambda i: (views[i].doc_id, views[i].id))
        columns = {n: pa.array([getattr(views[i], n) for i in order], pa.string()) for n in NAMES}
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
    def scenario_rows(self) -> BoolArray | None:
        """Mask of the views that are scenarios, shape (n_views,), or None without any."""
        return self.rows_of_kind(SCENARIO)

    @cached_property
    def sentence_rows(self) -> BoolArray | None:
        """Mask of sentences and further texts, shape (n_views,), or None without any."""
        return self.rows_of_kind(SENTENCE, TEXT)

    def rows_of_kind(self, *kinds: str) -> BoolArray | None:
        """Return the mask of the views of these kinds, shape (n_views,), or None without any."""
        rows = np.array([kind in kinds for kind in self.columns["kind"].to_pylist()], bool)
        return rows if rows.any() else None

    @cached_property
    def reach(self) -> float:
        """Length of the longest vector, 1 for unit rows."""
        return reach_of(self.vectors)

    @cached_property
    def _view_ids(self) -> list[str]:
        return list(self.columns["id"].to_pylist())

    @cached_property
    def _position(self) -> dict[str, int]:
        return {doc_id: i for i, doc_id in enumerate(self.doc_ids)}

    def positions(self, doc_ids: Iterable[str]) -> IntArray:
        """Return the position of each document in `doc_ids`. Raises InputError for unknown ones."""
        ids = listed(doc_ids)
        if unknown := sorted({d for d in ids if d not in self._position}):
            raise unknown_documents(unknown)
        return np.array([self._position[d] for d in ids], np.int64)

    def rows_of(self, doc_id: str) -> range:
        """Return the rows of one document's views. Raises InputError for an unknown one."""
        (position,) = self.positions([doc_id])
        return range(int(self.starts[position]), int(self.starts[position + 1]))

    def views_of(self, doc_id: str) -> list[View]:
        """Return the views of one document. Raises InputError for an unknown one."""
        rows = self.rows_of(doc_id)
        return list(rows_to_views(self.columns.slice(rows.start, len(rows))))

    def layout(self, weight: float = RELEVANCE_WEIGHT) -> Layout:
        """Return owners and weights of views under λ. Raises InputError unless it is 0 to 1.

        Without a blend, sentences weigh nothing.
        """
        return Layout(
            self.starts, self.scenario_rows, check_weight(weight), self.reach,
            self.sentence_rows, 1.0 if self.blend is None else self.blend.weight,
        )  # fmt: skip

    def best_scenario(self, query: FloatArray, doc_id: str) -> str:
        """Return the id of a document's scenario nearest to a query, "" where it has none.

        query: (dim,). Equal ones tie by id. Raises InputError for an unknown document.
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
        """Return the k best documents of each query, by the scores of `argus.indexes.fold`.

        queries: (n_queries, dim), unit rows. weight: λ, which matters where there are scenarios.
        Ties break by document id. k is cut to the number of documents. Raises InputError for
        queries of another dimension or that are not finite, and for a λ that is not from 0 to 1.
        """
        queries = check_queries(queries, self.dim)
        check_k(k)
        layout = self.layout(weight)
        if not len(self):
            none: list[list[Any]] = [[] for _ in queries]
            return TopDocuments(none, none, none)
        result = TopDocuments([], [], [])
        ids, doc_ids = self._view_ids, self.doc_ids
        for _, block in self._query_blocks(queries):
            top = top_documents(block, self.vectors, block @ self.vectors.T, layout, k)
            first = np.flatnonzero(np.diff(top.query, prepend=-1)).tolist()
            spans = [slice(*ends) for ends in pairwise([*first, len(top.query)])]
            views, scores = [ids[i] for i in top.view.tolist()], top.score.tolist()
            found = [doc_ids[i] for i in top.document.tolist()]
            result.doc_ids.extend(found[span] for span in spans)
            result.scores.extend(scores[span] for span in spans)
            result.view_ids.extend(views[span] for span in spans)
        return result

    def document_scores(self, queries: FloatArray, weight: float = RELEVANCE_WEIGHT) -> FloatArray:
        """Return the score of every document in float32, shape (n_queries, n_documents)."""
        return fold(check_queries(queries, self.dim) @ self.vectors.T, self.layout(weight))

    def ranks(
        self, queries: FloatArray, doc_ids: Sequence[str], weight: float = RELEVANCE_WEIGHT
    ) -> IntArray:
        """Return the 1-based rank of document `doc_ids[i]` in query i, shape (n_queries,).

        Ranks count every document of the snapshot. Ties break by document id. Raises InputError
        naming documents that are not here.
        """
        queries = check_queries(queries, self.dim)
        if len(queries) != len(doc_ids):
            raise ValueError(f"{len(doc_ids)} documents for {len(queries)} queries")
        targets, layout = self.positions(doc_ids), self.layout(weight)
        parts = [np.zeros(0, np.int64)]
        for start, block in self._query_blocks(queries):
            best, own = fold(block @ self.vectors.T, layout), targets[start : start + len(block)]
            parts.append(target_ranks(block, self.vectors, best, layout, own)[0])
        return np.concatenate(parts)

    def _query_blocks(self, queries: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        step = max(1, BLOCK_BYTES // (4 * max(1, len(self.vectors))))
        for start in range(0, len(queries), step):
            yield start, queries[start : start + step]


def check_queries(queries: FloatArray, dim: int) -> FloatArray:
    """Return the queries as float32 (n, dim). Raises InputError for another shape or NaN."""
    queries = np.asarray(queries, np.float32)
    if queries.ndim != 2 or queries.shape[1] != dim:
        got = f"query vectors of shape {queries.shape}"
        fix = "Embed queries with the encoder that the index names."
        raise InputError(got, expected=f"(n, {dim}), as the vectors of the index", fix=fix)
    if bad := int((~np.isfinite(queries).all(axis=1)).sum()):
        got = f"{bad} query vectors are not finite"
        raise InputError(got, expected="numbers", fix="Check the encoder that made them.")
    return queries


def check_k(k: int) -> None:
    """Raise InputError unless k is a whole number from 1."""
    if not is_count(k):
        raise InputError(f"k={k!r:.60}", expected="a whole number from 1", fix="For example 10.")


def unknown_documents(ids: Sequence[str]) -> InputError:
    """Return the error for documents that an index does not hold."""
    got = f"{len(ids)} unknown document id{'s' if len(ids) > 1 else ''}: {list_some(ids)}"
    expected = "ids of documents in the index"
    return InputError(got, expected=expected, fix="Check the spelling; ids are case-sensitive.")


def list_some(ids: Sequence[str]) -> str:
    """Return the first five ids, for a message."""
    return ", ".join(map(repr, ids[:5])) + (" ..." if len(ids) > 5 else "")


def rows_to_views(columns: Any) -> Iterator[View]:
    """Yield the rows of an Arrow table as views."""
    for row in zip(*(columns[name].to_pylist() for name in NAMES), strict=True):
        yield View(*row)
