"""Parquet files: damage in one is an error that names the file and the row group.

What Argus writes has a checksum per page, so that a bit that flipped on a disk is told, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, NotRequired, TypeVar, Union, get_args, get_origin

from typing_extensions import get_type_hints

from argus.errors import InputError, Location

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

R = TypeVar("R")
BATCH_BYTES = 1 << 27
"""Of what is read at once."""
REPAIR = "Write it again, or give it its true ending."
WRITTEN = "Run the command again with the same --out; vectors are kept."
"""How a table that Argus wrote is had again."""
MOST_ROWS = 2**40
"""No footer that promises more rows is believed."""


@contextmanager
def reading(path: Path, group: int | None = None, *, fix: str = REPAIR) -> Iterator[None]:
    """Turn what a damaged file raises into an InputError that names it. group: counted from 0."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, ArithmeticError, MemoryError) as error:
        place = "" if group is None else f" in row group {group + 1}"
        raise _damaged(path, f"cannot be read as Parquet{place} ({_first_line(error)})", fix) from (
            error
        )


def open_parquet(path: Path, *, fix: str = REPAIR) -> pq.ParquetFile:
    """Open a Parquet file; checksums of pages are compared where it has them.

    Raises InputError for what is no Parquet, and for a footer that cannot be true.
    """
    import pyarrow.parquet as pq

    with reading(path, fix=fix):
        file = pq.ParquetFile(path, page_checksum_verification=True)
        about = file.metadata
        rows = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        if min(rows, default=0) < 0 or sum(rows) != about.num_rows or sum(rows) > MOST_ROWS:
            raise ValueError(f"its footer promises {about.num_rows} rows in groups of {rows[:5]}")
        _ = file.schema_arrow
    return file


def read_batches(
    path: Path, columns: Sequence[str] | None = None, *, rows: int = 1 << 16, fix: str = REPAIR
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, at most `rows` at once. columns: None takes all.

    Of long values fewer are read at once: a few bytes of a file may stand for very many. Raises
    InputError, which names the row group, for what cannot be read.
    """
    file = open_parquet(path, fix=fix)
    _require(path, columns, file.schema_arrow, fix)
    names = None if columns is None else list(columns)
    for group in range(file.num_row_groups):
        with reading(path, group, fix=fix):
            batches = file.iter_batches(
                _at_once(path, file, group, names, rows),
                row_groups=[group],
                columns=names,
            )
        while True:
            with reading(path, group, fix=fix):
                batch = next(batches, None)
                if batch is not None:
                    batch.validate(full=True)
            if batch is None:
                break
            yield batch


def _at_once(
    path: Path, file: pq.ParquetFile, group: int, columns: list[str] | None, rows: int
) -> int:
    """Return how many rows of a group come to BATCH_BYTES at most, from 1 to `rows`.

    A row is read first: what is said of a chunk, where it is damaged, raises there and aborts the
    process where it is asked for.
    """
    about, schema = file.metadata.row_group(group), file.schema
    leaves = [
        i for i in range(len(schema)) if columns is None or _is_of(schema.column(i).path, columns)
    ]
    if not about.num_rows or not leaves:
        return rows
    texts = [i for i in leaves if schema.column(i).physical_type == "BYTE_ARRAY"]
    longest = _longest(path, file, group, columns, [schema.column(i).path for i in texts])
    if longest is None:
        next(file.iter_batches(1, row_groups=[group], columns=columns), None)
    size: int = sum(about.column(i).total_uncompressed_size for i in leaves) // about.num_rows
    return max(1, min(rows, BATCH_BYTES // max(1, size + (longest or 0))))


def _is_of(leaf: str, columns: Sequence[str]) -> bool:
    return any(leaf == name or leaf.startswith(f"{name}.") for name in columns)


def _longest(
    path: Path, file: pq.ParquetFile, group: int, columns: list[str] | None, texts: list[str]
) -> int | None:
    """Return the bytes of the longest values that columns of texts list once, together.

    None where a row cannot be read so: read as it is, it tells what is wrong.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    longest: int = 0
    with (
        suppress(pa.ArrowException, OSError, ValueError, LookupError, StopIteration),
        pq.ParquetFile(path, metadata=file.metadata, read_dictionary=texts) as listing,
    ):
        for column in next(listing.iter_batches(1, row_groups=[group], columns=columns)).columns:
            while isinstance(column, pa.ListArray | pa.LargeListArray):
                column = column.values
            if isinstance(column, pa.DictionaryArray) and len(column.dictionary):
                longest += pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        return longest
    return None


def read_rows_of(path: Path, *, fix: str = REPAIR) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a file as dictionaries, numbered from 1."""
    number = 0
    for batch in read_batches(path, rows=1 << 13, fix=fix):
        with reading(path, fix=fix):
            values = batch.to_pylist()
        for row in values:
            number += 1
            yield number, row


def read_table(path: Path, columns: Sequence[str] | None = None, *, fix: str = WRITTEN) -> pa.Table:
    """Return a table that Argus wrote. columns: None takes all.

    Raises InputError for a file that is missing or damaged, and for a column that it lacks.
    """
    file = open_parquet(path, fix=fix)
    _require(path, columns, file.schema_arrow, fix)
    names = None if columns is None else list(columns)
    try:
        with reading(path, fix=fix):
            table = file.read(columns=names)
            table.validate(full=True)
    except InputError:
        for _ in read_batches(path, columns, fix=fix):
            pass  # says which row group it is
        raise
    return table


Filter = tuple[str, str, Any]
"""A column, a comparison (=, !=, <, >, <=, >=, in), and what it is compared with."""


def read_where(
    path: Path, where: Sequence[Filter], columns: Sequence[str] | None = None
) -> pa.Table:
    """Return the rows of a table that Argus wrote for which all of `where` holds.

    A block of rows is in memory at a time. columns: None takes all. Raises as `read_table` does.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    needed = None if columns is None else [*dict.fromkeys([*columns, *(f[0] for f in where)])]
    _require(path, [f[0] for f in where], open_parquet(path, fix=WRITTEN).schema_arrow, WRITTEN)
    holds = pq.filters_to_expression(list(where)) if where else None
    parts = []
    for batch in read_batches(path, needed, fix=WRITTEN):
        part = pa.Table.from_batches([batch])
        with reading(path, fix=WRITTEN):
            parts.append(part if holds is None else part.filter(holds))
    table = pa.concat_tables(parts) if parts else read_table(path, needed)
    return table if columns is None else table.select(list(columns))


def read_names(path: Path) -> frozenset[str]:
    """Return the columns of a table that Argus wrote. Raises InputError for one that is damaged."""
    return frozenset(open_parquet(path, fix=WRITTEN).schema_arrow.names)


def read_records(kind: type[R], path: Path, *, fix: str = WRITTEN) -> list[R]:
    """Return the rows of a table that Argus wrote, with the columns that `kind` names.

    kind: a TypedDict; a column that it does not require may be missing. Raises InputError where
    the table is damaged, lacks a column, or holds another type than `kind` says.
    """
    schema = open_parquet(path, fix=fix).schema_arrow
    hints = get_type_hints(kind)
    needs = get_type_hints(kind, include_extras=True)
    columns = [n for n in hints if n in schema.names or not _may_lack(needs[n])]
    table = read_table(path, columns, fix=fix)
    for name in columns:
        if not _holds(table.schema.field(name).type, hints[name]):
            raise _damaged(path, f"column {name!r} holds {table.schema.field(name).type}", fix)
    with reading(path, fix=fix):
        rows: list[R] = table.to_pylist()
    return rows


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Argus keeps them: compressed, with a checksum per page."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def _require(path: Path, columns: Sequence[str] | None, schema: pa.Schema, fix: str) -> None:
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise _damaged(path, f"two columns are called {twice[0]!r}", fix)
    missing = [name for name in columns or () if name not in schema.names]
    if missing:
        raise _damaged(path, f"no column {missing[0]!r} among {', '.join(schema.names)}", fix)


def _may_lack(hint: Any) -> bool:
    """Return whether a TypedDict's key is NotRequired; as text, annotations hide that from it."""
    origin: Any = get_origin(hint)
    return origin is NotRequired


def _holds(type_: pa.DataType, hint: Any) -> bool:
    """Return whether a column of a type can be what an annotation says; None fits everything."""
    import pyarrow.types as of

    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        return any(_holds(type_, one) for one in get_args(hint))
    if of.is_null(type_) or hint in (Any, object):
        return True
    if of.is_dictionary(type_):
        return _holds(type_.value_type, hint)
    kind = get_origin(hint) or hint
    fits: Mapping[Any, bool] = {
        str: of.is_string(type_) or of.is_large_string(type_),
        bool: of.is_boolean(type_),
        int: of.is_integer(type_),
        float: of.is_floating(type_) or of.is_integer(type_),
        list: of.is_list(type_) or of.is_large_list(type_) or of.is_fixed_size_list(type_),
        type(None): of.is_null(type_),
    }
    return fits.get(kind, True)


def _damaged(path: Path, what: str, fix: str) -> InputError:
    return InputError(what, expected="a whole Parquet file", fix=fix, where=Location(path))


def _first_line(error: BaseException) -> str:
    text = next(iter(str(error).strip().splitlines()), "")[:300]
    return text or type(error).__name__
