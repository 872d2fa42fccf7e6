"""What an index holds, as it is read: its views, its states, its search.

Each handle sees the state at which it opened the index, or last wrote to it, or called `refresh`,
until `compact` removes that. Several threads may use one handle: each answer is of one state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from threading import RLock
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from argus.data.documents import listed
from argus.data.types import FloatArray, View
from argus.encoders.store import EMBEDDINGS, store_of, stored_fingerprint
from argus.errors import FingerprintMismatch, InputError
from argus.indexes.approximate import approximate_search, exists
from argus.indexes.blend import SENTENCE
from argus.indexes.fold import RELEVANCE_WEIGHT, TopDocuments, check_weight
from argus.indexes.header import FILE, IndexHeader, read_header
from argus.indexes.prescribed import ActiveRecipe, active
from argus.indexes.recipes import Recipe
from argus.indexes.remedy_views import (
    ORIGINAL,
    RemedyViews,
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
    READ_ROWS,
    changed_while_read,
    check_read,
    open_views,
    quoted,
    storage,
)

COLUMNS = ["id", "doc_id", "kind", "text", "source", "remedy", "added"]
_State = tuple[str, int, str | None, tuple[Recipe, ...]]
Views = TypeVar("Views", bound="StoredViews")
P = ParamSpec("P")
T = TypeVar("T")


def of_one_state(
    method: Callable[Concatenate[Views, P], T],
) -> Callable[Concatenate[Views, P], T]:
    """Have all that a method reads be of one state, whatever other threads do with the handle."""

    @wraps(method)
    def steady(self: Views, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.lock:
            return method(self, *args, **kwargs)

    return steady


class StoredViews:
    """Views and vectors on disk, to be read; `argus.indexes.views.ViewIndex` writes them, too."""

    def __init__(self, path: Path, header: IndexHeader, table: Any) -> None:
        self.path, self.header, self.table = path, header, table
        self._kept: tuple[_State, Snapshot] | None = None
        self._recipe: tuple[_State, ActiveRecipe] | None = None
        self._facts: dict[object, Any] = {}
        """What the table said of the state that this handle sees; asking it takes a while."""
        self.lock = RLock()
        """Held by a thread that reads several things of one state. `table` is of one version for
        ever: who writes, or refreshes, puts another one in its place, and waits for this lock."""

    @classmethod
    def open(cls, path: Path | str, *, fingerprint: str | None = None) -> Self:
        """Open an index; reading needs no right to write.

        Raises InputError for what is no index, and FingerprintMismatch when `fingerprint` is
        given and another encoder made the vectors, or when those kept beside it are of another one.
        """
        path = Path(path)
        read_header(path).check_fingerprint(fingerprint, path)
        with storage(path, "opening the index"):
            table = open_views(path)
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
        store, stored = self.path / EMBEDDINGS, None
        with suppress(InputError, OSError):  # a damaged header says nothing of the index
            store = store_of(self.path)
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

    @of_one_state
    def refresh(self) -> None:
        """See what other processes have written since."""
        with storage(self.path, "reading the index"):
            table = open_views(self.path)
        self._see(table, read_header(self.path))

    @of_one_state
    def _see(self, table: Any, header: IndexHeader) -> None:
        """Read this from now on."""
        self.table, self.header = table, header
        self._facts.clear()

    @of_one_state
    def check_recipes(self) -> None:
        """Raise InputError where the table was put back from before a remedy that is said here."""
        if not any(recipe.added > self.version for recipe in self.header.recipes):
            return
        with storage(self.path, "opening the index"):  # others may have written since
            latest = open_views(self.path).version
        if ahead := next((r for r in self.header.recipes if r.added > latest), None):
            raise InputError(
                f"says of remedy {ahead.remedy} what came with state {ahead.added}; the table of "
                f"views ends with {latest}", expected="both of one time",
                fix=f"Put {FILE} and views.lance back from one copy, or take the remedy out "
                f"(argus remedy rollback --index {self.path} {ahead.remedy}) and run it again.",
                where=self.path / FILE,
            )  # fmt: skip

    @of_one_state
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
        if ids := sorted(set(listed(doc_ids))):
            rows = self._rows(f"doc_id IN ({quoted(ids)})", COLUMNS)
            for view in rows_to_views(rows):
                views.setdefault(view.doc_id, []).append(view)
        return views

    def document(self, doc_id: str) -> View:
        """Return the view with the document's own text: what is served, whichever view was found.

        Raises InputError for an unknown document and for one without an original view.
        """
        return served(self.views_of(doc_id))

    @of_one_state
    def condition(self, as_of: str | None) -> str | None:
        """Return the SQL condition of a state, None for everything; see `state_condition`.

        Raises InputError for a remedy that is not there.
        """
        return None if as_of is None else state_condition(as_of, self.remedies(), self.path)

    def _state(self, as_of: str | None) -> _State:
        """Return what tells whether something read of a state still holds."""
        return self.made, self.version, as_of, self.header.recipes

    @of_one_state
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
        states: str | None = self._once(("state", as_of), lambda: self.condition(as_of))
        return _both(states, f"({kind})")

    @of_one_state
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

    @of_one_state
    def unsmoothed(self, as_of: str | None = None) -> Snapshot:
        """Read a state as `snapshot` does, with vectors as they were where it smooths them."""
        return self._read(self._searched(as_of), self.recipe(as_of), smooth=False)

    def _read(
        self, condition: str | None, recipe: ActiveRecipe, *, smooth: bool = True
    ) -> Snapshot:
        import pyarrow.compute as pc

        rows = self._rows(condition, COLUMNS).combine_chunks()
        rows = rows.sort_by([("doc_id", "ascending"), ("id", "ascending")]).combine_chunks()
        vectors, filled = np.empty((rows.num_rows, self.dim), np.float32), 0
        with storage(self.path, "reading vectors"):
            for batch in self._query(condition, ["id", "vector"]).to_batches(READ_ROWS):
                if not batch.num_rows:
                    continue
                places = pc.index_in(batch["id"], value_set=rows["id"])
                if places.null_count:
                    raise changed_while_read(self.path)
                flat = pc.list_flatten(batch["vector"]).to_numpy()
                vectors[places.to_numpy()] = flat.reshape(-1, self.dim)
                filled += batch.num_rows
        if filled != rows.num_rows:
            raise changed_while_read(self.path)
        check_read(self.path, rows["doc_id"], vectors, unit=self.header.unit)
        if smooth and recipe.numbers is not None:
            recipe.numbers.smooth(rows, vectors)
        return recipe.over(rows, vectors)

    @of_one_state
    def rows(self, as_of: str | None = None) -> Any:
        """Return a state's views as an Arrow table of COLUMNS, without vectors, in no order."""
        return self._rows(self.condition(as_of), COLUMNS)

    @of_one_state
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

    @of_one_state
    def holds(self, kind: str, as_of: str | None = None) -> bool:
        """Return whether a state has any view of a kind; nothing is read into memory."""
        return self._has_rows(_both(self.condition(as_of), f"kind = {quoted([kind])}"))

    def _has_rows(self, condition: str) -> bool:
        with storage(self.path, "reading the index"):
            return bool(self._once(("rows", condition), lambda: self.table.count_rows(condition)))

    def has_ann(self) -> bool:
        """Return whether there is an approximate index."""
        with storage(self.path, "reading the index"):
            return bool(self._once("ann", lambda: exists(self.table)))

    @of_one_state
    def _once(self, fact: object, ask: Callable[[], Any]) -> Any:
        """Return a fact of this state, asked for once."""
        if fact not in self._facts:
            self._facts[fact] = ask()
        return self._facts[fact]

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
        with self.lock:
            weight = self.weight(as_of) if weight is None else check_weight(weight)
            in_memory = self._kept is not None and self._kept[0] == self._state(as_of)
            if exact is None:
                exact = in_memory or not self.has_ann()
            snapshot = self.snapshot(as_of) if exact else None
            if snapshot is None:
                table, condition, recipe = self.table, self._searched(as_of), self.recipe(as_of)
        if snapshot is not None:  # other threads search at the same time
            return snapshot.search(queries, k, weight)
        with storage(self.path, "searching the index"):
            return approximate_search(table, queries, k, condition, weight, recipe)

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
