"""Read JSONL, CSV, TSV and Parquet files row by row, each row with its file and line for errors.

`read_rows`: a path -> `Row`s. `field_value`, `id_value` and `text_value` read one field, by the
name of a column or a dotted path into objects. Ids are strings, always.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.reading import check_file, parse_json, read_lines, reading
from argus.errors import InputError, Location

FORMATS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")

csv.field_size_limit(1 << 30)  # documents are longer than the csv module's default of 128 KiB


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a file and its line. The values may be any that JSON or Parquet can hold.

    Of a vector store, the record's name stands for the file, and the line is 0.
    """

    values: Mapping[str, Any]
    file: Path | str
    line: int

    def at(self, field: str | None = None) -> Location:
        """Return the location of `field` in this row."""
        return Location(self.file, self.line or None, field)


def suffix_of(path: Path) -> str:
    """Return the last suffix of a name in lower case, without a final `.gz`. "" without one."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def file_format(path: Path) -> str:
    """Return the format suffix of `path`, without a final `.gz`. Raises InputError for others."""
    suffix = suffix_of(path)
    if suffix not in FORMATS:
        got = f"file type {suffix or '(none)'} is not known"
        expected = f"one of {', '.join(FORMATS)} (text formats may be gzipped)"
        fix = "Convert the file, or rename it if only its ending is wrong."
        raise InputError(got, expected=expected, fix=fix, where=path)
    return suffix


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a JSONL, CSV, TSV or Parquet file.

    Line numbers are 1-based lines for text files (a CSV header is line 1) and 1-based rows for
    Parquet. Raises InputError for a missing file, an unknown format, bytes that are not
    UTF-8, broken JSON, damaged Parquet, and rows whose number of fields differs from the header's.
    """
    check_file(path, f"a {', '.join(FORMATS)} file")
    suffix = file_format(path)
    if suffix == ".parquet":
        from argus.data.tables import read_rows_of

        yield from (Row(values, path, number) for number, values in read_rows_of(path))
        return
    if suffix not in (".csv", ".tsv"):
        yield from read_json_lines(path)
        return
    reader = csv.reader(
        (line for _, line in read_lines(path)),
        delimiter="\t" if suffix == ".tsv" else ",",
        quoting=csv.QUOTE_NONE if suffix == ".tsv" else csv.QUOTE_MINIMAL,
        strict=True,
    )
    expected = "a header, and lines of as many fields, with quotes that are closed"
    fix = "Quote fields that contain the delimiter, and close quotes."
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        with reading(Location(path, line), "cannot be split", expected=expected, fix=fix):
            fields = next(reader, None)
            if fields and header and len(fields) != len(header):
                raise ValueError(f"{len(fields)} fields, and {len(header)} in the header")
            if not header and fields and len(set(fields)) < len(fields):
                raise ValueError("two columns have one name")
        if fields is None:
            return
        if fields and header:
            yield Row(dict(zip(header, fields, strict=True)), path, line)
        header = header or fields


def read_json_lines(path: Path) -> Iterator[Row]:
    """Yield the rows of JSON lines, whatever the name of the file.

    Raises InputError, with the line, for a line that is no JSON object.
    """
    for number, line in read_lines(path):
        if start := line.strip():
            where, got = Location(path, number), f"broken JSON: {start[:60]}"
            fix = "Mend or remove the line."
            with reading(where, got, expected="one JSON object per line", fix=fix):
                values = {**parse_json(line)}
            yield Row(values, path, number)


def pick_field(row: Row, names: Sequence[str], *, what: str, option: str | None = None) -> str:
    """Return the first of `names` that the row has. Raises InputError with the fields it has.

    names: columns, or dotted paths. option: of the command line, which names another column.
    """
    for name in names:
        if has_field(row, name):
            return name
    got = f"no {what} field among {', '.join(map(repr, field_names(row.values)))}"
    fix = "Rename the column" + (f", or name yours with {option}." if option else ".")
    expected = f"one of {', '.join(map(repr, names))}"
    raise InputError(got, expected=expected, fix=fix, where=row.at())


def has_field(row: Row, name: str) -> bool:
    """Return whether the row has a column of that name, or a field at a dotted path."""
    return field_value(row, name, absent := object()) is not absent


def field_value(row: Row, name: str, absent: Any = None) -> Any:
    """Return the value of a column, or at a dotted path. `absent` without one.

    A column whose name is the whole path, dots and all, comes first.
    """
    if name in row.values:
        return row.values[name]
    value: Any = row.values
    for step in name.split("."):
        value = value.get(step, absent) if isinstance(value, Mapping) else absent
    return value


def field_names(values: Mapping[str, Any]) -> list[str]:
    """Return the names of all fields; of objects, alone or in a list, the paths into them.

    A name that has dots itself stands as it is.
    """
    names = []
    for name, value in values.items():
        many = isinstance(value, list)
        first = value[0] if isinstance(value, list) and value else value
        inside = field_names(first) if isinstance(first, dict) else ()
        names += [f"{name}{'[]' if many else ''}.{inner}" for inner in inside] or [name]
    return names


def text_value(row: Row, field: str) -> str:
    """Return `row[field]` as text. A missing or null field is the empty string."""
    value = field_value(row, field)
    if value is None:
        return ""
    if not isinstance(value, str):
        got = f"{value!r} is of type {type(value).__name__}"
        fix = "Write it as text, or name another column."
        raise InputError(got, expected="a string", fix=fix, where=row.at(field))
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
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fix = f'Write it as text: "{value}".' if is_number else "Give the record an id."
    if is_number and isinstance(value, int):
        fix = f'Write "{value}" in quotes. Of a corpus, --coerce-ids reads whole numbers as text.'
    got = f"{value!r} is {'a number' if is_number else 'no id'}"
    raise InputError(got, expected="a non-empty string", fix=fix, where=row.at(field))


def whole_characters(
    text: str, at: Callable[[str], Location | str], field: str, of: str = ""
) -> str:
    """Return the text. Raises InputError for half a character, which nothing can write.

    at: makes the location of a field. of: words for the text, behind the character's place.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half, place = f"\\u{ord(text[error.start]):04x}", f"character {error.start + 1}{of}"
        fix = "The text was cut inside a character: write it again, or remove the half."
        got, expected = f"half a surrogate pair ({half}), {place}", "whole Unicode characters"
        raise InputError(got, expected=expected, fix=fix, where=at(field)) from error
    return text


def whole_number(text: str) -> int | None:
    """Return the number that at most 18 ASCII digits with an optional sign write; else None.

    `int` reads more: other digits, underscores, numbers too long to count with.
    """
    return int(text) if _WHOLE.fullmatch(text) else None
