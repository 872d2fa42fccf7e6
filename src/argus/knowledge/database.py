"""Join and sort Parquet tables that are larger than memory, in DuckDB."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from argus.cores import available_cores
from argus.errors import ArgusError
from argus.extras import naming_extras

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


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
