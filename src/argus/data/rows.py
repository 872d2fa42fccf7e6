"""Rows out of JSONL, CSV, TSV and Parquet files, each knowing the line it came from."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from argus.data.field_paths import At
from argus.data.text_files import check_file, not_utf8
from argus.errors import InputError, Location

FORMATS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
ARROW = ".arrow"
"""Of the streams that `datasets` saves; they are read, and not looked for as a corpus."""

csv.field_size_limit(1 << 30)  # documents are longer than the csv module's default of 128 KiB


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a file and where it stands."""

    values: Mapping[str, Any]  # of a foreign file: anything that JSON or Parquet can hold
    file: Path
    line: int

    def at(self, field: str | None = None) -> Location:
        """Return the location of `field` in this row."""
        return Location(self.file, self.line, field)


def file_format(path: Path) -> str:
    """Return the format suffix of `path`, looking through a final `.gz`."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in FORMATS:
        raise InputError(
            f"file type {suffix or '(none)'} is not known",
            expected=f"one of {', '.join(FORMATS)} (text formats may be gzipped)",
            fix="Convert the file, or rename it if only its ending is wrong.",
            where=path,
        )
    return suffix


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a JSONL, CSV, TSV or Parquet file, or of an Arrow stream.

    Line numbers are 1-based lines for text files (a CSV header is line 1) and 1-based rows for
    Parquet and Arrow. Raises InputError for a missing file, an unknown format, bytes that are not
    UTF-8, broken JSON, damaged Parquet, and rows whose number of fields differs from the header's.
    """
    check_file(path, f"a {', '.join(FORMATS)} file")
    if path.suffix.lower() == ARROW:
        yield from _arrow_rows(path)
        return
    suffix = file_format(path)
    if suffix == ".parquet":
        yield from _parquet_rows(path)
    elif suffix in (".csv", ".tsv"):
        yield from _delimited_rows(path, "\t" if suffix == ".tsv" else ",")
    else:
        yield from read_json_lines(path)


_Opener = Callable[[Path, Literal["rb"]], io.BufferedIOBase]
_PACKINGS: dict[str, tuple[_Opener, str, tuple[type[Exception], ...]]] = {
    ".gz": (gzip.open, "gzip", (EOFError, zlib.error, gzip.BadGzipFile)),
    ".bz2": (bz2.open, "bzip2", (EOFError, OSError, ValueError)),
}
"""How text files are opened by their ending, and what damage raises."""
LONGEST = 1 << 28
"""Bytes of a line: it is held in memory as a whole, and a little .gz may hold a long one."""


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield `(line number, text)` of a UTF-8 file, plain, .gz or .bz2.

    Raises InputError, which names the line, for what is not UTF-8 or longer than LONGEST, and for
    damaged compression.
    """
    opener, packing, damage = _PACKINGS.get(path.suffix.lower(), (open, "", ()))
    number = 0
    with opener(path, "rb") as raw:
        while True:
            number += 1
            try:
                line = raw.readline(LONGEST + 1)
                if not line:
                    return
                if len(line) > LONGEST:
                    raise InputError(
                        f"a line of more than {LONGEST:,} bytes",
                        expected="shorter lines",
                        fix="Break it up; of a document, give its parts.",
                        where=Location(path, number),
                    )
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise not_utf8(error, Location(path, number), packed=bool(packing)) from error
            except damage as error:
                raise InputError(
                    f"the {packing} data are damaged or cut off ({error})",
                    expected=f"a whole {packing} file",
                    fix="Make or fetch the file again; if it is not compressed, drop the "
                    f"{path.suffix}.",
                    where=Location(path, number),
                ) from error
            yield number, text


def read_ids(path: Path, expected: str = "a file with one id per line") -> list[tuple[int, str]]:
    """Return `(line number, id)` of a file with an id on each line; empty lines are passed over.

    An id keeps all that it holds, spaces and other separators too: a line feed alone ends it.
    """
    check_file(path, expected)
    ids = ((number, line.rstrip("\r\n")) for number, line in read_lines(path))
    return [(number, id_) for number, id_ in ids if id_]


def read_columns(
    path: Path, columns: Sequence[str], *, fix: str
) -> Iterator[tuple[Location, list[str]]]:
    """Yield where each line stands and its columns (TREC files).

    Split at white space; empty lines are passed over. Raises InputError with `fix` for another
    number of columns.
    """
    for number, line in read_lines(path):
        fields = line.split()
        where = Location(path, number)
        if fields and len(fields) != len(columns):
            raise InputError(
                f"{len(fields)} columns",
                expected=f"{len(columns)}, split at white space: {', '.join(columns)}",
                fix=fix,
                where=where,
            )
        if fields:
            yield where, fields


def read_json_lines(path: Path) -> Iterator[Row]:
    """Yield the rows of JSON lines, whatever the file is called.

    Raises InputError, with the line, for what is no JSON object.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            problem = (
                f"at column {error.colno} ({error.msg})"
                if isinstance(error, json.JSONDecodeError)
                else f"({error})"
            )
            raise InputError(
                f"broken JSON {problem}: {_excerpt(line)}",
                expected="one JSON object per line",
                fix="Mend or remove the line.",
                where=Location(path, number),
            ) from error
        if not isinstance(values, dict):
            raise InputError(
                f"a JSON {type(values).__name__}: {_excerpt(line)}",
                expected="a JSON object per line",
                fix="Write each record as {...} on its own line.",
                where=Location(path, number),
            )
        yield Row(values, path, number)


def _delimited_rows(path: Path, delimiter: str) -> Iterator[Row]:
    reader = csv.reader(
        (line for _, line in read_lines(path)),
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
        strict=True,
    )
    header: list[str] | None = None
    while True:
        first_line = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"cannot be split into fields ({error})",
                expected="quotes that are closed and no stray carriage return",
                fix="Close the quote, or remove the character.",
                where=Location(path, first_line),
            ) from error
        if fields is None:
            return
        if header is None:
            header = _header(fields, path)
        elif fields:
            yield Row(_zipped(header, fields, Location(path, first_line)), path, first_line)


def _header(names: list[str], path: Path) -> list[str]:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"two columns are called {twice!r}",
            expected="one column per name",
            fix="Rename one of them.",
            where=Location(path, 1),
        )
    return names


def _zipped(header: list[str], fields: list[str], where: Location) -> dict[str, str]:
    if len(fields) != len(header):
        raise InputError(
            f"{len(fields)} fields",
            expected=f"{len(header)} as in the header ({', '.join(header)})",
            fix="Quote fields that contain the delimiter, or mend the line.",
            where=where,
        )
    return dict(zip(header, fields, strict=True))


def _parquet_rows(path: Path) -> Iterator[Row]:
    from argus.data.tables import read_rows_of

    for number, values in read_rows_of(path):
        yield Row(values, path, number)


def _arrow_rows(path: Path) -> Iterator[Row]:
    import pyarrow as pa

    number = 0
    try:
        with pa.memory_map(str(path)) as source:
            for batch in pa.ipc.open_stream(source):
                batch.validate(full=True)  # else a damaged offset ends the process
                for values in batch.to_pylist():
                    number += 1
                    yield Row(values, path, number)
    except (pa.ArrowException, OSError, ValueError, ArithmeticError, MemoryError) as error:
        raise InputError(
            f"cannot be read as Arrow ({str(error)[:300]})",
            expected="a stream, as `datasets` saves it",
            fix="Save it again, as Parquet if need be.",
            where=path,
        ) from error


def pick_field(row: Row, names: Sequence[str], *, what: str, option: str | None = None) -> str:
    """Return the first of `names` that the row has; InputError names what is there instead.

    names: columns, or dotted paths. option: of the command line, which names another column.
    """
    for name in names:
        if has_field(row, name):
            return name
    raise InputError(
        f"no {what} field among {', '.join(map(repr, field_names(row.values)))}",
        expected=f"one of {', '.join(map(repr, names))}",
        fix="Rename the column" + (f", or name yours with {option}." if option else "."),
        where=row.at(),
    )


def has_field(row: Row, name: str) -> bool:
    """Return whether the row has a column of that name, or a field where a dotted path leads."""
    return name in row.values or _inside(row, name) is not None


def field_value(row: Row, name: str) -> Any:
    """Return what a column holds, or what stands where a dotted path leads; None for nothing.

    A column whose name is the whole path, dots and all, comes first.
    """
    if name in row.values:
        return row.values[name]
    there = _inside(row, name)
    return None if there is None else there[0][there[1]]


def field_names(values: Mapping[str, Any]) -> list[str]:
    """Return the names of all fields; those of objects inside, alone or in a list, by their paths.

    A name that has dots itself stands as it is.
    """
    names = []
    for name, value in values.items():
        many = isinstance(value, list)
        first = value[0] if isinstance(value, list) and value else value
        inside = field_names(first) if isinstance(first, dict) else ()
        names += [f"{name}{'[]' if many else ''}.{inner}" for inner in inside] or [name]
    return names


def _inside(row: Row, path: str) -> tuple[Mapping[str, Any], str] | None:
    """Return the object in which the last step of a dotted path is a field, and that step."""
    *outer, last = path.split(".")
    value: Any = row.values if outer else None
    for name in outer:
        value = value.get(name) if isinstance(value, Mapping) else None
    return (value, last) if isinstance(value, dict) and last in value else None


def text_value(row: Row, field: str) -> str:
    """Return `row[field]` as text; a missing or null field is the empty string."""
    value = field_value(row, field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(
            f"{value!r} is of type {type(value).__name__}",
            expected="a string",
            fix="Write it as text, or name another column.",
            where=row.at(field),
        )
    return whole_characters(value, row.at, field)


def id_value(row: Row, field: str, *, coerce: bool = False) -> str:
    """Return `row[field]` as an id. Ids are strings: a number is refused unless `coerce`.

    A silent 7 -> "7" would make "07", 7 and 7.0 three names of one thing or one name of three.
    """
    value = field_value(row, field)
    if coerce and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value:
        return whole_characters(value, row.at, field)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    raise InputError(
        f"{value!r} is {'a number' if is_number else 'no id'}",
        expected="a non-empty string",
        fix=(
            f'Write "{value}" in quotes, or pass --coerce-ids to read whole numbers as text.'
            if isinstance(value, int) and is_number
            else f'Write it as text: "{value}".'
            if is_number
            else "Give the record an id."
        ),
        where=row.at(field),
    )


def whole_characters(text: str, at: At, field: str) -> str:
    """Return the text; InputError where it holds half a character, which nothing can write."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"half a surrogate pair (\\u{ord(text[error.start]):04x}), character {error.start + 1}",
            expected="whole Unicode characters",
            fix="The text was cut inside a character: write it again, or remove the half.",
            where=at(field),
        ) from error
    return text


def _excerpt(line: str, width: int = 60) -> str:
    line = line.strip()
    return io.StringIO(line).read(width) + ("..." if len(line) > width else "")
