"""ViewIndex: the views of documents with their vectors, on disk, in an embedded LanceDB table.

One folder: `index.json` (see `argus.indexes.header`) and the table. Every `add`,
`delete_documents` and `rollback` is one commit of the table: a process killed at any moment leaves
the state before it or the state after it. One process writes at a time (a second one gets an
ArgusError); any number may read, each sees the state at which it opened the index, or last
wrote to it, or called `refresh`, until `compact` removes that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from argus.data.types import FloatArray, View
from argus.encoders.config import COSINE
from argus.encoders.store import stored_fingerprint
from argus.errors import FingerprintMismatch, InputError
from argus.indexes.approximate import approximate_search, build, exists
from argus.indexes.blend import SENTENCE, Blend
from argus.indexes.compact import KEPT, compact
from argus.indexes.fold import RELEVANCE_WEIGHT, TopDocuments, check_weight
from argus.indexes.header import FILE, EncoderSettings, IndexHeader, read_header, write_header
from argus.indexes.prescribed import ActiveRecipe, active
from argus.indexes.recipes import Recipe
from argus.indexes.remedy_views import (
    BEFORE,
    ORIGINAL,
    RemedyViews,
    check_recipes,
    check_remedy_id,
    find_remedy,
    grouped,
    recipes_of,
    served,
    state_condition,
)
from argus.indexes.snapshot import (
    Snapshot,
    check_k,
    check_queries,
    rows_to_views,
    unknown_documents,
)
from argus.indexes.table import (
    NAME,
    READ_ROWS,
    Checked,
    check_ids,
    check_read,
    check_vectors,
    connect,
    quoted,
    record_batch,
    schema,
    storage,
    writing,
)

__all__ = ["BEFORE", "ORIGINAL", "RemedyViews", "ViewIndex", "served"]

COLUMNS = ["id", "doc_id", "kind", "text", "source", "remedy", "added"]
Batch = tuple[Sequence[View], FloatArray]
_State = tuple[str, int, str | None, tuple[Recipe, ...]]


class ViewIndex:
    """Views and vectors on disk. Make one with `ViewIndex.create` or `ViewIndex.open`."""

    def __init__(self, path: Path, header: IndexHeader, table: Any) -> None:
        self.path, self.header, self.table = path, header, table
        self._kept: tuple[_State, Snapshot] | None = None
        self._recipe: tuple[_State, ActiveRecipe] | None = None
        self._facts: dict[object, Any] = {}
        """What the table said of the state that this handle sees; asking it takes a while."""

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

    @classmethod
    def open(cls, path: Path | str, *, fingerprint: str | None = None) -> ViewIndex:
        """Open an index; reading needs no right to write.

        Raises InputError for what is no index, and FingerprintMismatch when `fingerprint` is
        given and another encoder made the vectors, or when those kept beside it are of another one.
        """
        path = Path(path)
        read_header(path).check_fingerprint(fingerprint, path)
        with storage(path, "opening the index"):
            table = connect(path).open_table(NAME)
            width = table.schema.field("vector").type.list_size
        header = read_header(path)  # after the table: what is prescribed counts in a later state
        if width != header.dim:
            raise InputError(
                f"{FILE} says dim {header.dim}, the vectors have {width}",
                expected="one dimension",
                fix=f"Restore {FILE} from a copy, or build the index again with --fresh.",
                where=path,
            )
        index = cls(path, header, table)
        index._check_embeddings()
        return index

    def _check_embeddings(self) -> None:
        """Refuse an index.json of another encoder than that of the vectors that are kept here."""
        store, stored = self.path / "embeddings", None
        with suppress(InputError, OSError):  # a damaged header says nothing of the index
            stored = stored_fingerprint(store)
        if stored not in (None, self.header.asked_with) and len(self):
            raise FingerprintMismatch(store, stored=str(stored), given=self.header.asked_with)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the encoder that made the vectors."""
        return self.header.fingerprint

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.header.dim

    @property
    def made(self) -> str:
        """What tells this index from another that was made at its path; "" in older ones."""
        return self.header.made

    @property
    def version(self) -> int:
        """Number of the state that this handle sees; every change makes a larger one.

        An index that is made anew (`made` says so) begins again.
        """
        return int(self._once("version", lambda: self.table.version))

    def __len__(self) -> int:
        """Return the number of views."""
        return int(self.table.count_rows())

    def refresh(self) -> None:
        """See what other processes have written since."""
        with storage(self.path, "reading the index"):
            self.table.checkout_latest()
        self._facts.clear()
        self.header = read_header(self.path)

    def add(self, views: Sequence[View], vectors: FloatArray, remedy: str = "") -> int:
        """Add views with their vectors in one commit; return how many.

        vectors: (n_views, dim) float32, unit rows where the encoder ranks by cosine. remedy: the id
        under which `rollback` removes them; such views must belong to documents that are in the
        index. Raises InputError, and changes nothing, for taken ids, wrong vectors, unknown
        documents, a malformed remedy id.
        """
        return self.add_batches([(views, vectors)] if len(views) else [], remedy)

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
                with storage(self.path, "adding views"):
                    self.table.add(reader)
            except Exception:
                if rows.error is not None:
                    raise rows.error from None
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

    def delete_documents(self, ids: Iterable[str]) -> int:
        """Remove all views of these documents in one commit; return how many views.

        They leave every state, earlier ones too. InputError names unknown ids; nothing changes.
        """
        doc_ids = set(ids)
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
            kept = [r for r in self.header.recipes if r.remedy != remedy]
            if any(r.weight is None for r in own):  # sentences count for nothing without a blend
                self._write_recipes(kept)
            removed = self._delete(f"remedy = {quoted([remedy])}")
            if any(r.weight is not None for r in own):  # nor does λ without its scenarios
                self._write_recipes(kept)
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

    def check_recipes(self) -> None:
        """Raise InputError where the table was put back from before a remedy that is said here."""
        if any(recipe.added > self.version for recipe in self.header.recipes):
            with storage(self.path, "opening the index"):  # others may have written since
                latest = connect(self.path).open_table(NAME).version
            check_recipes(self.header.recipes, latest, self.path)

    def _write_recipes(self, recipes: Sequence[Recipe]) -> None:
        self.header = replace(self.header, recipes=tuple(recipes))
        write_header(self.path, self.header)

    def _delete(self, condition: str) -> int:
        before = len(self)
        with storage(self.path, "deleting views"):
            self.table.delete(condition)
        self._facts.clear()
        return before - len(self)

    def remedies(self) -> list[RemedyViews]:
        """Return the remedies whose views are in the index, in the order in which they came."""
        rows = self._rows("remedy != ''", ["remedy", "doc_id", "text", "added"])
        return grouped(rows, 4 * self.dim, self.header.recipes)

    def views_of(self, doc_id: str) -> list[View]:
        """Return a document's views, its original first, then by id; InputError if unknown."""
        rows = self._rows(f"doc_id = {quoted([doc_id])}", COLUMNS)
        if not rows.num_rows:
            raise unknown_documents([doc_id])
        return sorted(rows_to_views(rows), key=lambda v: (v.kind != ORIGINAL, v.id))

    def views_of_all(self, doc_ids: Iterable[str]) -> dict[str, list[View]]:
        """Return the views of several documents, read at once; those that are not there are not."""
        views: dict[str, list[View]] = {}
        if ids := sorted(set(doc_ids)):
            rows = self._rows(f"doc_id IN ({quoted(ids)})", COLUMNS)
            for view in rows_to_views(rows):
                views.setdefault(view.doc_id, []).append(view)
        return views

    def document(self, doc_id: str) -> View:
        """Return the view with the document's own text: what is served, whichever view was found.

        Raises InputError for an unknown document and for one without an original view.
        """
        return served(self.views_of(doc_id))

    def condition(self, as_of: str | None) -> str | None:
        """Return the SQL condition of a state, None for everything; see `state_condition`.

        Raises InputError for a remedy that is not there.
        """
        return None if as_of is None else state_condition(as_of, self.remedies(), self.path)

    def _state(self, as_of: str | None) -> _State:
        """Return what tells whether something read of a state still holds."""
        return self.made, self.version, as_of, self.header.recipes

    def recipe(self, as_of: str | None = None) -> ActiveRecipe:
        """Return how a state is searched beyond its views; errors as for `condition`."""
        key = self._state(as_of)
        if self._recipe is None or self._recipe[0] != key:
            self.check_recipes()
            there = self.remedies() if as_of is not None else ()
            recipes = recipes_of(as_of, self._counting(), there, self.path)
            self._recipe = (key, active(recipes, self.path, self.dim))
        return self._recipe[1]

    def _counting(self) -> list[Recipe]:
        """Return the recipes that count: λ of a remedy does while any of its views is there."""
        return [
            recipe
            for recipe in self.header.recipes
            if recipe.weight is None or self._has_rows(f"remedy = {quoted([recipe.remedy])}")
        ]

    def weight(self, as_of: str | None = None) -> float:
        """Return λ of a state: what a remedy says, else 0.7."""
        weight = self.recipe(as_of).weight
        return RELEVANCE_WEIGHT if weight is None else weight

    def _searched(self, as_of: str | None) -> str | None:
        """Return the condition of the views that are searched: sentences only under a blend."""
        recipe, kind = self.recipe(as_of), f"kind != {quoted([SENTENCE])}"
        if recipe.sentences_of:
            kind += f" OR remedy IN ({quoted(recipe.sentences_of)})"
        return _both(self.condition(as_of), f"({kind})")

    def snapshot(self, as_of: str | None = None) -> Snapshot:
        """Read a state into memory; the last one read is kept until the index changes.

        as_of: None (now), "original" (no remedy's views), a remedy (right after it), or
        "before:REMEDY" (that, less its own views). Memory: the vectors once, and the texts.
        """
        key = self._state(as_of)
        if self._kept is None or self._kept[0] != key:
            condition, recipe = self._searched(as_of), self.recipe(as_of)
            self._kept = None  # before reading, so that two are never held
            self._kept = (key, self._read(condition, recipe))
        return self._kept[1]

    def unsmoothed(self, as_of: str | None = None) -> Snapshot:
        """Read a state as `snapshot` does, with vectors as they were where it smooths them."""
        return self._read(self._searched(as_of), self.recipe(as_of), smooth=False)

    def _read(
        self, condition: str | None, recipe: ActiveRecipe, *, smooth: bool = True
    ) -> Snapshot:
        import pyarrow.compute as pc

        rows = self._rows(condition, COLUMNS).combine_chunks()
        rows = rows.sort_by([("doc_id", "ascending"), ("id", "ascending")]).combine_chunks()
        vectors = np.empty((rows.num_rows, self.dim), np.float32)
        with storage(self.path, "reading vectors"):
            for batch in self._query(condition, ["id", "vector"]).to_batches(READ_ROWS):
                if not batch.num_rows:
                    continue
                places = pc.index_in(batch["id"], value_set=rows["id"]).to_numpy()
                flat = pc.list_flatten(batch["vector"]).to_numpy()
                vectors[places] = flat.reshape(-1, self.dim)
        check_read(self.path, rows["doc_id"], vectors, unit=self.header.unit)
        if smooth and recipe.numbers is not None:
            recipe.numbers.smooth(rows, vectors)
        return recipe.over(rows, vectors)

    def rows(self, as_of: str | None = None) -> Any:
        """Return a state's views as an Arrow table of COLUMNS, without vectors, in no order."""
        return self._rows(self.condition(as_of), COLUMNS)

    def texts(
        self, as_of: str | None = None, *, without: Sequence[str] = ()
    ) -> dict[str, list[str]]:
        """Return the `id`, `doc_id` and `text` of a state's views, in no order.

        without: kinds whose views are left out.
        """
        names = ("id", "doc_id", "text")
        condition = self.condition(as_of)
        if without:
            condition = _both(condition, f"kind NOT IN ({quoted(without)})")
        rows = self._rows(condition, names)
        return {name: rows[name].to_pylist() for name in names}

    def holds(self, kind: str, as_of: str | None = None) -> bool:
        """Return whether a state has any view of a kind; nothing is read into memory."""
        return self._has_rows(_both(self.condition(as_of), f"kind = {quoted([kind])}"))

    def _has_rows(self, condition: str) -> bool:
        with storage(self.path, "reading the index"):
            return bool(self._once(("rows", condition), lambda: self.table.count_rows(condition)))

    def build_ann(self) -> None:
        """Build the approximate index over all vectors, replacing an older one, and compact.

        Views that are added later are searched exactly beside it until it is built again.
        """
        with self._writing(), storage(self.path, "building the approximate index"):
            self.table.checkout_latest()
            compact(self.table)
            build(self.table)

    def compact(self, kept: timedelta = KEPT) -> None:
        """Give back the space of what was deleted or rolled back, and merge small files.

        kept: who opened the index longer ago, and did not refresh it since it changed, can no
        longer read it. An approximate index is built anew, over all vectors.
        """
        with self._writing(), storage(self.path, "compacting the index"):
            self.table.checkout_latest()
            compact(self.table, kept)
            if exists(self.table):
                build(self.table)
                compact(self.table, kept)  # the files of the older one

    def has_ann(self) -> bool:
        """Return whether there is an approximate index."""
        with storage(self.path, "reading the index"):
            return bool(self._once("ann", lambda: exists(self.table)))

    def _once(self, fact: object, ask: Callable[[], Any]) -> Any:
        """Return a fact of this state, asked for once."""
        if fact not in self._facts:
            self._facts[fact] = ask()
        return self._facts[fact]

    @contextmanager
    def _writing(self, *, checks: bool = True) -> Iterator[None]:
        """Hold the lock of who writes; whatever came of it, this handle sees another state then.

        checks: whether recipes that the table is too old for are refused.
        """
        with writing(self.path):
            if checks:
                self.check_recipes()
            try:
                yield
            finally:
                self._facts.clear()

    def search(
        self,
        queries: FloatArray,
        k: int,
        as_of: str | None = None,
        *,
        exact: bool | None = None,
        weight: float | None = None,
    ) -> TopDocuments:
        """Return the k best documents of each query (`argus.indexes.fold`), ties by id.

        exact: None searches approximately where there is an approximate index and the state is
        not already in memory; see `argus.indexes.approximate` for what is then certain. weight: λ
        of documents against their scenarios; None as the index says, else 0.7.
        """
        queries = check_queries(queries, self.dim)
        check_k(k)
        weight = self.weight(as_of) if weight is None else check_weight(weight)
        in_memory = self._kept is not None and self._kept[0] == self._state(as_of)
        if exact is None:
            exact = in_memory or not self.has_ann()
        if exact:
            return self.snapshot(as_of).search(queries, k, weight)
        with storage(self.path, "searching the index"):
            return approximate_search(
                self.table, queries, k, self._searched(as_of), weight, self.recipe(as_of)
            )

    def _query(self, condition: str | None, columns: Sequence[str]) -> Any:
        query = self.table.search().select(list(columns))
        return query.where(condition) if condition else query

    def _rows(self, condition: str | None, columns: Sequence[str]) -> Any:
        with storage(self.path, "reading the index"):
            return self._query(condition, columns).to_arrow()

    def _column(self, name: str) -> list[str]:
        values: list[str] = self._rows(None, [name])[name].to_pylist()
        return values


def _both(condition: str | None, other: str) -> str:
    return f"({condition}) AND {other}" if condition else other
