"""Relate entities: a graph from a triples file, links, or titles named in texts."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from argus.data.rows import Row, file_format, id_value, read_rows
from argus.data.text_files import read_lines
from argus.data.types import IntArray
from argus.errors import InputError, Location

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
    """Yield the text in blocks of whole lines. rest: the part that was read already."""
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


HEADER_HINT = " If this line is a header, call its columns subject, relation, object."


@dataclass(frozen=True)
class RelationGraph:
    """Neighbour lists over entities `0..n-1`. `indices[indptr[i]:indptr[i+1]]` is sorted.

    `T_x` of ARGUS §3.2 is `neighbours(x)`: entities connected to x by any property, in either
    direction (§B.2). The counters are of the triples that were read.
    """

    indptr: IntArray
    indices: IntArray
    triples: int = 0
    self_loops: int = 0
    unknown: int = 0

    @classmethod
    def from_edges(
        cls, n: int, subjects: IntArray, objects: IntArray, *, unknown: int = 0
    ) -> RelationGraph:
        """Build from edge endpoints, each of shape (n_triples,), values in `0..n-1`.

        Takes 40 bytes per triple beside its input, and a sort.
        """
        subjects, objects = np.asarray(subjects, np.int64), np.asarray(objects, np.int64)
        proper = subjects != objects
        self_loops = len(proper) - int(np.count_nonzero(proper))
        s, o = (subjects[proper], objects[proper]) if self_loops else (subjects, objects)
        keys = np.empty(2 * len(s), np.int64)  # both directions
        for ends, out in (((s, o), keys[: len(s)]), ((o, s), keys[len(s) :])):
            np.multiply(ends[0], n, out=out)
            out += ends[1]
        keys.sort()  # np.unique would hash, which takes twenty times as long
        first = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        keys = keys[first]
        indptr = np.searchsorted(keys, np.arange(n + 1) * n)
        np.remainder(keys, max(n, 1), out=keys)
        return cls(
            indptr,
            keys,
            triples=len(subjects) + unknown,
            self_loops=self_loops,
            unknown=unknown,
        )

    @property
    def n(self) -> int:
        """Number of entities."""
        return len(self.indptr) - 1

    @property
    def n_pairs(self) -> int:
        """Number of directed pairs (x, t): twice the number of edges."""
        return len(self.indices)

    @property
    def degree(self) -> IntArray:
        """Number of related entities of each entity, shape (n,)."""
        return np.diff(self.indptr)

    def neighbours(self, i: int) -> IntArray:
        """Return the entities related to entity `i`, sorted."""
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def restrict(self, keep: np.ndarray) -> RelationGraph:
        """Return the graph among the entities where `keep` (bool, shape (n,)) is true.

        Entities are renumbered in order. Edges to dropped entities are gone. The counters go on
        counting the triples read. Where all are to stay it is the graph itself.
        """
        if keep.all():
            return self
        new = np.cumsum(keep) - 1
        s = np.repeat(np.arange(self.n), self.degree)
        both = keep[s] & keep[self.indices]
        part = RelationGraph.from_edges(int(keep.sum()), new[s[both]], new[self.indices[both]])
        return replace(part, triples=self.triples, self_loops=self.self_loops, unknown=self.unknown)


def read_relations(
    path: Path, index: Mapping[str, int], *, skip_unknown: bool = False, coerce_ids: bool = False
) -> RelationGraph:
    """Read a triples file (TSV, CSV, Parquet or JSONL) over the entities of `index`.

    A file has a header (subject, relation, object). A TSV file may have none: then three columns
    are subject, relation, object, and two are subject, object. Raises InputError for a line of
    another width and for an id that is not among the entities, unless `skip_unknown`, which
    counts and drops such edges.
    """
    columns = read_edge_columns(path, index, coerce_ids=coerce_ids)
    if columns is not None and (skip_unknown or not columns.unknown):
        return RelationGraph.from_edges(
            len(index), columns.subjects, columns.objects, unknown=columns.unknown
        )
    return read_relations_by_row(path, index, skip_unknown=skip_unknown, coerce_ids=coerce_ids)


def read_relations_by_row(
    path: Path, index: Mapping[str, int], *, skip_unknown: bool = False, coerce_ids: bool = False
) -> RelationGraph:
    """Read as `read_relations` does, row by row: for JSONL, and to name an error and its place."""
    subjects: list[int] = []
    objects: list[int] = []
    unknown = 0
    for row, subject_field, object_field in _edge_rows(path):
        ends = []
        for field in (subject_field, object_field):
            id_ = id_value(row, field, coerce=coerce_ids)
            position = index.get(id_)
            if position is None:
                if not skip_unknown:
                    raise InputError(
                        f"{id_!r} is not the id of an entity",
                        expected=f"one of the {len(index)} ids read",
                        fix=(
                            "Add the entity, mend the id, or pass --skip-unknown."
                            + (HEADER_HINT if row.line == 1 else "")
                        ),
                        where=row.at(field),
                    )
                unknown += 1
                break
            ends.append(position)
        else:
            subjects.append(ends[0])
            objects.append(ends[1])
    return RelationGraph.from_edges(
        len(index), np.array(subjects, np.int64), np.array(objects, np.int64), unknown=unknown
    )


def _edge_rows(path: Path) -> Iterator[tuple[Row, str, str]]:
    if path.is_file() and file_format(path) == ".tsv":
        header = next(read_lines(path), (1, ""))[1].rstrip("\r\n").split("\t")
        if not (set(header) & set(SUBJECT_FIELDS) and set(header) & set(OBJECT_FIELDS)):
            yield from _headless_rows(path)
            return
    names: tuple[str, str] | None = None
    for row in read_rows(path):
        if names is None:
            names = (_edge_field(row, SUBJECT_FIELDS), _edge_field(row, OBJECT_FIELDS))
        yield row, *names


def _edge_field(row: Row, names: tuple[str, ...]) -> str:
    for name in names:
        if name in row.values:
            return name
    raise InputError(
        f"columns are {', '.join(map(repr, row.values))}",
        expected=f"an edge's end in one of {', '.join(map(repr, names))}",
        fix="Rename the columns to subject, relation, object.",
        where=row.at(),
    )


def _headless_rows(path: Path) -> Iterator[tuple[Row, str, str]]:
    width = 0
    for number, line in read_lines(path):
        fields = line.rstrip("\r\n").split("\t")
        if fields == [""]:
            continue
        width = width or len(fields)
        if len(fields) != width or width not in (2, 3):
            raise InputError(
                f"{len(fields)} columns",
                expected=f"{width if width in (2, 3) else '3 (subject, relation, object)'} columns",
                fix="Separate columns by one tab, or give the file a header.",
                where=Location(path, number),
            )
        yield Row({"subject": fields[0], "object": fields[-1]}, path, number), "subject", "object"
