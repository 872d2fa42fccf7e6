"""Tables of pages, items and other sources: write them, and join and sort them in DuckDB."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from argus.cores import available_cores
from argus.data.kb import MENTION
from argus.data.writing import writable
from argus.errors import ArgusError
from argus.extras import naming_extras
from argus.knowledge.base import Entity
from argus.knowledge.names import mention_relations

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS_PER_PART = 50_000


def _schema(names: str, **others: pa.DataType) -> pa.Schema:
    """Return a schema of texts, but for the columns of `others`."""
    return pa.schema([(name, others.get(name, pa.string())) for name in names.split()])


PAGES = _schema("title redirect reason paragraph")
"""Pages of Wikipedia. redirect: title where it leads, null for others. reason: why it is no
article, "" for articles. paragraph: "" where there is none."""
LINKS = _schema("source target")
"""Titles of an article and of the pages that it links to."""
ITEMS = _schema(
    "id label description aliases article disambiguation",
    aliases=pa.list_(pa.string()),
    disambiguation=pa.bool_(),
)
"""Items of Wikidata, with texts in one language. label: null where there is none. article: title of
its page in that language's Wikipedia, or null. disambiguation: it says that it is such a page."""
STATEMENTS = _schema("subject property object")
"""Relations of items: ids as in "Q42", a property as in "P31"."""
RAW = {
    "entities": _schema("id label description article paragraph"),
    "relations": _schema("subject property object source"),
    "aliases": _schema("id alias source"),
    "redirects": _schema("title target id"),
}
"""Columns of the tables under `raw/`, which alignment and every other source write. An end of a
relation may be no entity, or null."""


def rows_to_table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Return rows, their values in the order of the schema, as a table."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


class PartWriter:
    """Writes rows into `folder/part-00000.parquet` and on, and counts them in `rows`.

    Raises NotWritten where the disk takes no more.
    """

    def __init__(self, folder: Path, schema: pa.Schema, prefix: str = "part") -> None:
        self.folder, self._schema, self._prefix = folder, schema, prefix
        self.rows = self._parts = 0
        self._buffer: list[tuple[str | int | None, ...]] = []
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def add(self, *row: str | int | None) -> None:
        """Take one row, its values in the order of the schema."""
        self._buffer.append(row)
        self.rows += 1
        if len(self._buffer) >= ROWS_PER_PART:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory as a part."""
        if self._buffer:
            path = self.folder / f"{self._prefix}-{self._parts:05d}.parquet"
            with writable(path):
                pq.write_table(rows_to_table(self._buffer, self._schema), path, compression="zstd")
            self._parts += 1
            self._buffer.clear()


class RawWriter:
    """Writes entities, relations and aliases under `work/raw`, in place of earlier ones.

    Use it as a context manager. joins: add to the tables that are there, in place of what joined
    them before. limit: entities that are taken. `beyond` counts the others.
    """

    def __init__(self, work: Path, *, joins: bool = False, limit: int | None = None) -> None:
        self.work, self.beyond, self._limit = work, 0, limit
        raw = work / "raw"
        with writable(work):
            if not joins:
                shutil.rmtree(raw, ignore_errors=True)
            for earlier in raw.glob("*/added-*.parquet"):
                earlier.unlink()
        prefix = "added" if joins else "part"
        self.tables = {
            name: PartWriter(raw / name, RAW[name], prefix)
            for name in ("entities", "relations", "aliases")
        }
        self.add_relation = self.tables["relations"].add
        """Take subject, property, object and source, whether or not both ends are entities."""

    def add_entity(
        self, id_: str, label: str, paragraph: str = "", *, description: str = "", article: str = ""
    ) -> None:
        """Take an entity. article: title of its page, empty where it has none."""
        if self._limit is not None and self.tables["entities"].rows >= self._limit:
            self.beyond += 1
        else:
            self.tables["entities"].add(id_, label, description, article, paragraph)

    def add_aliases(self, id_: str, label: str, aliases: Sequence[str]) -> None:
        """Take an entity's other names, each once, without its label."""
        for alias in dict.fromkeys(aliases):
            if alias and alias != label:
                self.tables["aliases"].add(id_, alias, "alias")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for table in self.tables.values():
                table.flush()


def mention_rows(work: Path, into: RawWriter) -> dict[str, int]:
    """Relate the raw entities in `work` by exact mention. Return how many pairs were related.

    Each pair is written once, whichever names the other, the smaller id as its subject: the order
    of the raw entities, which a database does not keep, changes nothing. All entities are held in
    memory with their paragraphs, and an automaton over their names: count on 3 KiB an entity.
    """
    entities = [
        Entity(*row)
        for path in sorted((work / "raw" / "entities").glob("*.parquet"))
        for batch in pq.ParquetFile(path).iter_batches(columns=["id", "label", "paragraph"])
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    entities.sort(key=lambda entity: entity.id)
    graph = mention_relations(entities)
    for i, entity in enumerate(entities):
        for other in graph.neighbours(i):
            if i < other:
                into.add_relation(entity.id, MENTION, entities[other].id, MENTION)
    return {MENTION: into.tables["relations"].rows}


FULL_DISK = ("No space left", "max_temp_directory_size", "Could not write", "quota exceeded")
"""Parts of DuckDB's messages when a disk is full: of the system's calls, and its own."""
BLANK = r"[\t-\r\x1c-\x20\x{85}\pZ]"
"""White space as Python sees it, for regular expressions of DuckDB (RE2 knows only ASCII's)."""
WORD = (
    r"[\x{0e00}-\x{0eff}\x{1000}-\x{109f}\x{3040}-\x{30ff}\x{3400}-\x{9fff}]{1,2}"
    r"|[\pL\pN_]+(?:[''’.-][\pL\pN_]+)*"
)
"""A word as `count_words` (argus.knowledge.wikitext) sees it, in a string of SQL."""


class Database:
    """An open DuckDB, whose tables are gone when it is closed."""

    def __init__(self, connection: DuckDBPyConnection, folder: Path) -> None:
        self._connection, self._folder = connection, folder

    def run(self, sql: str, *values: object) -> None:
        """Execute a statement with its parameters."""
        self._connection.execute(sql, list(values))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:  # SQL says of what type
        """Return all rows of a query that has few."""
        return list(self._connection.execute(sql).fetchall())

    def count(self, sql: str) -> int:
        """Return how many rows a table or a query in parentheses has."""
        return int(self.rows(f"SELECT count(*) FROM {sql}")[0][0])

    def groups(self, sql: str, column: str) -> dict[str, int]:
        """Return how many rows of a query have each value of a column, in order of the values."""
        query = f"SELECT {column}, count(*) FROM ({sql}) GROUP BY {column} ORDER BY {column}"
        return {str(value): int(n) for value, n in self.rows(query)}

    def batches(self, sql: str, schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query, about `size` at a time, in the columns of `schema`."""
        cursor = self._connection.cursor()  # a connection can be in one result at a time
        try:
            for batch in cursor.sql(sql).to_arrow_reader(size):
                yield pa.record_batch(
                    [batch[field.name].cast(field.type) for field in schema], schema=schema
                )
        finally:
            cursor.close()

    def write(self, sql: str, path: Path) -> None:
        """Write the rows of a query to one Parquet file, in no particular order."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.run(
            f"COPY ({sql}) TO {_quoted(path)} "
            "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 50000)"
        )

    def view(
        self,
        name: str,
        folder: Path,
        schema: pa.Schema,
        *,
        key: str | None = None,
        where: str = "true",
    ) -> int:
        """Make the view `name` over those rows of a folder's Parquet files that are as `where`.

        key: a column by which each row is there once: the first is, by name of file and place in
        it. Rows without a key stay. Returns how many rows are left out for that. The view
        `all_<name>` has every row.
        """
        files = f"{escape(str(folder))}/*.parquet"
        if not any(folder.glob("*.parquet")):
            files = escape(str(self._folder / f"{name}.parquet"))
            pq.write_table(schema.empty_table(), self._folder / f"{name}.parquet")
        self.run(
            f"CREATE VIEW all_{name} AS SELECT *, filename AS file, file_row_number AS place FROM "
            f"read_parquet({_quoted(files)}, filename=true, file_row_number=true)"
        )
        self.run(f"CREATE VIEW fit_{name} AS FROM all_{name} WHERE {where}")
        if key is None:
            self.run(f"CREATE VIEW {name} AS FROM fit_{name}")
            return 0
        self.run(
            f"""
            CREATE TABLE again_{name} AS SELECT file, place FROM (
                SELECT file, place, row_number() OVER (PARTITION BY {key} ORDER BY file, place) AS k
                FROM fit_{name} SEMI JOIN (
                    SELECT {key} FROM fit_{name} WHERE {key} <> ''
                    GROUP BY {key} HAVING count(*) > 1
                ) USING ({key})
            ) WHERE k > 1
            """
        )
        self.run(
            f"CREATE VIEW {name} AS FROM fit_{name} ANTI JOIN again_{name} USING (file, place)"
        )
        return self.count(f"again_{name}")


@contextmanager
def database(work: Path, memory_bytes: int) -> Iterator[Database]:
    """Open an empty database that spills to `work` when memory is full, until the end.

    Raises ArgusError when the disk is full, memory too small for a step, or a table broken.
    """
    with naming_extras():
        import duckdb
    folder = work / "database"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        connection = duckdb.connect(
            config={
                "memory_limit": f"{memory_bytes >> 10}KiB",
                "temp_directory": str(folder),  # tables, too, go there when memory is full
                "threads": available_cores(),
                "preserve_insertion_order": False,  # every order that matters is asked for
                "autoinstall_known_extensions": False,  # nothing comes from the network
            },
        )
        try:
            yield Database(connection, folder)
        finally:
            connection.close()
    except (duckdb.Error, OSError) as error:
        raise _in_plain_words(error, work) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_blank(column: str) -> str:
    """Return SQL for: the column is null, or nothing but white space."""
    return f"coalesce(regexp_full_match({column}, '{BLANK}*'), true)"


def fewer_words(column: str, n: int) -> str:
    """Return SQL for: the column has fewer than `n` words."""
    if n <= 1:
        return f"NOT regexp_matches({column}, '{WORD}')"  # up to the first word
    return f"len(regexp_extract_all({column}, '{WORD}')) < {n}"


def _in_plain_words(error: Exception, work: Path) -> Exception:
    text = str(error)
    what = text.splitlines()[0].removeprefix("Out of Memory Error: ").rstrip(".") if text else ""
    no_space = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if no_space or any(sign in text for sign in FULL_DISK):
        return ArgusError(
            f"The disk of {work} is full: {what}. Free some space there, or move the folder to a "
            "larger disk; the same command then goes on with what is done."
        )
    if text.startswith("Out of Memory"):
        return ArgusError(
            f"Alignment needs more memory than it is allowed: {what}. Allow it more; the same "
            "command then goes on with what is done."
        )
    if isinstance(error, OSError):
        return error
    return ArgusError(
        f"The tables of {work} cannot be joined: {what}. Remove that folder; the same command "
        "makes it again."
    )


def _quoted(path: Path | str) -> str:
    return "'" + str(path).replace("'", "''") + "'"
