"""Define the intermediate tables of a knowledge base build, write them, and query them with DuckDB.

Sources (`argus.knowledge.pages`, `argus.knowledge.triples`) write entities, relations and aliases
through `RawWriter`, as Parquet under `work/raw`. `argus.knowledge.alignment` joins and sorts the
tables through `Database`, which spills to disk.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from argus.cores import available_cores
from argus.data.writing import writable
from argus.errors import ArgusError
from argus.extras import naming_extras

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS_PER_PART = 50_000


def schema_of(names: str, /, **others: pa.DataType) -> pa.Schema:
    """Return a schema of texts, but for the columns of `others`."""
    return pa.schema([(name, others.get(name, pa.string())) for name in names.split()])


# Pages of Wikipedia. redirect: title where it leads, null for others. reason: why it is no article,
# "" for articles. paragraph: "" where there is none.
PAGES = schema_of("title redirect reason paragraph")
# Titles of an article and of the pages that it links to.
LINKS = schema_of("source target")
# Items of Wikidata, with texts in one language. label: null where there is none. article: title of
# its page in that language's Wikipedia, or null. disambiguation: it says that it is such a page.
ITEMS = schema_of(
    "id label description aliases article disambiguation",
    aliases=pa.list_(pa.string()),
    disambiguation=pa.bool_(),
)
# Relations of items: ids as in "Q42", a property as in "P31".
STATEMENTS = schema_of("subject property object")
# Columns of the tables under `raw/`, which alignment and every other source write. An end of a
# relation may be no entity, or null.
RAW = {
    "entities": schema_of("id label description article paragraph"),
    "relations": schema_of("subject property object source"),
    "aliases": schema_of("id alias source"),
    "redirects": schema_of("title target id"),
}


def rows_to_table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Return rows, their values in the order of the schema, as a table."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


class PartWriter:
    """Writes rows into `folder/part-00000.parquet` and on, and counts them in `rows`.

    Raises NotWritten where the disk takes no more.
    """

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self.folder, self._schema = folder, schema
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
            path = self.folder / f"part-{self._parts:05d}.parquet"
            with writable(path):
                pq.write_table(rows_to_table(self._buffer, self._schema), path, compression="zstd")
            self._parts += 1
            self._buffer.clear()


class RawWriter:
    """Writes entities, relations and aliases under `work/raw`, in place of earlier ones.

    Use it as a context manager. limit: entities that are taken. `beyond` counts the others.
    """

    def __init__(self, work: Path, *, limit: int | None = None) -> None:
        self.work, self.beyond, self._limit = work, 0, limit
        with writable(work):
            shutil.rmtree(work / "raw", ignore_errors=True)
        self.tables = {
            name: PartWriter(work / "raw" / name, RAW[name])
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


# White space as Python sees it, for regular expressions of DuckDB (RE2 knows only ASCII's).
BLANK = r"[\t-\r\x1c-\x20\x{85}\pZ]"
# A word as `count_words` (argus.knowledge.wikitext) sees it, in a string of SQL.
WORD = (
    r"[\x{0e00}-\x{0eff}\x{1000}-\x{109f}\x{3040}-\x{30ff}\x{3400}-\x{9fff}]{1,2}"
    r"|[\pL\pN_]+(?:[''’.-][\pL\pN_]+)*"
)


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

    Raises ArgusError when the disk or the memory is full, or a table broken.
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
    except duckdb.Error as error:
        raise ArgusError(
            f"The tables of {work} cannot be joined: {str(error).splitlines()[0]}. Free disk space "
            "there, allow more memory, or remove that folder; the same command then goes on."
        ) from error
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


def _quoted(path: Path | str) -> str:
    return "'" + str(path).replace("'", "''") + "'"
