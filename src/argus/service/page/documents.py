"""Show the pages of documents in `argus serve`: a table of up to a million rows, and each document.

The folder's Parquet files of several jobs are joined by document id in DuckDB: one row per document
with its ranks and the cause of a miss (`DocumentTable`). `Filters` choose words, band, cause and
order. The page of a document shows its views (texts indexed for it) and every row that names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from argus.data.reading import reading
from argus.data.tables import read_names, read_where
from argus.data.types import View
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import rows_to_views
from argus.service.page.indexes import Warm, index_of
from argus.service.page.rendering import DOCUMENTS, PageOf, PageRoute, Row, Rows, Values, refused

BANDS = ("low", "mid", "high")
MAX_ROWS = 100  # of each part of a document's page
CHAIN = "superseded controlling superseded_title controlling_title rule hops title_rank text_rank"
ROWS = 50  # of a page
MEMORY = "1GB"  # of the tables of one folder: beyond it, DuckDB spills to a file
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
    """A Parquet file of documents. id, label: SQL of its columns of them.

    is_unique: whether a document has one row. Else the first of them counts.
    """

    file: str
    columns: tuple[Column, ...]
    id: str = "id"
    label: str = "label"
    is_unique: bool = True


# Tables in the order in which they are joined. All SQL is declared here: a request gives values
# alone, and these are bound.
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
    ), label="''"),
    Source("authority", (
        Column("superseded_by", "Superseded by", "text",
               "the newer document that holds in its place", "controlling", is_listed=False),
    ), id="superseded", label="superseded_title", is_unique=False),
    Source("drift", (
        Column("drift", "Against its source", "text",
               "what argus check found beside its source", "kind", is_listed=False),
    ), id="coalesce(nullif(id, ''), source)", label="source", is_unique=False),
)  # fmt: skip
NOT_MEASURED = "not measured"
# Causes, worst first: in words, the column that each needs, and its condition. The first that holds
# is a document's cause, NOT_MEASURED where none does.
CAUSES = (
    ("not in the index", "drift", "drift = 'missing'"),
    ("never retrieved", "never", "never"),
    ("lost by the index", "lost", "lost IS NOT NULL"),
    ("its source changed since", "drift", "drift = 'stale'"),
    ("its source is gone", "drift", "drift = 'orphan'"),
    ("indexed in part", "drift", "drift = 'truncated'"),
    ("superseded", "superseded_by", "superseded_by IS NOT NULL"),
    ("not by its own words", "by_own", "by_own = 0"),
    ("none found", "never", "never IS NOT NULL"),
)
# Columns that order documents of one cause, worst first, and how.
WORST = (
    ("rps", "rps"), ("needs_met", "needs_met"), ("title_rank", "title_rank DESC"),
    ("sentence_rank", "sentence_rank DESC"),
)  # fmt: skip
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
    """Documents of a folder, joined by id in DuckDB and put in order once, worst first.

    Any thread may ask. Raises InputError for a folder without any of SOURCES, or a file that cannot
    be read.
    """

    def __init__(self, folder: Path) -> None:
        import duckdb

        settings: dict[str, str | bool | int | float | list[str]] = {
            "threads": 2, "memory_limit": MEMORY, "autoinstall_known_extensions": False
        }  # fmt: skip
        self.connection = duckdb.connect(":memory:", config=settings)
        present: list[tuple[Source, list[Column]]] = []
        fix = "Run the job again with the same --out."
        with reading(folder, expected="the tables as Argus wrote them", fix=fix):
            for source in SOURCES:
                path = folder / f"{source.file}.parquet"
                if path.is_file():
                    relation = self.connection.read_parquet(str(path))
                    relation.create_view(f"of_{source.file}")
                    there = set(relation.columns)
                    own = [c for c in source.columns if (c.source or c.name) in there]
                    present.append((source, own))
        if not present:
            expected = "exposure.parquet, retrievability.parquet, or another of their kind"
            fix = "Run argus check or argus research audit with --out set to this folder."
            raise refused(folder, "no table of documents", expected, fix)
        self.columns = tuple(column for _, columns in present for column in columns)
        self.listed = tuple(column for column in self.columns if column.is_listed)
        self.names = frozenset(column.name for column in self.columns)
        self._join(present)

    def _join(self, present: Sequence[tuple[Source, list[Column]]]) -> None:
        """Put all sources into `documents`: id, label, the columns, the cause, the words."""
        joined = ""
        for source, columns in present:
            own = "".join(f", {c.source or c.name} AS {c.name}" for c in columns)
            first = "" if source.is_unique else f"DISTINCT ON ({source.id}) "
            part = (
                f"SELECT {first}{source.id} AS id, {source.label} AS label{own} "
                f"FROM of_{source.file}"
            )
            names = ", ".join(column.name for column in columns)
            joined = part if not joined else (
                f"SELECT coalesce(a.id, b.id) AS id, coalesce(nullif(a.label, ''), b.label) AS "
                f"label, a.* EXCLUDE (id, label), {names} FROM ({joined}) a FULL JOIN "
                f"({part}) b ON a.id = b.id"
            )  # fmt: skip
        words = ", ".join(f"'{words}'" for words in (*(w for w, _, _ in CAUSES), NOT_MEASURED))
        present_causes = [(w, when) for w, column, when in CAUSES if column in self.names]
        whens = "".join(f"WHEN {when} THEN '{w}' " for w, when in present_causes)
        cause = f"CASE {whens or 'WHEN false THEN NULL '}ELSE '{NOT_MEASURED}' END"
        worst = "".join(f"{how} NULLS LAST, " for column, how in WORST if column in self.names)
        self.connection.execute(
            f"CREATE TABLE documents AS SELECT *, CAST({cause} AS ENUM({words})) AS cause, "
            f"lower(concat(label, chr(10), id)) AS words FROM ({joined}) ORDER BY cause, {worst}id"
        )

    def page(self, filters: Filters) -> tuple[Rows, int]:
        """Return the rows of a page and how many there are in all. Of equals the worst is first.

        Raises InputError for a column that is not there.
        """
        name = filters.sort.removeprefix("-")
        if name and name not in {"id", "label", "cause", *self.names}:
            expected = f"one of label, cause, {', '.join(sorted(self.names))}"
            raise refused("sort", f"no column {name!r}", expected, "Sort by one of these.")
        named: dict[str, object] = {}
        if filters.q:
            named["contains(words, ?)"] = filters.q.lower()
        if filters.band and "band" in self.names:
            named["band = ?"] = filters.band
        if filters.cause:
            named["cause::VARCHAR = ?"] = filters.cause
        wanted = "FROM documents" + (" WHERE " + " AND ".join(named) if named else "")
        way = "DESC" if filters.sort.startswith("-") else "ASC"
        order = f"{name} {way} NULLS LAST, rowid" if name else "rowid"
        names = ", ".join(("id", "label", "cause", *(c.name for c in self.listed)))
        # the rows of a page are looked up once their numbers are known: a tenth of the time
        rows = self.dicts(
            f"SELECT {names} FROM documents WHERE rowid IN (SELECT rowid {wanted} "
            f"ORDER BY {order} LIMIT ? OFFSET ?) ORDER BY {order}",
            [*named.values(), ROWS, (filters.page - 1) * ROWS],
        )
        (counted,) = self.dicts(f"SELECT count(*) AS n {wanted}", list(named.values()))
        return rows, counted["n"]

    def dicts(self, sql: str, values: Sequence[object] = ()) -> Rows:
        """Return the rows of a query by column."""
        rows = self.connection.cursor().execute(sql, list(values))
        heads = [entry[0] for entry in rows.description]
        return [dict(zip(heads, row, strict=True)) for row in rows.fetchall()]

    def row(self, id_: str) -> Row | None:
        """Return the row of one document, None where there is none."""
        return next(iter(self.dicts("SELECT * FROM documents WHERE id = ?", [id_])), None)

    def count_by(self, column: str) -> dict[str, int]:
        """Return how many documents have each cause, worst first, or band, the largest first."""
        if column not in {"cause", *self.names}:
            return {}
        order = "1" if column == "cause" else "2 DESC, 1"
        rows = self.dicts(
            f"SELECT {column} AS name, count(*) AS n FROM documents WHERE {column} IS NOT NULL "
            f"GROUP BY 1 ORDER BY {order}"
        )
        return {str(row["name"]): row["n"] for row in rows}


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
