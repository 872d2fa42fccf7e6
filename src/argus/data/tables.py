"""Read and write Parquet tables with a checksum per page, and make text safe for cells of CSV.

`read_table`, `read_batches`, `read_where`: path -> Arrow; damage raises InputError with file and
row group. `write_table`: Arrow -> a file. `harmless`, `harmless_table`: an apostrophe before cells
that spreadsheets run as formulas; `as_written` takes it away. CSV files are written by
`argus.data.folders` and read by `argus.data.rows`. `ArtifactFolder.write_table` replaces a table
whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.reading import WRITTEN, reading
from argus.errors import InputError, Location

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

Filter = tuple[str, str, Any]  # a column, a comparison (=, !=, <, >, <=, >=, in), and its value
MAX_ROWS = 2**40  # a footer that promises more is damaged
REPAIR = "Write it again, or give it its true ending."
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_FORMULA = rf"\A'*[{re.escape(''.join(FORMULA))}]"


def open_parquet(path: Path, *, fix: str = REPAIR) -> pq.ParquetFile:
    """Open a Parquet file. Checksums of pages are compared where it has them.

    Raises InputError for any other file, and for a footer that cannot be true.
    """
    import pyarrow.parquet as pq

    with _reading(path, fix):
        file = pq.ParquetFile(path, page_checksum_verification=True)
        about = file.metadata
        rows = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        if min(rows, default=0) < 0 or sum(rows) != about.num_rows or sum(rows) > MAX_ROWS:
            raise ValueError(f"its footer promises {about.num_rows} rows in groups of {rows[:5]}")
        _ = file.schema_arrow
    return file


def read_batches(
    path: Path, columns: Sequence[str] | None = None, *, rows: int = 1 << 13, fix: str = REPAIR
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, at most `rows` at once. columns: None reads all.

    Raises InputError, which names the row group, for a file that cannot be read.
    """
    file = open_parquet(path, fix=fix)
    there = file.schema_arrow.names
    got = next((f"two columns are called {n!r}" for n in sorted(there) if there.count(n) > 1), "")
    lacking = next((name for name in columns or () if name not in there), None)
    if not got and lacking is not None:
        got = f"no column {lacking!r} among {', '.join(there)}"
    if got:
        where, expected = Location(path), "a whole Parquet file"
        raise InputError(got, expected=expected, fix=fix, where=where)
    names = None if columns is None else list(columns)
    for group in range(file.num_row_groups):
        batches = file.iter_batches(rows, row_groups=[group], columns=names)
        while True:
            with _reading(path, fix, group):
                batch = next(batches, None)
                if batch is not None:
                    batch.validate(full=True)
            if batch is None:
                break
            yield batch


def read_rows_of(path: Path, *, fix: str = REPAIR) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a file as dictionaries, numbered from 1."""
    number = 0
    for batch in read_batches(path, fix=fix):
        with _reading(path, fix):
            values = batch.to_pylist()
        for row in values:
            number += 1
            yield number, row


def read_table(path: Path, columns: Sequence[str] | None = None, *, fix: str = WRITTEN) -> pa.Table:
    """Return a table that Argus wrote. columns: None reads all.

    Raises InputError for a file that is missing or damaged, and for a column that it lacks.
    """
    import pyarrow as pa

    batches = list(read_batches(path, columns, rows=1 << 16, fix=fix))
    if not batches:
        empty = open_parquet(path, fix=fix).schema_arrow.empty_table()
        return empty if columns is None else empty.select(list(columns))
    return pa.Table.from_batches(batches)


def read_where(
    path: Path, where: Sequence[Filter], columns: Sequence[str] | None = None
) -> pa.Table:
    """Return the rows of a table that Argus wrote for which all of `where` holds.

    One block of rows is in memory at a time. columns: None reads all. Raises as `read_table` does.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    needed = None if columns is None else [*dict.fromkeys([*columns, *(f[0] for f in where)])]
    holds = pq.filters_to_expression(list(where)) if where else True
    parts = []
    for batch in read_batches(path, needed, fix=WRITTEN):
        with _reading(path, WRITTEN):
            parts.append(pa.Table.from_batches([batch]).filter(holds))
    table = pa.concat_tables(parts) if parts else read_table(path, needed)
    return table if columns is None else table.select(list(columns))


def read_names(path: Path) -> frozenset[str]:
    """Return the columns of a table that Argus wrote. Raises InputError for a damaged one."""
    return frozenset(open_parquet(path, fix=WRITTEN).schema_arrow.names)


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet: compressed, with a checksum per page."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def harmless(text: str) -> str:
    """Return a cell's text with an apostrophe before a formula."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) else text


def as_written(text: str) -> str:
    """Return the text of a cell that `harmless` made."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text


def harmless_table(table: pa.Table) -> pa.Table:
    """Return a table with an apostrophe before each formula."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        column = table.column(i)
        if pa.types.is_dictionary(field.type) and pa.types.is_string(field.type.value_type):
            column = column.cast(pa.string())
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        is_formula = pc.fill_null(pc.match_substring_regex(column, _FORMULA), False)
        quote, nothing = pa.scalar("'", column.type), pa.scalar("", column.type)
        marked = pc.binary_join_element_wise(quote, column, nothing)
        table = table.set_column(i, field.name, pc.if_else(is_formula, marked, column))
    return table


def _reading(path: Path, fix: str, group: int | None = None) -> AbstractContextManager[None]:
    """Name the file, and the row group counted from 0, in whatever a damaged file raises."""
    place = "" if group is None else f" in row group {group + 1}"
    what = f"cannot be read as Parquet{place}"
    return reading(Location(path), what, expected="a whole Parquet file", fix=fix)
