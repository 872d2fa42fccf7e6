"""Join the result tables of a folder by document id in DuckDB, and page through the rows.

For the table of documents in `argus serve` (`argus.service.page.documents`): Parquet files of
several jobs -> one row per document with its ranks and the cause of a miss. `Filters` choose words,
band, cause and order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from argus.data.reading import reading
from argus.service.page.rendering import DOCUMENTS, Row, Rows, refused

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


SOURCES = (
    Source("exposure", (
        Column("title_rank", "Rank by title", "count", "its place where its own title is asked"),
        Column("sentence_rank", "Rank by sentence", "decimals",
               "its place where a sentence of its own is asked"),
        Column("by_own", "By its own", "count", "probes of its own that bring it back",
               "retrieved_by_own"),
        Column("by_others", "By others", "count", "lists of others' probes that hold it",
               "retrieved_by_others"),
        Column("never", "Never back", "flag", "nothing that was asked brought it",
               "never_retrieved", is_listed=False),
    )),
    Source("retrievability", (
        Column("rps", "RPS", "share",
               "share of related entities that bring it back, weighed by the competition"),
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
        Column("superseded_by", "Superseded by", "text", "what controls it now", "controlling",
               is_listed=False),
    ), id="superseded", label="superseded_title", is_unique=False),
)  # fmt: skip
"""Tables in the order in which they are joined. All SQL is declared here: a request gives values
alone, and these are bound."""
NOT_MEASURED = "not measured"
CAUSES = (
    ("never retrieved", "never", "never"),
    ("lost by the index", "lost", "lost IS NOT NULL"),
    ("superseded", "superseded_by", "superseded_by IS NOT NULL"),
    ("not by its own words", "by_own", "by_own = 0"),
    ("none found", "never", "never IS NOT NULL"),
)
"""Causes, worst first: in words, the column that each needs, and its condition. The first that
holds is a document's cause, NOT_MEASURED where none does."""
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
    """Documents of a folder, joined by id in DuckDB and put in its order once.

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
        self.connection.execute(
            f"CREATE TABLE documents AS SELECT *, CAST({cause} AS ENUM({words})) AS cause, "
            f"lower(concat(label, chr(10), id)) AS words FROM ({joined}) ORDER BY id"
        )

    def page(self, filters: Filters) -> tuple[Rows, int]:
        """Return the rows of a page and how many there are in all. Equal values stay by id.

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
