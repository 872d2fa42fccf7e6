"""Ends of edges out of a triples file, column by column.

For files in which nothing is out of the ordinary; at anything else the reader gives up, and rows
are read one by one (argus.knowledge.relations), which also says what is wrong and where.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from argus.data.rows import file_format
from argus.data.types import IntArray
from argus.errors import InputError

SUBJECT_FIELDS = ("subject", "head", "source", "s", "from")
OBJECT_FIELDS = ("object", "tail", "target", "o", "to")
BLOCK_BYTES = 1 << 26
"""Text that is parsed and looked up at once."""
_BOM = b"\xef\xbb\xbf"
_UNREADABLE = (InputError, pa.ArrowException, UnicodeError, OSError, EOFError, zlib.error)
Ends = tuple[pa.ChunkedArray, pa.ChunkedArray]


@dataclass(frozen=True)
class EdgeColumns:
    """Positions of the ends of edges, each of shape (n_edges,).

    unknown: how many edges were left out because an end is not among the ids.
    """

    subjects: IntArray
    objects: IntArray
    unknown: int


class _OutOfTheOrdinary(Exception):
    pass


def read_edge_columns(
    path: Path, index: Mapping[str, int], *, coerce_ids: bool = False
) -> EdgeColumns | None:
    """Return the edges of a TSV, CSV or Parquet file over `index` (id to position).

    None for JSONL, and wherever a row may not be what it seems: quotes, lone carriage returns,
    other widths, empty ids, nulls, numbers (unless Parquet's whole numbers are to be coerced),
    bytes that are not UTF-8, damaged files.
    """
    positions = np.fromiter(index.values(), np.int64, len(index))
    subjects, objects = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    unknown = 0
    with suppress(_OutOfTheOrdinary, *_UNREADABLE):
        ids = pa.array(list(index), pa.large_string())
        for ends in _ends(path, coerce_ids=coerce_ids):
            places = [pc.index_in(_as_ids(end), value_set=ids) for end in ends]
            valid = pc.and_(pc.is_valid(places[0]), pc.is_valid(places[1]))
            unknown += len(valid) - pc.sum(valid, min_count=0).as_py()
            subjects.append(positions[places[0].filter(valid).to_numpy()])
            objects.append(positions[places[1].filter(valid).to_numpy()])
        return EdgeColumns(np.concatenate(subjects), np.concatenate(objects), unknown)
    return None


def _as_ids(end: pa.ChunkedArray) -> pa.ChunkedArray:
    end = end.cast(pa.large_string())
    if end.null_count or pc.any(pc.equal(end, ""), min_count=0).as_py():
        raise _OutOfTheOrdinary
    return end


def _ends(path: Path, *, coerce_ids: bool) -> Iterator[Ends]:
    suffix = file_format(path)
    if suffix == ".parquet":
        return _parquet_ends(path, coerce_ids=coerce_ids)
    if suffix in (".tsv", ".csv"):
        return _text_ends(path, "\t" if suffix == ".tsv" else ",")
    raise _OutOfTheOrdinary


def _parquet_ends(path: Path, *, coerce_ids: bool) -> Iterator[Ends]:
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        ends = _end_columns(names)
        for end in ends:
            if not _is_id_type(file.schema_arrow.field(end).type, coerce_ids=coerce_ids):
                raise _OutOfTheOrdinary
        groups: list[pa.Table] = []
        for group in range(file.num_row_groups):
            groups.append(file.read_row_group(group, list(dict.fromkeys(ends))))
            whole = group + 1 == file.num_row_groups
            if whole or sum(table.nbytes for table in groups) >= BLOCK_BYTES:
                table = pa.concat_tables(groups)
                yield table[ends[0]], table[ends[1]]
                groups = []


def _is_id_type(kind: pa.DataType, *, coerce_ids: bool) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        coerce_ids = False
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return text or (coerce_ids and pa.types.is_integer(kind))


def _end_columns(names: list[str]) -> tuple[str, str]:
    """Return the columns of subject and object, as reading by row chooses them."""
    subject = next((name for name in SUBJECT_FIELDS if name in names), None)
    object_ = next((name for name in OBJECT_FIELDS if name in names), None)
    if subject is None or object_ is None or len(set(names)) < len(names):
        raise _OutOfTheOrdinary
    return subject, object_


def _text_ends(path: Path, delimiter: str) -> Iterator[Ends]:
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rb") as file:
        first = file.readline().removeprefix(_BOM)
        names = first.decode("utf-8").rstrip("\r\n").split(delimiter)
        _refuse_odd(first, delimiter)
        if delimiter == "," or (set(names) & {*SUBJECT_FIELDS} and set(names) & {*OBJECT_FIELDS}):
            ends, rest = _end_columns(names), b""
        else:
            names, rest = _headless(first, delimiter), first
            ends = "subject", "object"
        for block in _blocks(file, rest):
            _refuse_odd(block, delimiter)
            table = _parse(block, names, delimiter)
            yield table[ends[0]], table[ends[1]]


def _headless(first: bytes, delimiter: str) -> list[str]:
    names = {2: ["subject", "object"], 3: ["subject", "relation", "object"]}
    width = first.count(delimiter.encode()) + 1
    if width not in names:
        raise _OutOfTheOrdinary
    return names[width]


def _refuse_odd(block: bytes, delimiter: str) -> None:
    lone_return = block.count(b"\r") != block.count(b"\r\n")
    marked = block.startswith(_BOM)  # it would be taken off, which is right in a file's first only
    if lone_return or marked or b"\0" in block or (delimiter == "," and b'"' in block):
        raise _OutOfTheOrdinary


def _blocks(file: BinaryIO | gzip.GzipFile, rest: bytes) -> Iterator[bytes]:
    """Yield the text in blocks of whole lines; rest: what was read of it already."""
    while data := file.read(BLOCK_BYTES):
        whole, newline, data = (rest + data).rpartition(b"\n")
        if newline:
            yield whole + newline
        elif len(data) >= BLOCK_BYTES:
            raise _OutOfTheOrdinary  # a line that long
        rest = data
    if rest:
        yield rest


def _parse(block: bytes, names: list[str], delimiter: str) -> pa.Table:
    if not block.strip(b"\r\n"):
        return pa.table({name: pa.array([], pa.string()) for name in names})
    return pa.csv.read_csv(
        pa.BufferReader(block),
        read_options=pa.csv.ReadOptions(column_names=names, block_size=len(block) + 1),
        parse_options=pa.csv.ParseOptions(
            delimiter=delimiter, quote_char=False, newlines_in_values=False
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
