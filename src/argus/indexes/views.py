"""Store the indexed texts of documents (views) with their vectors on disk: add, delete, roll back.

An index is one folder: `index.json` (`argus.indexes.header`) and `views.db`, a SQLite file. `argus
index` and `argus tune apply` write it, and a search reads a state into `argus.indexes.snapshot`.
Every `add`, `delete_documents` and `rollback` is one commit with a number, so a process killed at
any moment leaves the state before it or after it. One process writes at a time (a second one gets
an ArgusError). Any number may read. Each handle sees the state at which it opened the index, last
wrote to it or called `refresh`, until `compact` removes that state. Several threads may use one
handle: each answer is of one state.

A row says with which commit it came (`added`) and with which it went (`gone`), so a state is a
condition on rows. Rows of a commit that never ended are seen by nobody, and the next writer removes
them. What went stays in the file until `compact`.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

import numpy as np

from argus.data.documents import listed
from argus.data.reading import is_of_reader, parse_json
from argus.data.types import Document, FloatArray, View
from argus.data.writing import (
    MAX_WAIT_S,
    check_plain,
    check_plain_folder,
    connect,
    remove_leftovers,
    take_lock,
)
from argus.encoders.protocol import usable
from argus.errors import ArgusError, InputError, NothingMeasured
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

NAME = "views.db"
# `as_of` this and a remedy's id: the state right after the remedy, without its own views.
BEFORE = "before:"
REMEDY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
COLUMNS = [*NAMES, "remedy", "added"]
TABLES = """
PRAGMA page_size = 16384;
CREATE TABLE views (
    id TEXT NOT NULL, doc_id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    source TEXT NOT NULL, remedy TEXT NOT NULL, added INTEGER NOT NULL, gone INTEGER,
    vector BLOB NOT NULL
);
CREATE INDEX documents ON views (doc_id);
CREATE TABLE commits (version INTEGER PRIMARY KEY, made TEXT NOT NULL);
"""
READ_ROWS = 8192
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
    things of one state. A writer, or `refresh`, waits for it.
    """

    def __init__(self, path: Path, header: IndexHeader, version: int) -> None:
        self.path = path
        self.lock = RLock()
        self._snapshot: tuple[object, Snapshot] | None = None  # the last one, by its state
        self._recipe: tuple[object, ActiveRecipe] | None = None
        self._see(version, header)

    @classmethod
    def create(cls, path: Path | str, **settings: Any) -> ViewIndex:
        """Make an empty index in a new folder, or in one that holds no index yet.

        settings: fields of `IndexHeader`: fingerprint and dim at least, and encoder, so that a
        later command can load it. Raises InputError where there is an index already, or the folder
        cannot be made.
        """
        path = Path(path)
        if (path / FILE).exists():
            fix = "Add to it, give another folder, or start over with --fresh."
            got = "holds an index already"
            raise InputError(got, expected="a new folder", fix=fix, where=path)
        header = IndexHeader(**{**settings, "made": uuid4().hex})
        with writing(path), storage(path, "making the index"):
            for ending in ("", "-journal"):  # of a build that was killed
                (path / (NAME + ending)).unlink(missing_ok=True)
            with closing(connect(path / NAME)) as file:
                file.executescript(TABLES)
                file.execute("INSERT INTO commits VALUES (1, ?)", [header.made])
                file.commit()
            write_header(path, header)
        return cls(path, header, 1)

    @classmethod
    def open(cls, path: Path | str) -> ViewIndex:
        """Open an index. Reading needs no right to write.

        Raises InputError for a folder that is no index.
        """
        index = cls(Path(path), read_header(Path(path)), 0)
        index.refresh()
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

    def __len__(self) -> int:
        """Return the number of views."""
        return int(self._rows(None, ["rowid"]).num_rows)

    def refresh(self) -> None:
        """See the latest state, whoever wrote it."""
        with storage(self.path, "opening the index"), open_views(self.path) as file:
            (version,) = file.execute("SELECT max(version) FROM commits").fetchone()
            self._see(int(version), read_header(self.path))  # read last: recipes count on

    def _see(self, version: int, header: IndexHeader) -> None:
        with self.lock:
            self.version, self.header = version, header

    def remedies(self) -> list[RemedyViews]:
        """Return the remedies whose views are in the index, in the order in which they came."""
        query = (
            "SELECT remedy, count(*), count(DISTINCT doc_id), "
            f"sum(length(CAST(text AS BLOB)) + {4 * self.dim}), max(added) FROM views "
            f"WHERE {self._seen('remedy != ' + quoted(['']))} GROUP BY remedy"
        )
        with self._reading() as file:
            there = {row[0]: RemedyViews(*row) for row in file.execute(query)}
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

    def _seen(self, condition: str | None = None) -> str:
        """Return the SQL condition of the rows that this handle sees, of a state's."""
        of = f" AND ({condition})" if condition else ""
        return f"added <= {self.version} AND (gone IS NULL OR gone > {self.version}){of}"

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
        recipe = self.recipe(as_of)
        condition = f"(kind NOT IN ({quoted([SENTENCE, TEXT])})"
        if recipe.sentences_of:
            condition += f" OR remedy IN ({quoted(recipe.sentences_of)})"
        state = self.condition(as_of)
        condition = f"{condition})" if state is None else f"({state}) AND {condition})"
        rows = self._rows(condition, ["rowid", *COLUMNS], "ORDER BY doc_id, id")
        places = np.argsort(rows["rowid"].to_numpy())  # of the vectors, in the file's order
        vectors = np.zeros((len(places), self.dim), np.float32)
        with self._reading() as file:
            query = f"SELECT vector FROM views WHERE {self._seen(condition)} ORDER BY rowid"
            cursor = file.execute(query)
            for start in range(0, len(places), READ_ROWS):
                blobs = b"".join(blob for (blob,) in cursor.fetchmany(READ_ROWS))
                part = places[start : start + READ_ROWS]
                vectors[part] = np.frombuffer(blobs, "<f4").reshape(len(part), self.dim)
        return Snapshot(rows.drop_columns("rowid").combine_chunks(), vectors, recipe.blend)

    def rows(self, as_of: str | None = None) -> Any:
        """Return a state's views as an Arrow table of COLUMNS, without vectors, in no order."""
        with self.lock:
            return self._rows(self.condition(as_of), COLUMNS)

    def _rows(self, condition: str | None, columns: Sequence[str], order: str = "") -> Any:
        import pyarrow as pa

        types = {n: pa.int64() if n in {"rowid", "added"} else pa.string() for n in columns}
        schema = pa.schema(types)
        query = f"SELECT {', '.join(columns)} FROM views WHERE {self._seen(condition)} {order}"
        with self._reading() as file:
            cursor = file.execute(query)
            parts = iter(lambda: [*zip(*cursor.fetchmany(READ_ROWS), strict=True)], [])
            arrays = (list(map(pa.array, part, types.values())) for part in parts)
            return pa.Table.from_batches((pa.record_batch(a, schema) for a in arrays), schema)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give the file, in which nothing changes meanwhile."""
        with storage(self.path, "reading the index"), open_views(self.path) as file:
            file.execute("BEGIN")
            query = "SELECT min(version) FROM commits WHERE made = ?"
            (oldest,) = file.execute(query, [self.made]).fetchone()
            if oldest is None or oldest > self.version:
                raise ValueError("it was compacted or made anew; open it again")
            yield file

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
        check_remedy_id(remedy)
        with self._writing():
            version, n = self.version + 1, 0
            for views, vectors in self._checked(batches, remedy):
                n += len(views)
                rows = (
                    (v.id, v.doc_id, v.kind, v.text, v.source, remedy, version, None, bytes(vector))
                    for v, vector in zip(views, vectors, strict=True)
                )
                with self._changing("adding views") as file:
                    file.executemany("INSERT INTO views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            with self._changing("adding views", commits=True):
                return n

    def _checked(self, batches: Iterable[Batch], remedy: str) -> Iterator[Batch]:
        """Yield batches as they are stored. Raises InputError for what may not enter."""
        columns = self._rows(None, ["id", "doc_id"])
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
            vectors, unit = np.asarray(vectors, "<f4"), self.header.unit
            if vectors.shape != (len(views), self.dim):
                got = f"vectors of shape {vectors.shape} for {len(views)} views"
                expected = (
                    f"{(len(views), self.dim)}: a row per view, of the dimension of the index"
                )
                fix = "Embed the views with the encoder that the index names."
                raise InputError(got, expected=expected, fix=fix)
            if len(wrong := np.flatnonzero(~usable(vectors, unit=unit))):
                norm = np.linalg.norm(vectors[wrong[0]])
                bad = f"of length {norm:.4g}" if np.isfinite(norm) else "not finite"
                got = f"{len(wrong)} of {len(views)} vectors cannot be searched"
                raise InputError(
                    f"{got}: row {wrong[0]} is {bad}",
                    expected=f"finite vectors {'of length 1' if unit else 'that are not zero'}",
                    fix="Scale them, and leave out what could not be embedded.",
                )
            yield views, vectors

    def delete_documents(self, ids: Iterable[str]) -> int:
        """Remove all views of these documents in one commit. Return the number of views.

        They leave every state, earlier ones too. Raises InputError, and changes nothing, for
        unknown ids and for one text in place of several.
        """
        doc_ids = set(listed(ids))
        with self._writing():
            if unknown := sorted(doc_ids - set(self._rows(None, ["doc_id"])["doc_id"].to_pylist())):
                raise unknown_documents(unknown)
            return self._delete("doc_id", sorted(doc_ids)) if doc_ids else 0

    def rollback(self, remedy: str) -> int:
        """Remove exactly the views that `remedy` added, in one commit. Return their number.

        Raises InputError listing the remedies there are when it is none of them.
        """
        with self._writing():
            views = self._remedy(remedy).views
            removed = self._delete("remedy", [remedy]) if views else 0
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
        with self._writing():
            recipe = Recipe(remedy, 0, blend, corrects, weight, tuple(relied_on))
            there = {r.remedy: r for r in self.header.recipes}
            if remedy in there and replace(there[remedy], added=0) == recipe:
                return
            self._delete("remedy", [])  # a commit that changes no row: the state has a new number
            added = there[remedy].added if remedy in there else self.version
            there[remedy] = replace(recipe, added=added)
            self._write_recipes([*there.values()])

    def _write_recipes(self, recipes: Sequence[Recipe]) -> None:
        header = replace(self.header, recipes=tuple(recipes))
        write_header(self.path, header)
        self._see(self.version, header)

    def _delete(self, column: str, values: Sequence[str]) -> int:
        update = f"UPDATE views SET gone = ? WHERE gone IS NULL AND {column} = ?"
        with self._changing("deleting views", commits=True) as file:
            before = file.total_changes
            file.executemany(update, ((self.version + 1, value) for value in values))
            return file.total_changes - before

    def compact(self) -> None:
        """Free the space of deleted and rolled-back views.

        Handles that see an earlier state can no longer read until they are refreshed.
        """
        with self._writing():
            with self._changing("compacting the index") as file:
                latest = [self.version]
                file.execute("DELETE FROM views WHERE gone <= ?", latest)
                file.execute("DELETE FROM commits WHERE version < ?", latest)
            with storage(self.path, "compacting the index"), open_views(self.path) as file:
                file.execute("VACUUM")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write alone, from the latest state, without rows of a commit that never ended."""
        with writing(self.path):
            self.refresh()
            with self._changing("removing what a killed run left") as file:
                file.execute("DELETE FROM views WHERE added > ?", [self.version])
            yield

    @contextmanager
    def _changing(self, doing: str, *, commits: bool = False) -> Iterator[sqlite3.Connection]:
        """Give the file to change, all of it or nothing. commits: this handle sees it, and others.

        Threads that read meanwhile go on in the state before.
        """
        with storage(self.path, doing), open_views(self.path) as file:
            file.execute("BEGIN IMMEDIATE")
            yield file
            version = self.version + commits
            if commits:
                file.execute("INSERT INTO commits VALUES (?, ?)", [version, self.made])
            file.execute("COMMIT")
        self._see(version, self.header)


@contextmanager
def open_views(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file of an index, and close it. Raises FileNotFoundError where there is none."""
    if not (path / NAME).is_file():  # SQLite would make one
        raise FileNotFoundError(f"{NAME} is missing")
    with closing(connect(path / NAME, timeout=MAX_WAIT_S, isolation_level=None)) as file:
        yield file


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold an index's lock; make its folder. Raises ArgusError while another run writes to it.

    The holder writes alone, so half-written files of killed writers and remedies are removed.
    """
    again = "wait for it and run this again. Nothing was changed."
    busy = f"{path} is being written to by another run; {again}"
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
        check_plain_folder(path / REMEDIES)
        for home in (path / REMEDIES).glob("*"):
            remove_leftovers(home)
        yield


@contextmanager
def storage(path: Path, doing: str) -> Iterator[None]:
    """Turn errors of SQLite, and of its rows, into an ArgusError with the path."""
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
        Document(row["doc_id"], row["text"], row["source"], {"added": row["added"]})
        for row in rows
        if row["kind"] == ORIGINAL
    ]
    if not documents:
        raise NothingMeasured("document has its own text in the index", "Build it again.")
    # `content` puts a title in front of a text that lacks it
    return [d if d.content == d.text else replace(d, title="") for d in documents]


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
