"""Source objects: out of row formats, JSON files, and folders of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.data.documents import CORPUS_STEMS, find_file
from argus.data.fields import FieldPath
from argus.data.rows import FORMATS, read_rows
from argus.data.text_files import read_lines
from argus.errors import InputError, Location

AUTO = "results"
"""Where a JSON object holds the list of source objects, if it does (openFDA, CourtListener)."""


@dataclass(frozen=True, slots=True)
class Source:
    """One object and where it stands: a line of a row file, or a place in a JSON file."""

    values: Mapping[str, object]
    file: Path
    line: int | None = None
    place: str = ""

    def at(self, field: str = "") -> Location:
        """Return the location of a field of this object."""
        whole = ".".join(part for part in (self.place, field) if part)
        return Location(self.file, self.line, whole or None)


def read_sources(path: Path, results: FieldPath | None = None) -> Iterator[Source]:
    """Yield the source objects of a file, or of all files of a folder in the order of their paths.

    results: where JSON files hold them; None finds them in a list, in `results`, or takes the whole
    object for one. A folder with a corpus file (BEIR) stands for that file. Raises InputError for
    missing or unknown files, broken JSON and what is no object.
    """
    for file in source_files(path):
        if _format(file) == ".json":
            yield from _json_objects(file, results)
        else:
            yield from (Source(row.values, row.file, row.line) for row in read_rows(file))


def source_files(path: Path) -> Sequence[Path]:
    """Return the files that a path stands for."""
    known = (*FORMATS, ".json")
    if not path.exists():
        raise InputError(
            "no such file or folder",
            expected=f"a {', '.join(known)} file or a folder of such",
            fix="Check the path.",
            where=path,
        )
    if path.is_file():
        return [path]
    corpus = find_file(path, CORPUS_STEMS)
    if corpus is not None:
        return [corpus]
    inside = (p.relative_to(path) for p in path.rglob("*") if p.is_file())
    shown = (p for p in inside if not any(part.startswith(".") for part in p.parts))
    files = [path / p for p in sorted(shown) if _format(p) in known]
    if not files:
        raise InputError(
            "the folder holds no data file",
            expected=f"files with an ending of {', '.join(known)}",
            fix="Check the path.",
            where=path,
        )
    return files


def _format(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _json_objects(file: Path, results: FieldPath | None) -> Iterator[Source]:
    value = _json(file)
    place = ""
    if results is not None:
        value, place = _at_results(value, results, file), results.text.removesuffix("[]")
    elif isinstance(value, dict) and isinstance(value.get(AUTO), list):
        value, place = value[AUTO], AUTO
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield _source(item, file, f"{place}[{i}]")
    else:
        yield _source(value, file, place)


def _at_results(value: object, results: FieldPath, file: Path) -> object:
    if not isinstance(value, dict):
        raise _no_object(value, Location(file))
    items = results.find(value, lambda field: Location(file, field=field))
    if not items:
        raise InputError(
            f"no {results.text!r} among {', '.join(map(repr, value)) or 'no keys'}",
            expected="the list of objects there",
            fix="Change `results` in the domain file.",
            where=file,
        )
    return items if any(many for _, many in results.steps) else items[0]


def _source(value: object, file: Path, place: str) -> Source:
    if not isinstance(value, dict):
        raise _no_object(value, Location(file, field=place or None))
    return Source(value, file, place=place)


def _no_object(value: object, where: Location) -> InputError:
    return InputError(
        f"a JSON {type(value).__name__}",
        expected="an object, a list of objects, or an object with such a list",
        fix="Name the list with `results` in the domain file.",
        where=where,
    )


def _json(file: Path) -> object:
    text = "".join(line for _, line in read_lines(file))
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"broken JSON at column {error.colno} ({error.msg})",
            expected="one JSON value",
            fix="Mend the file; one object per line is .jsonl.",
            where=Location(file, error.lineno),
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"broken JSON ({error})", expected="one JSON value", fix="Mend the file.", where=file
        ) from error
