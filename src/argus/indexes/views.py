"""Store the views of documents with their vectors: states, remedies, search.

An index is one folder: `index.json` (`argus.indexes.header`) and a LanceDB table. Every `add`,
`delete_documents` and `rollback` is one commit of the table, so a process killed at any moment
leaves the state before it or after it. One process writes at a time (a second one gets an
ArgusError). Any number may read. Each handle sees the state at which it opened the index, last
wrote to it or called `refresh`, until `compact` removes that state. Several threads may use one
handle: each answer is of one state.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial, wraps
from pathlib import Path
from threading import RLock
from typing import Any, ParamSpec, TypeVar, cast
from uuid import uuid4

from argus.data.documents import listed
from argus.data.reading import parse_json
from argus.data.types import Document, FloatArray, View
from argus.data.writing import replaced
from argus.encoders.store import EMBEDDINGS, store_of, stored_fingerprint
from argus.errors import EncoderMismatch, InputError, NothingMeasured
from argus.indexes.blend import RELEVANCE_WEIGHT, SENTENCE, Blend, Recipe, check_weight
from argus.indexes.fold import ORIGINAL, TopDocuments
from argus.indexes.header import FILE, IndexHeader, read_header, write_header
from argus.indexes.recipe import ActiveRecipe
from argus.indexes.snapshot import (
    NAMES,
    Snapshot,
    check_k,
    check_queries,
    list_some,
    rows_to_views,
    unknown_documents,
)
from argus.indexes.table import (
    KEPT,
    approximate_search,
    build_ann,
    compact,
    conjoined,
    create_views,
    has_ann,
    open_views,
    quoted,
    read_vectors,
    record_batch,
    schema,
    select,
    storage,
    writing,
)

BEFORE = "before:"
"""`as_of` this and a remedy's id: the state right after the remedy, without its own views."""
REMEDY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
COLUMNS = [*NAMES, "remedy", "added"]
Batch = tuple[Sequence[View], FloatArray]
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RemedyViews:
    """The views of one remedy, in a summary too.

    id: id of the remedy.
    views: views of the remedy.
    documents: documents that have one.
    bytes: bytes of their texts in UTF-8 and vectors, before compression.
    added: number of its last commit. Later remedies have larger ones.
    """

    id: str
    views: int
    documents: int
    bytes: int
    added: int


def _of_one_state(method: Callable[P, T]) -> Callable[P, T]:
    """Hold the handle's lock during a method, so that it reads one state."""

    @wraps(method)
    def steady(*args: P.args, **kwargs: P.kwargs) -> T:
        with cast(ViewIndex, args[0]).lock:
            return method(*args, **kwargs)

    return steady


class ViewIndex:
    """Views and vectors on disk. Make one with `ViewIndex.create` or `ViewIndex.open`.

    lock: held by a thread that reads several things of one state. `table` is of one version for
    ever: a writer, or `refresh`, replaces it, and waits for this lock.
    """

    def __init__(self, path: Path, header: IndexHeader, table: Any) -> None:
        self.path, self.header, self.table = path, header, table
        self.lock = RLock()
        self._facts: dict[object, Any] = {}  # read from the table of this state
        self._snapshot: tuple[object, Snapshot] | None = None  # the last one, by its state
        self._recipe: tuple[object, ActiveRecipe] | None = None

    @classmethod
    def create(cls, path: Path | str, **settings: Any) -> ViewIndex:
        """Make an empty index in a new folder, or in one that holds no index yet.

        settings: fields of `IndexHeader`: fingerprint and dim at least, and encoder, so that a
        later command can load it. Raises InputError where there is an index already, or the folder
        cannot be made.
        """
        path = Path(path)
        wrong = partial(InputError, where=path)
        if (path / FILE).exists():
            fix = "Add to it, give another folder, or start over with --fresh."
            raise wrong("holds an index already", expected="a new folder", fix=fix)
        header = IndexHeader(**{**settings, "made": uuid4().hex})
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            got, expected = f"cannot be made ({error.strerror})", "a folder that can be written"
            raise wrong(got, expected=expected, fix="Give another path.") from error
        with writing(path), storage(path, "making the index"):
            table = create_views(path, header.dim)
            write_header(path, header)
        return cls(path, header, table)

    @classmethod
    def open(cls, path: Path | str, *, fingerprint: str | None = None) -> ViewIndex:
        """Open an index. Reading needs no right to write.

        Raises InputError for a folder that is no index. Raises EncoderMismatch when another
        encoder made the vectors than `fingerprint` says, or those that are stored beside it.
        """
        path = Path(path)
        read_header(path).check_fingerprint(fingerprint, path)
        with storage(path, "opening the index"):
            table = open_views(path)
            width = table.schema.field("vector").type.list_size
        header = read_header(path)  # after the table: its recipes count in a later state
        if width != header.dim:
            got = f"{FILE} says dim {header.dim}, the vectors have {width}"
            fix = f"Restore {FILE} from a copy, or build the index again with --fresh."
            raise InputError(got, expected="one dimension", fix=fix, where=path)
        index = cls(path, header, table)
        store, stored = path / EMBEDDINGS, None
        with suppress(InputError, OSError):  # a damaged store says nothing of the index
            store = store_of(path)
            stored = stored_fingerprint(store)
        if stored not in (None, header.asked_with) and len(index):
            raise EncoderMismatch(store, stored=str(stored), given=header.asked_with)
        return index

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
        """Random id that tells this index from others made at its path."""
        return self.header.made

    @property
    def version(self) -> int:
        """Number of the state that this handle sees. Every change makes a larger one.

        An index that is made anew (`made` says so) begins again.
        """
        return int(self._once("version", lambda: self.table.version))

    def __len__(self) -> int:
        """Return the number of views."""
        return int(self.table.count_rows())

    @_of_one_state
    def refresh(self) -> None:
        """See the latest state, whoever wrote it."""
        with storage(self.path, "reading the index"):
            table = open_views(self.path)
        self._see(table, read_header(self.path))

    @_of_one_state
    def _see(self, table: Any, header: IndexHeader) -> None:
        self.table, self.header = table, header
        self._facts.clear()

    @_of_one_state
    def _once(self, fact: object, ask: Callable[[], T]) -> T:
        """Return a fact of this state. The table is asked once, since it takes a while."""
        if fact not in self._facts:
            self._facts[fact] = ask()
        return cast(T, self._facts[fact])

    @_of_one_state
    def check_recipes(self) -> None:
        """Raise InputError where the table was restored from before a remedy of the header."""
        if not any(recipe.added > self.version for recipe in self.header.recipes):
            return
        with storage(self.path, "opening the index"):  # others may have written since
            latest = open_views(self.path).version
        if ahead := next((r for r in self.header.recipes if r.added > latest), None):
            raise InputError(
                f"says of remedy {ahead.remedy} what came with state {ahead.added}; the table of "
                f"views ends with {latest}", expected="both of one time",
                fix=f"Put {FILE} and views.lance back from one copy, or take the remedy out "
                f"(argus tune undo --index {self.path} {ahead.remedy}) and run it again.",
                where=self.path / FILE,
            )  # fmt: skip

    @_of_one_state
    def remedies(self) -> list[RemedyViews]:
        """Return the remedies whose views are in the index, in the order in which they came."""
        import pyarrow.compute as pc

        rows = self._rows("remedy != ''", ["remedy", "doc_id", "text", "added"])
        rows = rows.append_column("bytes", pc.add(pc.binary_length(rows["text"]), 4 * self.dim))
        sums = rows.group_by("remedy").aggregate(
            [("doc_id", "count"), ("doc_id", "count_distinct"), ("bytes", "sum"), ("added", "max")]
        )
        names = ("remedy", "doc_id_count", "doc_id_count_distinct", "bytes_sum", "added_max")
        rows = sums.select(names).to_pylist()
        there = {row["remedy"]: RemedyViews(*row.values()) for row in rows}
        for recipe in self.header.recipes:  # a remedy may have no view
            found = there.get(recipe.remedy, RemedyViews(recipe.remedy, 0, 0, 0, 0))
            there[recipe.remedy] = replace(found, added=max(found.added, recipe.added))
        return sorted(there.values(), key=lambda r: (r.added, r.id))

    def _remedy(self, remedy: str) -> RemedyViews:
        known = {r.id: r for r in self.remedies()}
        if remedy not in known:
            got = f"unknown remedy {remedy!r}"
            expected = f"one of {', '.join(known)}" if known else "a remedy; there is none"
            raise InputError(got, expected=expected, fix="Check the id.", where=self.path)
        return known[remedy]

    def views_of(self, doc_ids: Iterable[str]) -> dict[str, list[View]]:
        """Return the views of several documents, read at once. Unknown ones are left out."""
        views: dict[str, list[View]] = {}
        if ids := sorted(set(listed(doc_ids))):
            for view in rows_to_views(self._rows(f"doc_id IN ({quoted(ids)})", COLUMNS)):
                views.setdefault(view.doc_id, []).append(view)
        return views

    @_of_one_state
    def condition(self, as_of: str | None) -> str | None:
        """Return the SQL condition of a state, None for everything.

        A remedy: the views still present of its moment. "before:REMEDY": the same documents,
        without views of the remedy. Deleted documents and views that were rolled back are in no
        state. Raises InputError for a remedy that is not there.
        """
        if as_of is None:
            return None
        if as_of == ORIGINAL:
            return "remedy = ''"
        remedy = self._remedy(as_of.removeprefix(BEFORE))
        own = f" AND remedy != {quoted([remedy.id])}" if as_of.startswith(BEFORE) else ""
        return f"added <= {remedy.added}{own}"

    def _state(self, as_of: str | None) -> object:
        """Return a key of the state's content."""
        return self.made, self.version, as_of, self.header.recipes

    @_of_one_state
    def recipe(self, as_of: str | None = None) -> ActiveRecipe:
        """Return the settings of search in a state. Errors are as for `condition`."""
        key = self._state(as_of)
        if self._recipe is None or self._recipe[0] != key:
            self.check_recipes()
            recipes = [
                recipe
                for recipe in self.header.recipes  # λ counts while its remedy has any view
                if recipe.weight is None or self._has_rows(f"remedy = {quoted([recipe.remedy])}")
            ]
            if as_of == ORIGINAL:
                recipes = []
            elif as_of is not None:
                last = self._remedy(as_of.removeprefix(BEFORE))
                own = last.id if as_of.startswith(BEFORE) else None
                recipes = [r for r in recipes if r.added <= last.added and r.remedy != own]
            self._recipe = (key, ActiveRecipe.of(recipes, self.path, self.dim))
        return self._recipe[1]

    def weight(self, as_of: str | None = None) -> float:
        """Return λ of a state: a remedy's, else 0.7."""
        weight = self.recipe(as_of).weight
        return RELEVANCE_WEIGHT if weight is None else weight

    def _searched(self, as_of: str | None) -> str | None:
        """Return the condition of the views that are searched: sentences only under a blend."""
        recipe, kind = self.recipe(as_of), f"kind != {quoted([SENTENCE])}"
        if recipe.sentences_of:
            kind += f" OR remedy IN ({quoted(recipe.sentences_of)})"
        state = self._once(("state", as_of), lambda: self.condition(as_of))
        return conjoined(state, f"({kind})")

    @_of_one_state
    def snapshot(self, as_of: str | None = None) -> Snapshot:
        """Read a state into memory. The last one read stays there until the index changes.

        as_of: None (now), "original" (no remedy's views), a remedy (right after it), or
        "before:REMEDY" (that, less its own views). Memory: the vectors once, and the texts.
        """
        key = self._state(as_of)
        if self._snapshot is None or self._snapshot[0] != key:
            self._snapshot = None  # before reading, so that two are never held
            self._snapshot = (key, self._read(as_of))
        return self._snapshot[1]

    @_of_one_state
    def unsmoothed(self, as_of: str | None = None) -> Snapshot:
        """Read a state as `snapshot` does, with vectors as they were before smoothing."""
        return self._read(as_of, smooth=False)

    def _read(self, as_of: str | None, *, smooth: bool = True) -> Snapshot:
        condition, recipe = self._searched(as_of), self.recipe(as_of)
        rows = self._rows(condition, COLUMNS).combine_chunks()
        rows = rows.sort_by([("doc_id", "ascending"), ("id", "ascending")]).combine_chunks()
        with storage(self.path, "reading vectors"):
            query = select(self.table, condition, ["id", "vector"])
            vectors = read_vectors(self.path, query, rows, dim=self.dim, unit=self.header.unit)
        if smooth and recipe.numbers is not None:
            recipe.numbers.smooth(rows, vectors)
        return recipe.over(rows, vectors)

    @_of_one_state
    def rows(self, as_of: str | None = None) -> Any:
        """Return a state's views as an Arrow table of COLUMNS, without vectors, in no order."""
        return self._rows(self.condition(as_of), COLUMNS)

    @_of_one_state
    def texts(
        self, as_of: str | None = None, *, without: Sequence[str] = ()
    ) -> dict[str, list[str]]:
        """Return the `id`, `doc_id` and `text` of a state's views, in no order.

        without: kinds of views to leave out.
        """
        names, condition = ("id", "doc_id", "text"), self.condition(as_of)
        if without:
            condition = conjoined(condition, f"kind NOT IN ({quoted(without)})")
        rows = self._rows(condition, names)
        return {name: rows[name].to_pylist() for name in names}

    @_of_one_state
    def holds(self, kind: str, as_of: str | None = None) -> bool:
        """Return whether a state has any view of a kind. Nothing is read into memory."""
        return self._has_rows(conjoined(self.condition(as_of), f"kind = {quoted([kind])}"))

    def _has_rows(self, condition: str) -> bool:
        with storage(self.path, "reading the index"):
            return bool(self._once(("rows", condition), lambda: self.table.count_rows(condition)))

    def has_ann(self) -> bool:
        """Return whether there is an approximate index."""
        with storage(self.path, "reading the index"):
            return self._once("ann", lambda: has_ann(self.table))

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
        not already in memory (`argus.indexes.table`). weight: λ of documents against their
        scenarios. None: as the index says, else 0.7.
        """
        queries = check_queries(queries, self.dim)
        check_k(k)
        with self.lock:
            weight = self.weight(as_of) if weight is None else check_weight(weight)
            if exact is None:
                is_read = self._snapshot is not None and self._snapshot[0] == self._state(as_of)
                exact = is_read or not self.has_ann()
            snapshot = self.snapshot(as_of) if exact else None
            table, condition, recipe = self.table, self._searched(as_of), self.recipe(as_of)
        if snapshot is not None:  # without the lock: threads search at the same time
            return snapshot.search(queries, k, weight)
        with storage(self.path, "searching the index"):
            return approximate_search(table, queries, k, condition, weight, recipe)

    def _rows(self, condition: str | None, columns: Sequence[str]) -> Any:
        with storage(self.path, "reading the index"):
            return select(self.table, condition, columns).to_arrow()

    def add(self, views: Iterable[View], vectors: FloatArray, remedy: str = "") -> int:
        """Add views with their vectors in one commit. Return their number.

        vectors: (n_views, dim) float32, unit rows where the encoder ranks by cosine. remedy: the id
        under which `rollback` removes them. Views of a remedy must belong to documents that are in
        the index. Raises InputError, and changes nothing, for taken ids, wrong vectors, unknown
        documents and a malformed remedy id.
        """
        views = list(views)
        return self.add_batches([(views, vectors)] if views else [], remedy)

    def add_batches(self, batches: Iterable[Batch], remedy: str = "") -> int:
        """Add any number of (views, vectors) batches in one commit, one batch in memory at a time.

        Conditions and errors are as for `add`. An error that `batches` raises leaves nothing
        behind.
        """
        import pyarrow as pa

        check_remedy_id(remedy)
        with self._writing():
            self.refresh()
            before, errors = len(self), list[Exception]()

            def rows() -> Iterator[Any]:
                try:
                    yield from self._checked(batches, remedy)
                    self._check_is_the_same()  # before the commit
                except Exception as error:  # which LanceDB reports as text
                    errors.append(error)
                    raise

            try:
                with self._changing("adding views") as table:
                    table.add(pa.RecordBatchReader.from_batches(schema(self.dim), rows()))
            except Exception:
                if errors:
                    raise errors[0] from None
                self._check_is_the_same()
                raise
            return len(self) - before

    def _checked(self, batches: Iterable[Batch], remedy: str) -> Iterator[Any]:
        """Yield batches as rows of the table. Raises InputError for what may not enter."""
        added, columns = self.version + 1, self._rows(None, ["id", "doc_id"])
        taken = set(columns["id"].to_pylist())
        documents = set(columns["doc_id"].to_pylist()) if remedy else set()
        for views, vectors in batches:
            ids = Counter(view.id for view in views)
            if twice := sorted({i for i, n in ids.items() if n > 1 or i in taken}):
                got = f"{len(twice)} view ids are already taken: {list_some(twice)}"
                fix = "Delete the document or roll the remedy back first, or give other ids."
                raise InputError(got, expected="one view per id", fix=fix)
            if any(not view.id or not view.doc_id for view in views):
                got = "a view without id or doc_id"
                raise InputError(got, expected="both", fix="Name the view and its document.")
            taken.update(ids)
            if remedy and (unknown := sorted({v.doc_id for v in views} - documents)):
                raise unknown_documents(unknown)
            yield record_batch(views, vectors, self.header, remedy, added)

    def _check_is_the_same(self) -> None:
        if read_header(self.path).made != self.header.made:
            raise replaced(self.path)

    def delete_documents(self, ids: Iterable[str]) -> int:
        """Remove all views of these documents in one commit. Return the number of views.

        They leave every state, earlier ones too. Raises InputError, and changes nothing, for
        unknown ids and for one text in place of several.
        """
        doc_ids = set(listed(ids))
        with self._writing():
            self.refresh()
            if unknown := sorted(doc_ids - set(self._rows(None, ["doc_id"])["doc_id"].to_pylist())):
                raise unknown_documents(unknown)
            return self._delete(f"doc_id IN ({quoted(sorted(doc_ids))})") if doc_ids else 0

    def rollback(self, remedy: str) -> int:
        """Remove exactly the views that `remedy` added, in one commit. Return their number.

        Raises InputError listing the remedies there are when it is none of them.
        """
        with self._writing(checks=False):
            self.refresh()
            self._remedy(remedy)
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
        """Set how this index is searched from now on, by a remedy.

        Its numbers must lie in `remedies/ID/` already. weight: λ of documents against their
        scenarios, for searches that name none. relied_on: remedies that hold sentences of its
        blend. An earlier recipe of the same remedy is replaced, in its place among the others. An
        equal one changes nothing.
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
            build_ann(table)

    def compact(self, kept: timedelta = KEPT) -> None:
        """Free the space of deleted and rolled-back views, and merge small files.

        kept: handles that were opened longer ago, and not refreshed since the index changed, can
        no longer read. An approximate index is built anew, over all vectors.
        """
        with self._writing(), self._changing("compacting the index") as table:
            compact(table, kept)
            if has_ann(table):
                build_ann(table)
                compact(table, kept)  # the files of the older one

    @contextmanager
    def _writing(self, *, checks: bool = True) -> Iterator[None]:
        """Hold the lock of writers. checks: refuse recipes that are newer than the table."""
        with writing(self.path):
            if checks:
                self.check_recipes()
            yield

    @contextmanager
    def _changing(self, doing: str) -> Iterator[Any]:
        """Give the table to change. Whatever happens, this handle sees the state after it.

        Threads that read meanwhile go on in the state before.
        """
        with storage(self.path, doing):
            table = open_views(self.path)
            try:
                yield table
            finally:
                self._see(table, self.header)


def check_remedy_id(remedy: str) -> None:
    """Raise InputError unless `remedy` is "" or can stand in INDEX@REMEDY."""
    if remedy and (not REMEDY_ID.fullmatch(remedy) or remedy == ORIGINAL):
        expected = f"letters, digits, '.', '_' and '-', and not {ORIGINAL!r}"
        raise InputError(f"remedy id {remedy!r}", expected=expected, fix="For example expand-1.")


def served(views: Sequence[View]) -> View:
    """Return the original among one document's views. Raises InputError where there is none."""
    original = next((view for view in views if view.kind == ORIGINAL), None)
    if original is None:
        got = f"document {views[0].doc_id!r} has no view of kind {ORIGINAL!r}"
        expected = "one original view per document"
        raise InputError(got, expected=expected, fix="Add the document's own text to the index.")
    return original


def originals(index: ViewIndex) -> list[Document]:
    """Return the documents of an index, ordered by id.

    Their content is exactly the text that is indexed. The title is the one that the index holds,
    none where that does not begin the text. `metadata["added"]` is the number of the commit that a
    document came with. Raises NothingMeasured where the index holds no document's own text.
    """
    rows = sorted(index.rows(ORIGINAL).to_pylist(), key=lambda row: (row["doc_id"], row["id"]))
    documents = [
        titled(Document(row["doc_id"], row["text"], row["source"], {"added": row["added"]}))
        for row in rows
        if row["kind"] == ORIGINAL
    ]
    if not documents:
        raise NothingMeasured("document has its own text in the index", "Build it again.")
    return documents


def titled(document: Document) -> Document:
    """Return a document without its title where its text does not begin with it.

    Then `content`, which puts a title in front of a text that lacks it, is the text.
    """
    return document if document.content == document.text else replace(document, title="")


@dataclass(frozen=True)
class NewViews:
    """Views of a remedy that an index lacks, and reasons why others are left out.

    known: views whose document has a view with the same text already. beyond: views of documents
    that have as many views of their kind as they may have. relied_on: remedies that hold views in
    place of those left out.
    """

    views: list[View]
    known: int
    beyond: int
    relied_on: list[str]


def new_views(
    views: Sequence[View], index: ViewIndex, remedy: str, most: int | None = None
) -> NewViews:
    """Sort the views of a remedy into those to add and those to leave out.

    No text enters an index twice for one document. Views that the index has of this remedy itself
    are left out without being counted. most: most views of one kind that a document may have,
    those in the index included. The first ones are added. Equal texts among `views` all stay.
    """
    rows = index.rows()
    names = ("doc_id", "text", "kind", "remedy")
    there = list(zip(*(rows[name].to_pylist() for name in names), strict=True))
    holders = {(doc_id, text): remedy for doc_id, text, _, remedy in there}
    counts = Counter((doc_id, kind) for doc_id, _, kind, _ in there)
    lacking = [view for view in views if (view.doc_id, view.text) not in holders]
    new: list[View] = []
    full: set[tuple[str, str]] = set()
    for view in lacking:
        place = (view.doc_id, view.kind)
        if most is not None and counts[place] >= most:
            full.add(place)
            continue
        counts[place] += 1
        new.append(view)
    by = [holders[key] for v in views if (key := (v.doc_id, v.text)) in holders]
    known = [holder for holder in by if holder != remedy]
    relied = {*known, *(of for doc_id, _, kind, of in there if (doc_id, kind) in full)}
    beyond = len(lacking) - len(new)
    return NewViews(new, len(known), beyond, sorted(relied - {"", remedy}))


@dataclass(frozen=True, slots=True)
class ViewScenario:
    """The scenario behind a view, as a person or a language model is shown it."""

    main_topic: str
    information_need: str
    explanation: str


def matched_scenario(view: View) -> ViewScenario:
    """Return the scenario in a view's source. Without one, its text is the explanation."""
    try:
        source = parse_json(view.source)
        parts = [source[name] for name in ViewScenario.__slots__]
    except (ValueError, KeyError, TypeError):
        parts = []
    if not parts or not all(isinstance(part, str) for part in parts):
        return ViewScenario("", "", view.text)
    return ViewScenario(*parts)
