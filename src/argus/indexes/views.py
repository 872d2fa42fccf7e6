"""ViewIndex: the views of documents with their vectors, on disk, in an embedded LanceDB table.

One folder: `index.json` (see `argus.indexes.header`) and the table. Every `add`,
`delete_documents` and `rollback` is one commit of the table: a process killed at any moment leaves
the state before it or the state after it. One process writes at a time (a second one gets an
ArgusError); any number may read (`argus.indexes.reading`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from argus.data.documents import listed
from argus.data.types import FloatArray, View
from argus.data.writing import replaced
from argus.encoders.config import COSINE
from argus.errors import InputError
from argus.indexes.approximate import build, exists
from argus.indexes.blend import Blend
from argus.indexes.compact import KEPT, compact
from argus.indexes.fold import check_weight
from argus.indexes.header import FILE, EncoderSettings, IndexHeader, read_header, write_header
from argus.indexes.reading import StoredViews
from argus.indexes.recipes import Recipe
from argus.indexes.remedy_views import (
    BEFORE,
    ORIGINAL,
    RemedyViews,
    check_remedy_id,
    find_remedy,
    served,
)
from argus.indexes.snapshot import unknown_documents
from argus.indexes.table import (
    NAME,
    Checked,
    check_ids,
    check_vectors,
    connect,
    open_views,
    quoted,
    record_batch,
    schema,
    storage,
    writing,
)

__all__ = ["BEFORE", "ORIGINAL", "RemedyViews", "ViewIndex", "served"]

Batch = tuple[Sequence[View], FloatArray]


class ViewIndex(StoredViews):
    """Views and vectors on disk. Make one with `ViewIndex.create` or `ViewIndex.open`."""

    @classmethod
    def create(
        cls,
        path: Path | str,
        *,
        fingerprint: str,
        dim: int,
        encoder: EncoderSettings | None = None,
        similarity: str = COSINE,
    ) -> ViewIndex:
        """Make an empty index in a new folder, or in one that holds no index yet.

        fingerprint: of the encoder that makes all vectors; encoder: its configuration, so that a
        later command can load it. similarity: how it compares vectors. Raises InputError where
        there is an index already.
        """
        path = Path(path)
        if (path / FILE).exists():
            raise InputError(
                "holds an index already",
                expected="a new folder",
                fix="Add to it, give another folder, or start over with --fresh.",
                where=path,
            )
        header = IndexHeader(
            fingerprint=fingerprint,
            dim=dim,
            encoder=encoder or EncoderSettings(),
            similarity=similarity,
            made=uuid4().hex,
        )
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot be made ({error.strerror})",
                expected="a folder that can be written",
                fix="Give another path.",
                where=path,
            ) from error
        with writing(path), storage(path, "making the index"):
            mode = "overwrite" if (path / f"{NAME}.lance").exists() else "create"
            table = connect(path).create_table(NAME, schema=schema(dim), mode=mode)
            write_header(path, header)
        return cls(path, header, table)

    def add(self, views: Iterable[View], vectors: FloatArray, remedy: str = "") -> int:
        """Add views with their vectors in one commit; return how many.

        vectors: (n_views, dim) float32, unit rows where the encoder ranks by cosine. remedy: the id
        under which `rollback` removes them; such views must belong to documents that are in the
        index. Raises InputError, and changes nothing, for taken ids, wrong vectors, unknown
        documents, a malformed remedy id.
        """
        views = list(views)
        return self.add_batches([(views, vectors)] if views else [], remedy)

    def add_batches(self, batches: Iterable[Batch], remedy: str = "") -> int:
        """Add any number of (views, vectors) batches in one commit, one batch in memory at a time.

        Conditions and errors as for `add`; an error that `batches` raises leaves nothing behind.
        """
        import pyarrow as pa

        check_remedy_id(remedy)
        with self._writing():
            self.refresh()
            added = self.version + 1
            rows = Checked(self._batches(batches, remedy, added))
            reader = pa.RecordBatchReader.from_batches(schema(self.dim), rows)
            try:
                with self._changing("adding views") as table:
                    table.add(reader)
            except Exception:
                if rows.error is not None:
                    raise rows.error from None
                self._check_is_the_same()
                raise
        return rows.rows

    def _batches(self, batches: Iterable[Batch], remedy: str, added: int) -> Iterator[Any]:
        taken = set(self._column("id"))
        documents = set(self._column("doc_id")) if remedy else set()
        for views, vectors in batches:
            check_ids(views, taken)
            if remedy:
                unknown = sorted({v.doc_id for v in views} - documents)
                if unknown:
                    raise unknown_documents(unknown)
            checked = check_vectors(vectors, len(views), self.dim, unit=self.header.unit)
            yield record_batch(views, checked, remedy=remedy, added=added, dim=self.dim)
        self._check_is_the_same()  # before the commit

    def _check_is_the_same(self) -> None:
        if read_header(self.path).made != self.header.made:
            raise replaced(self.path)

    def delete_documents(self, ids: Iterable[str]) -> int:
        """Remove all views of these documents in one commit; return how many views.

        They leave every state, earlier ones too. InputError names unknown ids, and one text in
        place of several; nothing changes then.
        """
        doc_ids = set(listed(ids))
        with self._writing():
            self.refresh()
            unknown = sorted(doc_ids - set(self._column("doc_id")))
            if unknown:
                raise unknown_documents(unknown)
            return self._delete(f"doc_id IN ({quoted(sorted(doc_ids))})") if doc_ids else 0

    def rollback(self, remedy: str) -> int:
        """Remove exactly what `remedy` added, its views in one commit; return how many.

        Raises InputError listing the remedies there are when it is none of them.
        """
        with self._writing(checks=False):
            self.refresh()
            find_remedy(remedy, self.remedies(), self.path)
            own = [r for r in self.header.recipes if r.remedy == remedy]
            others = [r for r in self.header.recipes if r.remedy != remedy]
            if any(r.weight is None for r in own):  # sentences count for nothing without a blend
                self._write_recipes(others)
            removed = self._delete(f"remedy = {quoted([remedy])}")
            if any(r.weight is not None for r in own):  # nor does λ without its scenarios
                self._write_recipes(others)
            return removed

    def prescribe(
        self,
        remedy: str,
        *,
        blend: Blend | None = None,
        corrects: bool = False,
        weight: float | None = None,
        relied_on: Sequence[str] = (),
    ) -> None:
        """Have this index searched as a remedy says, from now on.

        Its numbers must lie in `remedies/ID/` already. weight: λ of documents against their
        scenarios, for searches that name none. relied_on: remedies that hold sentences of its
        blend. What the remedy said before is replaced, in its place among the others; said again,
        nothing changes.
        """
        check_remedy_id(remedy)
        if weight is not None:
            check_weight(weight)
        with self._writing():
            self.refresh()
            recipe = Recipe(remedy, 0, blend, corrects, weight, tuple(relied_on))
            there = {r.remedy: r for r in self.header.recipes}
            if remedy in there and replace(there[remedy], added=0) == recipe:
                return
            self._delete("false")  # a commit that changes no row: the state has a new number
            added = there[remedy].added if remedy in there else self.version
            there[remedy] = replace(recipe, added=added)
            self._write_recipes([*there.values()])

    def _write_recipes(self, recipes: Sequence[Recipe]) -> None:
        header = replace(self.header, recipes=tuple(recipes))
        write_header(self.path, header)
        self._see(self.table, header)

    def _delete(self, condition: str) -> int:
        with self._changing("deleting views") as table:
            before = table.count_rows()
            table.delete(condition)
            return int(before - table.count_rows())

    def build_ann(self) -> None:
        """Build the approximate index over all vectors, replacing an older one, and compact.

        Views that are added later are searched exactly beside it until it is built again.
        """
        with self._writing(), self._changing("building the approximate index") as table:
            compact(table)
            build(table)

    def compact(self, kept: timedelta = KEPT) -> None:
        """Give back the space of what was deleted or rolled back, and merge small files.

        kept: who opened the index longer ago, and did not refresh it since it changed, can no
        longer read it. An approximate index is built anew, over all vectors.
        """
        with self._writing(), self._changing("compacting the index") as table:
            compact(table, kept)
            if exists(table):
                build(table)
                compact(table, kept)  # the files of the older one

    @contextmanager
    def _writing(self, *, checks: bool = True) -> Iterator[None]:
        """Hold the lock of who writes.

        checks: whether recipes that the table is too old for are refused.
        """
        with writing(self.path):
            if checks:
                self.check_recipes()
            yield

    @contextmanager
    def _changing(self, doing: str) -> Iterator[Any]:
        """Give the table to change; whatever came of it, this handle sees the state after it.

        Threads that read meanwhile go on in the state before.
        """
        with storage(self.path, doing):
            table = open_views(self.path)
            try:
                yield table
            finally:
                self._see(table, self.header)
