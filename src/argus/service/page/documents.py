"""Show the pages of documents in `argus serve`: a table of up to a million rows, and each document.

The folder's Parquet files of several jobs are joined by document id: one row per document with its
ranks and the cause of a miss (`DocumentTable`). `Filters` choose words, band, cause and
order. The page of a document shows its views (texts indexed for it) and every row that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from argus.data.tables import read_names, read_table, read_where
from argus.data.types import IntArray, View
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import rows_to_views
from argus.service.page.indexes import Warm, index_of
from argus.service.page.rendering import DOCUMENTS, PageOf, PageRoute, Row, Rows, Values, refused

BANDS = ("low", "mid", "high")
MAX_ROWS = 100  # of each part of a document's page
CHAIN = "superseded controlling superseded_title controlling_title rule hops title_rank text_rank"
ROWS = 50  # of a page
MAX_TABLES = 16  # folders whose tables are kept


class Column(NamedTuple):
    """A column of the table of documents, and how it is shown.

    kind: text, count, share, decimals, band or flag. source: its name in its file, "" for the same.
    is_listed: whether the table shows it. A document's page shows all.
    """

    name: str
    heading: str
    kind: str
    about: str
    source: str = ""
    is_listed: bool = True


class Source(NamedTuple):
    """A Parquet file of documents.

    ids: columns of their ids; the first that is not empty counts. label: that of their titles, ""
    for none. is_unique: whether a document has one row. Else the first of them counts.
    """

    file: str
    columns: tuple[Column, ...]
    ids: tuple[str, ...] = ("id",)
    label: str = "label"
    is_unique: bool = True

    def read(self, path: Path, own: Sequence[Column]) -> pa.Table:
        """Return id, label and some columns, a row per document. Raises as `read_table`."""
        label = [self.label] if self.label else []
        wanted = dict.fromkeys([*self.ids, *label, *(c.source or c.name for c in own)])
        table = read_table(path, list(wanted), fix="Run the job again with the same --out.")
        ids = pc.coalesce(*(_filled(table[name]) for name in self.ids))
        labels = table[self.label] if self.label else pa.nulls(len(table), pa.string())
        columns = {"id": ids, "label": labels, **{c.name: table[c.source or c.name] for c in own}}
        rows = pa.table(columns).filter(pc.is_valid(ids))
        if self.is_unique:
            return rows
        codes = rows["id"].combine_chunks().dictionary_encode().indices.to_numpy()
        return rows.take(np.sort(np.unique(codes, return_index=True)[1]))


# Tables in the order in which they are joined.
SOURCES = (
    Source("exposure", (
        Column("title_rank", "Rank by title", "count", "its place where its own title is asked"),
        Column("sentence_rank", "Rank by sentence", "decimals",
               "its place where a sentence of its own is asked"),
        Column("by_own", "By its own", "count", "its title and sentences that bring it back",
               "retrieved_by_own"),
        Column("by_others", "By others", "count", "texts of other documents that bring it, too",
               "retrieved_by_others"),
        Column("never", "Never back", "flag", "nothing that was asked brought it",
               "never_retrieved", is_listed=False),
    )),
    Source("retrievability", (
        Column("rps", "RPS", "share",
               "retrieval probability score: share of what is related to it that brings it back, "
               "weighed by the competition"),
        Column("band", "Band", "band", "RPS below 0.33, up to 0.66, above"),
        Column("related", "Related", "count", "entities that are related to it"),
        Column("displaced_by", "Outranked by", "text", "what comes instead of it most often",
               is_listed=False),
    )),
    Source("need_audit", (
        Column("needs", "Needs", "count", "what it is needed for, as was written"),
        Column("needs_met", "Needs met", "share", "those of them that bring it back", "found"),
    )),
    Source("unreached", (
        Column("lost", "Lost", "text", "why the store does not bring it back", "cause"),
    ), label=""),
    Source("authority", (
        Column("superseded_by", "Superseded by", "text",
               "the newer document that holds in its place", "controlling", is_listed=False),
    ), ids=("superseded",), label="superseded_title", is_unique=False),
    Source("drift", (
        Column("drift", "Against its source", "text",
               "what argus check found beside its source", "kind", is_listed=False),
    ), ids=("id", "source"), label="source", is_unique=False),
)  # fmt: skip


def _is(value: object) -> Callable[[pa.ChunkedArray], pa.ChunkedArray]:
    return lambda column: pc.equal(column, value)


NOT_MEASURED = "not measured"
# Causes, worst first: in words, and the condition of a column. The first that holds is a document's
# cause, NOT_MEASURED where none does.
CAUSES = (
    ("not in the index", "drift", _is("missing")),
    ("never retrieved", "never", _is(True)),
    ("lost by the index", "lost", pc.is_valid),
    ("its source changed since", "drift", _is("stale")),
    ("its source is gone", "drift", _is("orphan")),
    ("indexed in part", "drift", _is("truncated")),
    ("superseded", "superseded_by", pc.is_valid),
    ("not by its own words", "by_own", _is(0)),
    ("none found", "never", pc.is_valid),
)
CAUSE_WORDS = (*(words for words, _, _ in CAUSES), NOT_MEASURED)
UP, DOWN = "ascending", "descending"
# Columns that order documents of one cause, worst first.
WORST = (("rps", UP), ("needs_met", UP), ("title_rank", DOWN), ("sentence_rank", DOWN))
Text = Annotated[str, StringConstraints(max_length=500)]


class Filters(BaseModel):
    """Words, band and cause of the wanted documents, their order, and the page of it.

    sort: a column's name, "-" before it for the greatest first.
    """

    model_config = ConfigDict(frozen=True)
    q: Annotated[Text, StringConstraints(strip_whitespace=True)] = ""
    band: Text = ""
    cause: Text = ""
    sort: Text = ""
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    def link(self, **changes: object) -> str:
        """Return the query of a URL with some changes, without defaults."""
        changed = self.model_copy(update=changes)
        return "?" + urlencode(changed.model_dump(exclude_defaults=True))

    def sorted_by(self, column: str) -> str:
        """Return the link that sorts by a column, or the other way where that is so already."""
        return self.link(sort=f"-{column}" if self.sort == column else column, page=1)


class DocumentTable:
    """Documents of a folder, joined by id and put in order once, worst first.

    Any thread may ask. Raises InputError for a folder without any of SOURCES, or a file that cannot
    be read.
    """

    def __init__(self, folder: Path) -> None:
        columns, parts = list[Column](), list[pa.Table]()
        for source in SOURCES:
            if (path := folder / f"{source.file}.parquet").is_file():
                names = read_names(path)
                own = [c for c in source.columns if (c.source or c.name) in names]
                columns += own
                parts.append(source.read(path, own))
        if not parts:
            expected = "exposure.parquet, retrievability.parquet, or another of their kind"
            fix = "Run argus check or argus research audit with --out set to this folder."
            raise refused(folder, "no table of documents", expected, fix)
        self.columns = tuple(columns)
        self.listed = tuple(column for column in columns if column.is_listed)
        self.names = frozenset(column.name for column in columns)
        rows, *others = parts
        for other in others:
            rows = _joined(rows, other)
        cause = np.full(len(rows), len(CAUSES), np.int8)  # its number, of CAUSE_WORDS
        for number, (_, column, holds) in reversed(list(enumerate(CAUSES))):
            if column in self.names:
                cause[pc.fill_null(holds(rows[column]), False).to_numpy()] = number
        rows = rows.append_column("cause", pa.array(cause))
        worst = [key for key in WORST if key[0] in self.names]
        rows = rows.sort_by([("cause", UP), *worst, ("id", UP)]).combine_chunks()
        label = pc.fill_null(rows["label"], "")
        self._words = pc.utf8_lower(pc.binary_join_element_wise(label, rows["id"], "\n"))
        self._rows = rows
        self._orders: dict[tuple[str, str], IntArray] = {}

    def page(self, filters: Filters) -> tuple[Rows, int]:
        """Return the rows of a page and how many there are in all. Of equals the worst is first.

        Raises InputError for a column that is not there.
        """
        name = filters.sort.removeprefix("-")
        if name and name not in {"id", "label", "cause", *self.names}:
            expected = f"one of label, cause, {', '.join(sorted(self.names))}"
            raise refused("sort", f"no column {name!r}", expected, "Sort by one of these.")
        kept = []
        if filters.q:
            kept.append(pc.match_substring(self._words, filters.q.lower()))
        if filters.band and "band" in self.names:
            kept.append(pc.equal(self._rows["band"], filters.band))
        if filters.cause:
            number = CAUSE_WORDS.index(filters.cause) if filters.cause in CAUSE_WORDS else -1
            kept.append(pc.equal(self._rows["cause"], number))
        found = self._order(name, DOWN if filters.sort.startswith("-") else UP)
        if kept:
            is_kept = np.logical_and.reduce([pc.fill_null(mask, False) for mask in kept])
            found = found[is_kept[found]]
        start = (filters.page - 1) * ROWS
        names = ["id", "label", "cause", *(column.name for column in self.listed)]
        rows = self._rows.select(names).take(found[start : start + ROWS]).to_pylist()
        return [_in_words(row) for row in rows], len(found)

    def _order(self, column: str, way: str) -> IntArray:
        """Return all places as a column orders them, "" as they stand. Sorted once: it is kept."""
        if not column:
            return np.arange(len(self._rows))
        if (column, way) not in self._orders:
            order = pc.sort_indices(self._rows.select([column]), sort_keys=[(column, way)])
            self._orders[column, way] = order.to_numpy().astype(np.int32)
        return self._orders[column, way]

    def row(self, id_: str) -> Row | None:
        """Return the row of one document, None where there is none."""
        place = pc.index(self._rows["id"], id_).as_py()
        return None if place < 0 else _in_words(self._rows.slice(place, 1).to_pylist()[0])

    def count_by(self, column: str) -> dict[str, int]:
        """Return how many documents have each cause, worst first, or band, the largest first."""
        if column not in {"cause", *self.names}:
            return {}
        counts = pc.value_counts(self._rows[column].drop_null()).to_pylist()
        if column == "cause":
            of = {each["values"]: each["counts"] for each in counts}
            return {words: of[number] for number, words in enumerate(CAUSE_WORDS) if number in of}
        counts.sort(key=lambda each: (-each["counts"], each["values"]))
        return {str(each["values"]): each["counts"] for each in counts}


def _filled(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts, null in place of empty ones."""
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _joined(rows: pa.Table, other: pa.Table) -> pa.Table:
    """Return all documents of two tables. The first one's label counts where it has one."""
    names = [name if name != "label" else "other" for name in other.column_names]
    both = rows.join(other.rename_columns(names), "id", join_type="full outer")
    label = pc.coalesce(_filled(both["label"]), both["other"])
    place = both.column_names.index("label")
    return both.set_column(place, "label", label).drop_columns("other")


def _in_words(row: Row) -> Row:
    return {**row, "cause": CAUSE_WORDS[row["cause"]]}


def table_of(folder: Path) -> DocumentTable:
    """Return the table of a folder, opened at first use and again when a file was changed."""
    stats = [(name, (folder / name).stat()) for name in DOCUMENTS if (folder / name).is_file()]
    with _opening:
        return _open_table(folder, tuple((n, stat.st_mtime_ns, stat.st_size) for n, stat in stats))


@lru_cache(MAX_TABLES)
def _open_table(folder: Path, stamp: tuple[tuple[str, int, int], ...]) -> DocumentTable:
    return DocumentTable(folder)


_opening = Lock()


router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/documents")
def documents(page: PageOf, filters: Annotated[Filters, Query()]) -> HTMLResponse:
    """Show a page of the wanted documents."""
    path = page.path
    if path is None or not page.has_documents:
        return page.render("documents_none.html.j2")
    if filters.band and filters.band not in BANDS:
        expected = f"one of {', '.join(BANDS)}"
        raise refused("band", f"no band {filters.band!r}", expected, "Choose one of these.")
    table = table_of(path)
    found, total = table.page(filters)
    listed = {"rows": found, "total": total}
    values: Values = {"filters": filters, "columns": table.listed, "size": ROWS, "page": listed}
    if page.is_part:
        return page.part("documents_part.html.j2", **values)
    values |= {"bands": table.count_by("band"), "causes": table.count_by("cause")}
    return page.render("documents.html.j2", **values)


@router.get("/page/{folder}/document")
def document(
    page: PageOf, warm: Warm, id: Annotated[str, Query(min_length=1, max_length=4000)]
) -> HTMLResponse:
    """Show the views of a document, and the rows of the folder's tables that name it.

    questions: those that want it, with the rank that it had. misses: its own probes that failed.
    related: entities that should bring it.
    """
    path, views = page.path, list[View]()
    table = table_of(path) if path is not None and any(path.glob("*.parquet")) else None
    row = table.row(id) if table is not None else None
    if page.has_index and id in (snapshot := warm.snapshot(index_of(page.place, path))):
        rows = snapshot.rows_of(id)
        views = list(rows_to_views(snapshot.columns.slice(rows.start, len(rows))))
    if row is None and not views:
        fix = "Search for it in the table of documents."
        raise refused("id", f"no document {id!r}", "the id of a document of this folder", fix)

    def read(name: str, columns: str, key: str) -> Rows:
        """Return the rows of a table whose `key` is the document. None without the table."""
        file = None if path is None else path / f"{name}.parquet"
        if file is None or not file.is_file() or key not in (names := read_names(file)):
            return []
        present = [column for column in columns.split() if column in names]
        found: Rows = read_where(file, [(key, "=", id)], present).slice(0, MAX_ROWS).to_pylist()
        return found

    known = {
        "views": views,
        "own": next((view for view in views if view.kind == ORIGINAL), None),
        "questions": read("questions", "question rank first", "wanted")
        or read("comparison_only", "text rank only", "doc_id"),
        "misses": read("misses", "probe query rank displaced_by", "id"),
        "needs": read("needs", "scenario need rank", "document"),
        "related": read("pair_ranks", "related similarity above pool", "entity"),
        "superseded_by": read("authority", CHAIN, "superseded"),
        "supersedes": read("authority", CHAIN, "controlling"),
    }
    return page.render(
        "document.html.j2", tab="documents", id=id, row=row, known=known,
        columns=table.columns if table else (), has_index=page.has_index,
    )  # fmt: skip
