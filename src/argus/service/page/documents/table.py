"""The documents of a folder: its Parquet files joined in DuckDB, asked with bound parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from argus.errors import InputError
from argus.service.page.documents.catalog import CAUSES, NOT_MEASURED, SOURCES, Column, Source
from argus.service.page.documents.filters import ROWS, Filters
from argus.service.page.documents.slicing import SliceLabels
from argus.service.page.rows import Row, Rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEAR = 10_000
"""Rows from the top within which a page is looked up alone; for one further down all are put in
order once, and the order is kept."""
ORDERS = 8
"""Orders that are kept: 8 bytes a row each."""
MEMORY = "1GB"
"""Most that the tables of one folder take in memory; beyond it, DuckDB spills to a file."""
Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the table: rows by column, and how many there are in all."""

    rows: Rows
    total: int


class DocumentTable:
    """Documents of a folder, joined by id and put in its order once. Any thread may ask.

    Raises InputError for a folder without any of SOURCES, or a file that cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.stamp = folder, stamp_of(folder)
        self.sources = [s for s in SOURCES if (folder / f"{s.file}.parquet").is_file()]
        if not self.sources:
            raise InputError(
                "no table of documents",
                expected="exposure.parquet, retrievability.parquet, or another of their kind",
                fix="Run argus exposure or argus audit with --out set to this folder.",
                where=folder,
            )
        self._slices_lock, self._orders_lock = Lock(), Lock()
        self._with_slices = False
        self._counts: dict[Filters, int] = {}
        self._orders: OrderedDict[Filters, Any] = OrderedDict()
        self.connection = self._open()
        self.columns: tuple[Column, ...] = tuple(c for _, cs in self._present for c in cs)
        self.listed = tuple(column for column in self.columns if column.is_listed)
        self.names = frozenset(column.name for column in self.columns)
        self._join()

    def _open(self) -> DuckDBPyConnection:
        import duckdb

        connection = duckdb.connect(
            ":memory:",
            config={"threads": 2, "memory_limit": MEMORY, "autoinstall_known_extensions": False},
        )
        self._present: list[tuple[Source, tuple[Column, ...]]] = []
        try:
            for source in self.sources:
                relation = connection.read_parquet(str(self.folder / f"{source.file}.parquet"))
                there = set(relation.columns)
                relation.create_view(f"of_{source.file}")
                own = tuple(column for column in source.columns if column.source in there)
                self._present.append((source, own))
        except duckdb.Error as error:
            raise InputError(
                f"cannot be read ({str(error).splitlines()[0]})",
                expected="the tables as Argus wrote them",
                fix="Run the job again with the same --out.",
                where=self.folder,
            ) from error
        return connection

    def _join(self) -> None:
        """Put all sources into `documents`: id, label, the columns, the cause, what is searched."""
        first, *others = self._present
        joined = f"SELECT {_columns(first)} FROM of_{first[0].file}"
        for other in others:
            names = ", ".join(c.name for c in other[1])
            joined = (
                f"SELECT coalesce(a.id, b.id) AS id, coalesce(nullif(a.label, ''), b.label) AS "
                f"label, a.* EXCLUDE (id, label), {names} FROM ({joined}) a FULL JOIN "
                f"(SELECT {_columns(other)} FROM of_{other[0].file}) b ON a.id = b.id"
            )
        words = ", ".join(f"'{words}'" for words in (*(w for w, _, _ in CAUSES), NOT_MEASURED))
        whens = "".join(f"WHEN {when} THEN '{w}' " for w, column, when in CAUSES
                        if column in self.names)  # fmt: skip
        cause = f"CASE {whens or 'WHEN false THEN NULL '}ELSE '{NOT_MEASURED}' END"
        self.connection.execute(
            f"CREATE TABLE documents AS SELECT *, CAST({cause} AS ENUM({words})) AS cause, "
            f"lower(concat(label, chr(10), id)) AS words FROM ({joined}) ORDER BY id"
        )

    def page(self, filters: Filters) -> Page:
        """Return a page; InputError for a column or slice that is not there."""
        where, values = self._where(filters)
        places = self._places(filters, where, values)
        names = ", ".join(("id", "label", "cause", *(c.name for c in self.listed)))
        marks = ", ".join("?" * len(places)) or "NULL"
        rows = self._dicts(f"SELECT rowid, {names} FROM documents WHERE rowid IN ({marks})", places)
        by_place = {row.pop("rowid"): row for row in rows}
        return Page([by_place[place] for place in places], self._total(filters, where, values))

    def _places(self, filters: Filters, where: str, values: Sequence[object]) -> list[int]:
        """Return the row numbers of a page, in order; rows of equal values stay by id."""
        start = (filters.page - 1) * ROWS
        sql = f"SELECT rowid FROM documents{where} ORDER BY {self._order(filters.sort)}"
        if start + ROWS <= NEAR:
            cursor = self.connection.cursor()
            rows = cursor.execute(f"{sql} LIMIT ? OFFSET ?", [*values, ROWS, start])
            return [int(place) for (place,) in rows.fetchall()]
        key = replace(filters, page=1)
        with self._orders_lock:
            order = self._orders.get(key)
            if order is None:
                fetched = self.connection.cursor().execute(sql, list(values)).fetchnumpy()
                order = self._orders[key] = fetched["rowid"]
                while len(self._orders) > ORDERS:
                    self._orders.popitem(last=False)
            self._orders.move_to_end(key)
        return [int(place) for place in order[start : start + ROWS]]

    def _dicts(self, sql: str, values: Sequence[object]) -> Rows:
        rows = self.connection.cursor().execute(sql, list(values))
        heads = [entry[0] for entry in rows.description]
        return [dict(zip(heads, row, strict=True)) for row in rows.fetchall()]

    def row(self, id_: str) -> Row | None:
        """Return the row of one document; None where there is none."""
        rows = self._dicts("SELECT * FROM documents WHERE id = ?", [id_])
        return rows[0] if rows else None

    def count_by(self, column: str) -> dict[str, int]:
        """Return how many documents have each cause, worst first, or band, the most first."""
        if column not in {"cause", *self.names}:
            return {}
        order = "1" if column == "cause" else "2 DESC, 1"
        rows = self.connection.cursor().execute(
            f"SELECT {column}, count(*) FROM documents WHERE {column} IS NOT NULL "
            f"GROUP BY 1 ORDER BY {order}"
        )
        return {str(name): int(n) for name, n in rows.fetchall()}

    def _total(self, filters: Filters, where: str, values: Sequence[object]) -> int:
        """Return how many rows there are; kept, since paging and sorting do not change it."""
        key = replace(filters, sort="", page=1)
        if key not in self._counts:
            if len(self._counts) > 1000:
                self._counts.clear()
            counted = self.connection.cursor().execute(
                f"SELECT count(*) FROM documents{where}", list(values)
            )
            (self._counts[key],) = counted.fetchone() or (0,)
        return self._counts[key]

    def _where(self, filters: Filters) -> tuple[str, list[object]]:
        """Return the condition and what is bound in it."""
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

    def _order(self, sort: str) -> str:
        """Return the order of a column that is there; by id among equals."""
        name = sort.removeprefix("-")
        if not sort:
            return "rowid"
        if name not in {"id", "label", "cause", *self.names}:
            raise InputError(
                f"no column {name!r}",
                expected=f"one of label, cause, {', '.join(sorted(self.names))}",
                fix="Sort by one of these.",
                where="sort",
            )
        return f"{name} {'DESC' if sort.startswith('-') else 'ASC'} NULLS LAST, rowid"

    def _read_slices(self) -> None:
        """Read which documents are in which slice, once: it reads the whole corpus."""
        with self._slices_lock:
            if not self._with_slices:
                labels = SliceLabels.of(self.folder).table()
                cursor = self.connection.cursor()
                cursor.register("read_slices", labels)
                cursor.execute("CREATE OR REPLACE TABLE slices AS SELECT * FROM read_slices")
                cursor.unregister("read_slices")
                self._with_slices = True


def _columns(part: tuple[Source, tuple[Column, ...]]) -> str:
    source, columns = part
    label = source.label or "''"
    own = ", ".join(f"{column.source} AS {column.name}" for column in columns)
    first = "" if source.is_unique else f"DISTINCT ON ({source.id}) "
    return f"{first}{source.id} AS id, {label} AS label" + (f", {own}" if own else "")


def stamp_of(folder: Path) -> Stamp:
    """Return what changes when a table of a folder does."""
    stamps = []
    for source in SOURCES:
        path = folder / f"{source.file}.parquet"
        if path.is_file():
            about = path.stat()
            stamps.append((source.file, about.st_mtime_ns, about.st_size))
    return tuple(stamps)


class DocumentTables:
    """The tables of some folders, opened at first use and again when a file was changed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tables: dict[Path, DocumentTable] = {}

    def of(self, folder: Path) -> DocumentTable:
        """Return the table of a folder."""
        with self._lock:
            table = self._tables.get(folder)
            if table is None or table.stamp != stamp_of(folder):
                table = self._tables[folder] = DocumentTable(folder)
            return table
