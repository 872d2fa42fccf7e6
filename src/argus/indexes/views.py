"""Store the indexed texts of documents (views) with their vectors on disk: add, delete, roll back.

An index is one folder: `index.json` (`argus.indexes.header`) and a LanceDB table. `argus index` and
`argus tune apply` write it, and a search reads a state into `argus.indexes.snapshot`. Every `add`,
`delete_documents` and `rollback` is one commit of the table, so a process killed at any moment
leaves the state before it or after it. One process writes at a time (a second one gets an
ArgusError). Any number may read. Each handle sees the state at which it opened the index, last
wrote to it or called `refresh`, until `compact` removes that state. Several threads may use one
handle: each answer is of one state.

No state of an index is a version of the table (`as_of` and `rollback` read the columns `added` and
`remedy`), so versions serve readers alone. LanceDB keeps the files of each, deleted rows among
them, until `compact` removes it.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

import numpy as np

from argus.data.documents import listed
from argus.data.reading import is_of_reader, parse_json
from argus.data.types import Document, FloatArray, View
from argus.data.writing import check_plain, check_plain_folder, remove_leftovers, take_lock
from argus.encoders.protocol import usable
from argus.errors import ArgusError, InputError, NothingMeasured
from argus.extras import naming_extras
from argus.indexes.blend import (
    RELEVANCE_WEIGHT,
    REMEDIES,
    SENTENCE,
    TEXT,
    Blend,
    Recipe,
    check_weight,
)
from argus.indexes.fold import ORIGINAL, TopDocuments
from argus.indexes.header import FILE, IndexHeader, read_header, write_header
from argus.indexes.recipe import ActiveRecipe
from argus.indexes.snapshot import NAMES, Snapshot, list_some, unknown_documents

NAME = "views"
# `as_of` this and a remedy's id: the state right after the remedy, without its own views.
BEFORE = "before:"
REMEDY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
COLUMNS = [*NAMES, "remedy", "added"]
READ_ROWS = 8192
# Age of the versions that `compact` leaves to those who have them open, and least age.
KEPT, MIN_AGE = timedelta(hours=1), timedelta(milliseconds=1)
Batch = tuple[Sequence[View], FloatArray]


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


class ViewIndex:
    """Views and vectors on disk. Make one with `ViewIndex.create` or `ViewIndex.open`.

    version: number of the state that this handle sees. Every change makes a larger one. An index
    that is made anew (`made` says so) begins again. lock: held by a thread that reads several
    things of one state. `table` is of one version for ever: a writer, or `refresh`, replaces it,
    and waits for this lock.
    """

    def __init__(self, path: Path, header: IndexHeader, table: Any) -> None:
        self.path = path
        self.lock = RLock()
        self._snapshot: tuple[object, Snapshot] | None = None  # the last one, by its state
        self._recipe: tuple[object, ActiveRecipe] | None = None
        self._see(table, header)

    @classmethod
    def create(cls, path: Path | str, **settings: Any) -> ViewIndex:
        """Make an empty index in a new folder, or in one that holds no index yet.

        settings: fields of `IndexHeader`: fingerprint and dim at least, and encoder, so that a
        later command can load it. Raises InputError where there is an index already, or the folder
        cannot be made.
        """
        import pyarrow as pa

        path = Path(path)
        if (path / FILE).exists():
            fix = "Add to it, give another folder, or start over with --fresh."
            got = "holds an index already"
            raise InputError(got, expected="a new folder", fix=fix, where=path)
        header = IndexHeader(**{**settings, "made": uuid4().hex})
        fields = [pa.field(name, pa.string(), nullable=False) for name in (*NAMES, "remedy")]
        fields.append(pa.field("added", pa.int64(), nullable=False))
        fields.append(pa.field("vector", pa.list_(pa.float32(), header.dim), nullable=False))
        with writing(path), storage(path, "making the index"):
            mode = "overwrite" if (path / f"{NAME}.lance").exists() else "create"
            database = import_lancedb().connect(path)
            table = database.create_table(NAME, schema=pa.schema(fields), mode=mode)
            write_header(path, header)
        return cls(path, header, table)

    @classmethod
    def open(cls, path: Path | str) -> ViewIndex:
        """Open an index. Reading needs no right to write.

        Raises InputError for a folder that is no index.
        """
        path = Path(path)
        read_header(path)
        table = open_table(path, "opening the index")
        return cls(path, read_header(path), table)  # after the table: recipes count in later states

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

    def __len__(self) -> int:
        """Return the number of views."""
        return int(self.table.count_rows())

    def refresh(self) -> None:
        """See the latest state, whoever wrote it."""
        table = open_table(self.path, "reading the index")
        self._see(table, read_header(self.path))

    def _see(self, table: Any, header: IndexHeader) -> None:
        with self.lock:
            self.table, self.header, self.version = table, header, int(table.version)

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

    def recipe(self, as_of: str | None = None) -> ActiveRecipe:
        """Return the settings of search in a state. Errors are as for `condition`."""
        with self.lock:
            key = self._state(as_of)
            if self._recipe is None or self._recipe[0] != key:
                recipes = list(self.header.recipes)
                if any(recipe.weight is not None for recipe in recipes):
                    with_views = {remedy.id for remedy in self.remedies() if remedy.views}
                    # λ counts while its remedy has any view
                    recipes = [r for r in recipes if r.weight is None or r.remedy in with_views]
                if as_of == ORIGINAL:
                    recipes = []
                elif as_of is not None:
                    last = self._remedy(as_of.removeprefix(BEFORE))
                    own = last.id if as_of.startswith(BEFORE) else None
                    recipes = [r for r in recipes if r.added <= last.added and r.remedy != own]
                self._recipe = (key, ActiveRecipe.of(recipes, self.path))
            return self._recipe[1]

    def weight(self, as_of: str | None = None) -> float:
        """Return λ of a state: a remedy's, else 0.7."""
        weight = self.recipe(as_of).weight
        return RELEVANCE_WEIGHT if weight is None else weight

    def snapshot(self, as_of: str | None = None) -> Snapshot:
        """Read a state into memory. The last one read stays there until the index changes.

        as_of: None (now), "original" (no remedy's views), a remedy (right after it), or
        "before:REMEDY" (that, less its own views). Memory: the vectors once, and the texts.
        """
        with self.lock:
            key = self._state(as_of)
            if self._snapshot is None or self._snapshot[0] != key:
                self._snapshot = None  # before reading, so that two are never held
                self._snapshot = (key, self._read(as_of))
            return self._snapshot[1]

    def _read(self, as_of: str | None) -> Snapshot:
        """Read the views that are searched, sentences among them only under a blend."""
        import pyarrow.compute as pc

        recipe = self.recipe(as_of)
        condition = f"(kind NOT IN ({quoted([SENTENCE, TEXT])})"
        if recipe.sentences_of:
            condition += f" OR remedy IN ({quoted(recipe.sentences_of)})"
        state = self.condition(as_of)
        condition = f"{condition})" if state is None else f"({state}) AND {condition})"
        rows = self._rows(condition, COLUMNS).combine_chunks()
        rows = rows.sort_by([("doc_id", "ascending"), ("id", "ascending")]).combine_chunks()
        vectors = np.zeros((rows.num_rows, self.dim), np.float32)
        with storage(self.path, "reading vectors"):
            query = self.table.search().select(["id", "vector"]).where(condition)
            for batch in query.to_batches(READ_ROWS):
                places = pc.index_in(batch["id"], value_set=rows["id"]).to_numpy()
                flat = pc.list_flatten(batch["vector"]).to_numpy()
                vectors[places] = flat.reshape(-1, self.dim)
        return Snapshot(rows, vectors, recipe.blend)

    def rows(self, as_of: str | None = None) -> Any:
        """Return a state's views as an Arrow table of COLUMNS, without vectors, in no order."""
        with self.lock:
            return self._rows(self.condition(as_of), COLUMNS)

    def _rows(self, condition: str | None, columns: Sequence[str]) -> Any:
        with storage(self.path, "reading the index"):
            query = self.table.search().select(list(columns))
            return (query.where(condition) if condition else query).to_arrow()

    def search(
        self, queries: FloatArray, k: int, as_of: str | None = None, *, weight: float | None = None
    ) -> TopDocuments:
        """Return the k best documents of each query (`argus.indexes.fold`), ties by id.

        weight: λ of documents against their scenarios. None: as the index says, else 0.7.
        """
        with self.lock:
            weight = self.weight(as_of) if weight is None else weight
            snapshot = self.snapshot(as_of)
        return snapshot.search(queries, k, weight)  # threads search at the same time

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
        with writing(self.path):
            self.refresh()
            before, errors = len(self), list[Exception]()

            def rows() -> Iterator[Any]:
                try:
                    yield from self._checked(batches, remedy)
                except Exception as error:  # which LanceDB reports as text
                    errors.append(error)
                    raise

            try:
                with self._changing("adding views") as table:
                    table.add(pa.RecordBatchReader.from_batches(table.schema, rows()))
            except Exception:
                if errors:
                    raise errors[0] from None
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
            taken.update(ids)
            if remedy and (unknown := sorted({v.doc_id for v in views} - documents)):
                raise unknown_documents(unknown)
            yield self._record_batch(views, vectors, remedy, added)

    def _record_batch(
        self, views: Sequence[View], vectors: FloatArray, remedy: str, added: int
    ) -> Any:
        """Return one Arrow batch. Raises InputError for wrong vectors."""
        import pyarrow as pa

        vectors, unit = np.asarray(vectors, np.float32), self.header.unit
        if vectors.shape != (len(views), self.dim):
            got = f"vectors of shape {vectors.shape} for {len(views)} views"
            expected = f"{(len(views), self.dim)}: a row per view, of the dimension of the index"
            fix = "Embed the views with the encoder that the index names."
            raise InputError(got, expected=expected, fix=fix)
        if len(wrong := np.flatnonzero(~usable(vectors, unit=unit))):
            norm = np.linalg.norm(vectors[wrong[0]])
            bad = f"of length {norm:.4g}" if np.isfinite(norm) else "not finite"
            raise InputError(
                f"{len(wrong)} of {len(views)} vectors cannot be searched: row {wrong[0]} is {bad}",
                expected=f"finite vectors {'of length 1' if unit else 'that are not zero'}",
                fix="Scale them, and leave out what could not be embedded.",
            )
        columns = [pa.array([getattr(v, name) for v in views], pa.string()) for name in NAMES]
        columns.append(pa.array([remedy] * len(views), pa.string()))
        columns.append(pa.array([added] * len(views), pa.int64()))
        flat = pa.array(np.ascontiguousarray(vectors).reshape(-1), pa.float32())
        columns.append(pa.FixedSizeListArray.from_arrays(flat, self.dim))
        return pa.record_batch(columns, schema=self.table.schema)

    def delete_documents(self, ids: Iterable[str]) -> int:
        """Remove all views of these documents in one commit. Return the number of views.

        They leave every state, earlier ones too. Raises InputError, and changes nothing, for
        unknown ids and for one text in place of several.
        """
        doc_ids = set(listed(ids))
        with writing(self.path):
            self.refresh()
            if unknown := sorted(doc_ids - set(self._rows(None, ["doc_id"])["doc_id"].to_pylist())):
                raise unknown_documents(unknown)
            return self._delete(f"doc_id IN ({quoted(sorted(doc_ids))})") if doc_ids else 0

    def rollback(self, remedy: str) -> int:
        """Remove exactly the views that `remedy` added, in one commit. Return their number.

        Raises InputError listing the remedies there are when it is none of them.
        """
        with writing(self.path):
            self.refresh()
            views = self._remedy(remedy).views
            removed = self._delete(f"remedy = {quoted([remedy])}") if views else 0
            self._write_recipes([r for r in self.header.recipes if r.remedy != remedy])
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

        corrects: its correction must lie in `remedies/ID/` already. weight: λ of documents against
        their scenarios, for searches that name none. relied_on: remedies that hold sentences of its
        blend. An earlier recipe of the same remedy is replaced, in its place among the others. An
        equal one changes nothing.
        """
        check_remedy_id(remedy)
        if weight is not None:
            check_weight(weight)
        with writing(self.path):
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

    def compact(self, kept: timedelta = KEPT) -> None:
        """Free the space of deleted and rolled-back views, and merge small files.

        kept: versions of the table that are older go. Handles that see one of them can no longer
        read until they are refreshed.
        """
        with writing(self.path), self._changing("compacting the index") as table:
            table.optimize(cleanup_older_than=kept or MIN_AGE)
            if not kept:  # what compaction itself replaced was too young before
                time.sleep(2 * MIN_AGE.total_seconds())
                table.optimize(cleanup_older_than=MIN_AGE)

    @contextmanager
    def _changing(self, doing: str) -> Iterator[Any]:
        """Give the table to change. Whatever happens, this handle sees the state after it.

        Threads that read meanwhile go on in the state before.
        """
        table = open_table(self.path, doing)
        try:
            with storage(self.path, doing):
                yield table
        finally:
            self._see(table, self.header)


@naming_extras()
def import_lancedb() -> Any:
    """Return the module `lancedb`. Raises MissingPackage where it is not installed."""
    import lancedb

    return lancedb


def open_table(path: Path, doing: str) -> Any:
    """Open the table of an index at its latest version. No other handle's changes are seen."""
    with storage(path, doing):
        return import_lancedb().connect(path).open_table(NAME)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold an index's lock; make its folder. Raises ArgusError while another run writes to it.

    The holder writes alone, so half-written files of killed writers and remedies are removed.
    """
    busy = (
        f"{path} is being written to by another run; wait for it and run this again. "
        "Nothing was changed."
    )
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = take_lock(path / "lock", busy=busy)
    except OSError as error:
        got = f"cannot be written ({error.strerror})"
        expected = "a folder that can be written"
        fix = "Check its owner and mode, or give another path."
        raise InputError(got, expected=expected, fix=fix, where=path) from error
    with lock:
        check_plain(path / FILE)
        for home in (path / f"{NAME}.lance", path / REMEDIES):
            check_plain_folder(home)
        for leftover in (path / f"{NAME}.lance").rglob(".tmp*"):
            with suppress(OSError):
                leftover.unlink()
        for home in (path / REMEDIES).glob("*"):
            remove_leftovers(home)
        yield


@contextmanager
def storage(path: Path, doing: str) -> Iterator[None]:
    """Turn errors of LanceDB, a panic of its Rust too, into an ArgusError with the path."""
    try:
        yield
    except BaseException as error:
        if not is_of_reader(error):
            raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ArgusError(
            f"{path}: {doing} failed ({lines[0][:300]}). The index is as it was before; mend that "
            "(space on the disk, rights, a damaged file) and run the same command again."
        ) from error


def quoted(values: Iterable[str]) -> str:
    """Return values as a SQL list: `'a', 'O''Hara'`."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


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
