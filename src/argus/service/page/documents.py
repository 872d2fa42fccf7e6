"""Show the documents of a folder: a table of a million rows, and a page of each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_names, read_table, read_where
from argus.errors import InputError
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.snapshot import Snapshot, rows_to_views
from argus.measures.slices import slicings
from argus.remedies.repair.remedy import MADE, REMEDIES
from argus.service.page.indexes import Warm, index_of
from argus.service.page.rendering import (
    DOCUMENTS,
    PageRoute,
    Row,
    Rows,
    Values,
    any_of,
    folder_path,
    fragment,
    has_index,
    is_fragment,
    render,
)
from argus.service.state import ServiceOf
from argus.verdict.counts import Results

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS = 50  # of a page
BANDS = ("low", "mid", "high")
NEAR = 10_000
"""Rows from the top within which a page is looked up alone; for one further down all are put in
order once, and the order is kept."""
ORDERS = 8  # orders that are kept: 8 bytes a row each
MEMORY = "1GB"  # of the tables of one folder; beyond it, DuckDB spills to a file
MAX_ROWS = 100  # of each part of a document's page
MAX_COUNTS = 1000  # totals that are kept


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in the table of documents, its source, and how it is shown.

    is_listed: whether the table shows it; a document's page shows all.
    """

    name: str
    source: str
    heading: str
    kind: Literal["text", "count", "share", "decimals", "band", "flag"]
    about: str
    is_listed: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """A Parquet file of documents. id, label: their columns; label "" for none.

    is_unique: whether a document has one row; else the first of them counts.
    """

    file: str
    columns: tuple[Column, ...]
    id: str = "id"
    label: str = "label"
    is_unique: bool = True


SOURCES = (
    Source("exposure", (
        Column("title_rank", "title_rank", "Rank by title", "count",
               "its place where its own title is asked"),
        Column("sentence_rank", "sentence_rank", "Rank by sentence", "decimals",
               "its place where a sentence of its own is asked"),
        Column("by_own", "retrieved_by_own", "By its own", "count",
               "probes of its own that bring it back"),
        Column("by_others", "retrieved_by_others", "By others", "count",
               "lists of others' probes that hold it"),
        Column("never", "never_retrieved", "Never back", "flag",
               "nothing that was asked brought it", is_listed=False),
    )),
    Source("retrievability", (
        Column("rps", "rps", "RPS", "share",
               "share of related entities that bring it back, weighed by the competition"),
        Column("band", "band", "Band", "band", "RPS below 0.33, up to 0.66, above"),
        Column("related", "related", "Related", "count", "entities that are related to it"),
        Column("displaced_by", "displaced_by", "Outranked by", "text",
               "what comes instead of it most often", is_listed=False),
    )),
    Source("needs_served", (
        Column("needs", "needs", "Needs", "count", "what it is needed for, as was written"),
        Column("needs_met", "found", "Needs met", "share", "those of them that bring it back"),
    )),
    Source("unreached", (
        Column("lost", "cause", "Lost", "text", "why the store does not bring it back"),
    ), label=""),
    Source("authority", (
        Column("superseded_by", "controlling", "Superseded by", "text", "what controls it now",
               is_listed=False),
    ), id="superseded", label="superseded_title", is_unique=False),
)  # fmt: skip
"""Tables in the order in which they are joined. Everything that becomes SQL is declared here: of a
request only values are taken, and these are bound."""
NOT_MEASURED = "not measured"
CAUSES = (
    ("never retrieved", "never", "never"),
    ("lost by the index", "lost", "lost IS NOT NULL"),
    ("superseded", "superseded_by", "superseded_by IS NOT NULL"),
    ("not by its own words", "by_own", "by_own = 0"),
    ("none found", "never", "never IS NOT NULL"),
)
"""What is wrong with a document, worst first: in words, the column that it needs, and the
condition; the first that holds is its cause, NOT_MEASURED where none does."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Words, band, cause and slice of the wanted documents, their order, and the page of it.

    slice: "FIELD=VALUE"; sort: a column's name, "-" before it for the greatest first.
    """

    q: str = ""
    band: str = ""
    cause: str = ""
    slice: str = ""
    sort: str = ""
    page: int = 1

    def link(self, **changes: object) -> str:
        """Return the query of a URL with some changes, without defaults."""
        values = asdict(replace(self, **changes))  # type: ignore[arg-type]
        default = asdict(Filters())
        return "?" + urlencode({k: v for k, v in values.items() if v != default[k]})

    def sorted_by(self, column: str) -> str:
        """Return the link that sorts by a column, or the other way where that is so already."""
        return self.link(sort=f"-{column}" if self.sort == column else column, page=1)

    def to_page(self, page: int) -> str:
        """Return the link to another page."""
        return self.link(page=page)

    @property
    def direction(self) -> str:
        """Direction of the sorted column, in the words of a screen reader."""
        return "descending" if self.sort.startswith("-") else "ascending"


Text = Annotated[str, Query(max_length=500)]


def _filters(
    q: Text = "", band: Text = "", cause: Text = "", slice: Text = "", sort: Text = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Filters:  # fmt: skip
    return Filters(q.strip(), band, cause, slice, sort, page)


class DocumentTable:
    """Documents of a folder, joined by id in DuckDB and put in its order once.

    Any thread may ask. Raises InputError for a folder without any of SOURCES, or a file that cannot
    be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.stamp = folder, _stamp_of(folder)
        self._slices_lock, self._orders_lock = Lock(), Lock()
        self._with_slices = False
        self._counts: dict[Filters, int] = {}
        self._orders: OrderedDict[Filters, Any] = OrderedDict()
        self.connection, present = self._open()
        self.columns: tuple[Column, ...] = tuple(c for _, columns in present for c in columns)
        self.listed = tuple(column for column in self.columns if column.is_listed)
        self.names = frozenset(column.name for column in self.columns)
        self._join(present)

    def _open(self) -> tuple[DuckDBPyConnection, list[tuple[Source, list[Column]]]]:
        """Make a view of each source that is there; return them with their columns."""
        import duckdb

        connection = duckdb.connect(
            ":memory:",
            config={"threads": 2, "memory_limit": MEMORY, "autoinstall_known_extensions": False},
        )
        present = []
        try:
            for source in SOURCES:
                path = self.folder / f"{source.file}.parquet"
                if path.is_file():
                    relation = connection.read_parquet(str(path))
                    relation.create_view(f"of_{source.file}")
                    there = set(relation.columns)
                    present.append((source, [c for c in source.columns if c.source in there]))
        except duckdb.Error as error:
            raise InputError(
                f"cannot be read ({str(error).splitlines()[0]})",
                expected="the tables as Argus wrote them",
                fix="Run the job again with the same --out.",
                where=self.folder,
            ) from error
        if not present:
            raise InputError(
                "no table of documents",
                expected="exposure.parquet, retrievability.parquet, or another of their kind",
                fix="Run argus exposure or argus audit with --out set to this folder.",
                where=self.folder,
            )
        return connection, present

    def _join(self, present: Sequence[tuple[Source, list[Column]]]) -> None:
        """Put all sources into `documents`: id, label, the columns, the cause, the words."""
        joined = ""
        for source, columns in present:
            own = "".join(f", {column.source} AS {column.name}" for column in columns)
            first = "" if source.is_unique else f"DISTINCT ON ({source.id}) "
            label = source.label or "''"
            part = f"SELECT {first}{source.id} AS id, {label} AS label{own} FROM of_{source.file}"
            names = ", ".join(column.name for column in columns)
            joined = part if not joined else (
                f"SELECT coalesce(a.id, b.id) AS id, coalesce(nullif(a.label, ''), b.label) AS "
                f"label, a.* EXCLUDE (id, label), {names} FROM ({joined}) a FULL JOIN "
                f"({part}) b ON a.id = b.id"
            )  # fmt: skip
        words = ", ".join(f"'{words}'" for words in (*(w for w, _, _ in CAUSES), NOT_MEASURED))
        whens = "".join(f"WHEN {when} THEN '{w}' " for w, column, when in CAUSES
                        if column in self.names)  # fmt: skip
        cause = f"CASE {whens or 'WHEN false THEN NULL '}ELSE '{NOT_MEASURED}' END"
        self.connection.execute(
            f"CREATE TABLE documents AS SELECT *, CAST({cause} AS ENUM({words})) AS cause, "
            f"lower(concat(label, chr(10), id)) AS words FROM ({joined}) ORDER BY id"
        )

    def page(self, filters: Filters) -> tuple[Rows, int]:
        """Return the rows of a page and how many there are in all.

        Raises InputError for a column or slice that is not there.
        """
        where, values = self._where(filters)
        places = self._places(filters, where, values)
        names = ", ".join(("id", "label", "cause", *(c.name for c in self.listed)))
        marks = ", ".join("?" * len(places)) or "NULL"
        rows = self.dicts(f"SELECT rowid, {names} FROM documents WHERE rowid IN ({marks})", places)
        by_place = {row.pop("rowid"): row for row in rows}
        key = replace(filters, sort="", page=1)  # paging and sorting do not change the total
        if key not in self._counts:
            if len(self._counts) > MAX_COUNTS:
                self._counts.clear()
            (row,) = self.dicts(f"SELECT count(*) AS n FROM documents{where}", values)
            self._counts[key] = row["n"]
        return [by_place[place] for place in places], self._counts[key]

    def _places(self, filters: Filters, where: str, values: Sequence[object]) -> list[int]:
        """Return the row numbers of a page, in order; rows of equal values stay by id."""
        start, name = (filters.page - 1) * ROWS, filters.sort.removeprefix("-")
        if name and name not in {"id", "label", "cause", *self.names}:
            raise InputError(
                f"no column {name!r}",
                expected=f"one of label, cause, {', '.join(sorted(self.names))}",
                fix="Sort by one of these.",
                where="sort",
            )
        way = "DESC" if filters.sort.startswith("-") else "ASC"
        order = f"{name} {way} NULLS LAST, rowid" if name else "rowid"
        sql = f"SELECT rowid FROM documents{where} ORDER BY {order}"
        if start + ROWS <= NEAR:
            cursor = self.connection.cursor()
            rows = cursor.execute(f"{sql} LIMIT ? OFFSET ?", [*values, ROWS, start])
            return [int(place) for (place,) in rows.fetchall()]
        key = replace(filters, page=1)
        with self._orders_lock:
            if key not in self._orders:
                fetched = self.connection.cursor().execute(sql, list(values)).fetchnumpy()
                self._orders[key] = fetched["rowid"]
                while len(self._orders) > ORDERS:
                    self._orders.popitem(last=False)
            self._orders.move_to_end(key)
            return [int(place) for place in self._orders[key][start : start + ROWS]]

    def dicts(self, sql: str, values: Sequence[object]) -> Rows:
        """Return the rows of a query by column."""
        rows = self.connection.cursor().execute(sql, list(values))
        heads = [entry[0] for entry in rows.description]
        return [dict(zip(heads, row, strict=True)) for row in rows.fetchall()]

    def row(self, id_: str) -> Row | None:
        """Return the row of one document; None where there is none."""
        return next(iter(self.dicts("SELECT * FROM documents WHERE id = ?", [id_])), None)

    def count_by(self, column: str) -> dict[str, int]:
        """Return how many documents have each cause, worst first, or band, the most first."""
        if column not in {"cause", *self.names}:
            return {}
        order = "1" if column == "cause" else "2 DESC, 1"
        rows = self.dicts(
            f"SELECT {column} AS name, count(*) AS n FROM documents WHERE {column} IS NOT NULL "
            f"GROUP BY 1 ORDER BY {order}", [],
        )  # fmt: skip
        return {str(row["name"]): row["n"] for row in rows}

    def _where(self, filters: Filters) -> tuple[str, list[object]]:
        """Return the condition and its bound values."""
        conditions: list[str] = []
        values: list[object] = []
        if filters.q:
            conditions.append("contains(words, ?)")
            values.append(filters.q.lower())
        if filters.band and "band" in self.names:
            conditions.append("band = ?")
            values.append(filters.band)
        if filters.cause:
            conditions.append("cause::VARCHAR = ?")
            values.append(filters.cause)
        if filters.slice:
            self._read_slices()
            name, _, value = filters.slice.partition("=")
            conditions.append("id IN (SELECT id FROM slices WHERE field = ? AND slice = ?)")
            values += [name, value]
        return (" WHERE " + " AND ".join(conditions) if conditions else ""), values

    def _read_slices(self) -> None:
        """Read which documents are in which slice, once: it reads the whole corpus."""
        import pyarrow as pa

        with self._slices_lock:
            if self._with_slices:
                return
            corpus, fields = _sliced_corpus(self.folder)
            documents = sorted(open_corpus(corpus).documents(FieldNames()), key=lambda d: d.id)
            schema = pa.schema([(name, pa.string()) for name in ("id", "field", "slice")])
            parts = [schema.empty_table()]
            for one in slicings(documents, fields):
                pairs = [
                    (d.id, x) for d, own in zip(documents, one.labels, strict=True) for x in own
                ]
                columns = [
                    [id_ for id_, _ in pairs],
                    [one.figures["field"]] * len(pairs),
                    [label for _, label in pairs],
                ]
                parts.append(pa.table(columns, schema=schema))
            cursor = self.connection.cursor()
            cursor.register("read_slices", pa.concat_tables(parts))
            cursor.execute("CREATE OR REPLACE TABLE slices AS SELECT * FROM read_slices")
            cursor.unregister("read_slices")
            self._with_slices = True


def _stamp_of(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return a value that changes when a table of a folder does."""
    stats = [(name, (folder / name).stat()) for name in DOCUMENTS if (folder / name).is_file()]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


def _sliced_corpus(folder: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the corpus of a folder's results, and the fields by which a job cut its documents."""
    for job in ("exposure", "audit"):
        section = Results.of(folder).places.manifest.get(job)
        fields = section["config"].get("by") if section else None
        corpus = section["inputs"].get("corpus") if section else None
        if isinstance(fields, list | tuple) and fields and corpus:
            return Path(corpus["file"]), tuple(map(str, fields))
    raise InputError(
        "no slices",
        expected="results that were told by fields of their corpus",
        fix="Run argus exposure or argus audit with --by FIELD.",
        where=folder,
    )


class DocumentTables:
    """The tables of some folders, opened at first use and again when a file was changed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tables: dict[Path, DocumentTable] = {}

    def of(self, folder: Path) -> DocumentTable:
        """Return the table of a folder."""
        with self._lock:
            table = self._tables.get(folder)
            if table is None or table.stamp != _stamp_of(folder):
                table = self._tables[folder] = DocumentTable(folder)
            return table


def _document_tables(request: Request) -> DocumentTables:
    state = request.app.state
    if not hasattr(state, "document_tables"):
        state.document_tables = DocumentTables()
    return cast(DocumentTables, state.document_tables)


Tables = Annotated[DocumentTables, Depends(_document_tables)]
"""A handler's parameter: the service's tables of documents."""
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/documents")
def documents(
    request: Request, folder: str, service: ServiceOf, tables: Tables,
    filters: Annotated[Filters, Depends(_filters)],
) -> HTMLResponse:  # fmt: skip
    """Show a page of the wanted documents."""
    path = folder_path(service.workplace, folder)
    if path is None or not any_of(path, *DOCUMENTS):
        return render(request, "documents_none.html.j2", "documents", folder)
    slices = dict[str, None]()
    for file in ("slices", "audit_slices"):
        if (table_of := path / f"{file}.parquet").is_file():
            rows = read_table(table_of, ["field", "slice"]).to_pylist()
            slices.update(dict.fromkeys(f"{row['field']}={row['slice']}" for row in rows))
    if slices and not service.workplace.contains(_sliced_corpus(path)[0]):
        slices.clear()
    if filters.slice and filters.slice not in slices:
        raise InputError(
            f"no slice {filters.slice!r}",
            expected="FIELD=VALUE of a slice that the results tell of, whose corpus lies in a "
            "folder of the service",
            fix="Choose one of the list.",
            where="slice",
        )
    if filters.band and filters.band not in BANDS:
        raise InputError(
            f"no band {filters.band!r}", expected=f"one of {', '.join(BANDS)}",
            fix="Choose one of these.", where="band",
        )  # fmt: skip
    table = tables.of(path)
    found, total = table.page(filters)
    shown: Values = {
        "filters": filters, "columns": table.listed, "size": ROWS,
        "page": {"rows": found, "total": total},
    }  # fmt: skip
    if is_fragment(request):
        return fragment("documents_part.html.j2", folder=folder, **shown)
    return render(
        request, "documents.html.j2", "documents", folder,
        bands=table.count_by("band"), causes=table.count_by("cause"), slices=sorted(slices),
        **shown,
    )  # fmt: skip


@router.get("/page/{folder}/document")
def document(
    request: Request, folder: str, service: ServiceOf, tables: Tables, warm: Warm,
    id: Annotated[str, Query(min_length=1, max_length=4000)],
) -> HTMLResponse:  # fmt: skip
    """Show all that is known of a document."""
    place, path = service.workplace, folder_path(service.workplace, folder)
    table = tables.of(path) if path is not None and any(path.glob("*.parquet")) else None
    row = table.row(id) if table is not None else None
    snapshot = warm.snapshot(index_of(place, path)) if has_index(place, path) else None
    known = _known(path, snapshot, id)
    if row is None and not known["views"]:
        raise InputError(
            f"no document {id!r}",
            expected="the id of a document of this folder",
            fix="Search for it in the table of documents.",
            where="id",
        )
    return render(
        request, "document.html.j2", "documents", folder,
        id=id, row=row, columns=table.columns if table else (), known=known,
        has_index=snapshot is not None,
    )  # fmt: skip


def _known(folder: Path | None, snapshot: Snapshot | None, id_: str) -> Values:
    """Return the views of a document, and the rows of the folder's tables that speak of it.

    questions: those that want it, with the rank that it had. misses: its own probes that failed.
    related: entities that should bring it. receipts: changes that repairs made to it.
    """
    views = []
    if snapshot is not None and id_ in snapshot:
        rows = snapshot.rows_of(id_)
        views = list(rows_to_views(snapshot.columns.slice(rows.start, len(rows))))

    def of(name: str, columns: str, home: Path | None = folder, **equals: str) -> Rows:
        """Return rows of a table whose columns equal some values; none without the table."""
        path = None if home is None else home / f"{name}.parquet"
        if path is None or not path.is_file() or not equals.keys() <= (names := read_names(path)):
            return []
        filters = [(column, "=", value) for column, value in equals.items()]
        present = [column for column in columns.split() if column in names]
        found: Rows = read_where(path, filters, present).slice(0, MAX_ROWS).to_pylist()
        return found

    chain = (
        "superseded controlling superseded_title controlling_title rule hops title_rank text_rank"
    )
    remedies = None if folder is None else folder / REMEDIES
    homes = sorted(remedies.iterdir()) if remedies is not None and remedies.is_dir() else []
    receipts = [
        {"remedy": str(ArtifactFolder(home).read_json(MADE).get("remedy", home.name)), **row}
        for home in ([] if folder is None else [folder, *homes])
        for row in of("receipt", "entity rank_before rank_after views state", home, doc_id=id_)
    ]
    return {
        "views": views,
        "own": next((view for view in views if view.kind == ORIGINAL), None),
        "questions": of("questions", "question rank first", wanted=id_)
        or of("comparison_only", "text rank only", doc_id=id_),
        "misses": of("misses", "probe query rank displaced_by", id=id_),
        "needs": of("needs_served_queries", "scenario need rank", document=id_)
        or of("needs", "scenario need rank", document=id_),
        "related": of("pair_ranks", "related similarity above pool", entity=id_),
        "superseded_by": of("authority", chain, superseded=id_),
        "supersedes": of("authority", chain, controlling=id_),
        "receipts": receipts[:MAX_ROWS],
    }
