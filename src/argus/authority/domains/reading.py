"""Read records from files: as the shapes of a domain file say, or from the usual columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cache
from itertools import islice
from pathlib import Path

from argus.authority.domains.spec import (
    Condition,
    Expression,
    MissingPath,
    ShapeSpec,
    Template,
    ValueSpec,
    scalar_text,
)
from argus.authority.records import Record, Values
from argus.authority.rules import Rule
from argus.authority.times import Moment, parse_moment
from argus.data.documents import CORPUS_STEMS, ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS, find_file
from argus.data.fields import FieldPath
from argus.data.rows import FORMATS, read_rows
from argus.data.text_files import read_lines
from argus.errors import InputError, Location

# Where a JSON object holds the list of source objects, if it does (openFDA, CourtListener).
AUTO = "results"


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

    results: where JSON files hold them. None finds them in a list, in `results`, or takes the whole
    object for one. A folder with a corpus file (BEIR) stands for that file. Raises InputError for
    missing or unknown files, broken JSON and anything but an object.
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


TIME_FIELDS = ("timestamp", "time", "date", "effective")
SCOPE_FIELDS = ("entities", "scope")
UNTYPED = "document"
NOTHING = "None"  # How a careless conversion writes that a scope key has no value


def record_of_columns(
    source: Source, zone: tzinfo, *, typed: bool = True, forms: Sequence[str] = ()
) -> Record:
    """Return the record of an object with the usual columns. Other columns become metadata.

    typed: every record needs a type. Else one without is a "document", for edges without rules.
    forms: of dates, as for `parse_moment`. Raises InputError naming the field for a missing id or
    type, and for values of another kind.
    """
    used = {
        "id": _pick(source, ID_FIELDS),
        "type": _pick(source, ("type",)),
        "time": _pick(source, TIME_FIELDS),
        "published": _pick(source, ("published",)),
        "title": _pick(source, TITLE_FIELDS),
        "text": _pick(source, TEXT_FIELDS),
        "scope": _pick(source, SCOPE_FIELDS),
    }
    moments = {
        what: parse_moment(source.values[name], zone=zone, where=source.at(name), forms=forms)
        if (name := used[what])
        else None
        for what in ("time", "published")
    }
    metadata = {k: v for k, v in source.values.items() if k not in used.values()}
    nested = metadata.get("metadata")
    if isinstance(nested, Mapping):
        del metadata["metadata"]
        metadata |= nested
    return Record(
        id=_needed(source, used["id"], ID_FIELDS, "id"),
        type=_needed(source, used["type"], ("type",), "type") if typed or used["type"] else UNTYPED,
        time=moments["time"],
        published=moments["published"],
        scope=_column_scope(source, used["scope"]),
        text=_text(source, used["text"]),
        title=_text(source, used["title"]),
        metadata=metadata,
    )


def _pick(source: Source, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in source.values), None)


def _needed(source: Source, name: str | None, names: Sequence[str], what: str) -> str:
    if name is None:
        raise InputError(
            f"no {what} among {', '.join(map(repr, source.values)) or 'no fields'}",
            expected=f"one of {', '.join(map(repr, names))}",
            fix="Rename the field, or say in the domain file where it is (`records`).",
            where=source.at(),
        )
    value = source.values[name]
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{value!r} is no {what}",
            expected="text that is not empty",
            fix=f'Write it as text: "{value}".' if value else f"Give the record its {what}.",
            where=source.at(name),
        )
    scalar_text(value, name, source.at)
    return value


def _text(source: Source, name: str | None) -> str:
    value = source.values[name] if name else None
    if not name or value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(
            f"{value!r} is of type {type(value).__name__}",
            expected="text",
            fix="Write it as text, or say in the domain file where the text is (`records`).",
            where=source.at(name),
        )
    scalar_text(value, name, source.at)
    return value


def _column_scope(source: Source, name: str | None) -> dict[str, Values]:
    """Return the scope. Keys without a value (null, "", [], "None") are left out."""
    entries = source.values[name] if name else {}
    if isinstance(entries, str) and entries.strip():  # a CSV cell holds it as JSON
        with suppress(ValueError, RecursionError):
            entries = json.loads(entries)
    if entries is None or entries == "":
        return {}
    if not isinstance(entries, Mapping):
        raise InputError(
            f"{entries!r}",
            expected='an object of keys and values such as {"cve_id": "CVE-2021-44228"}',
            fix="Write it so, or say in the domain file where the keys are (`records`).",
            where=source.at(name or ""),
        )
    scope: dict[str, Values] = {}
    for key, value in entries.items():
        at_key = f"{name}.{key}"
        listed = value if isinstance(value, (list, tuple)) else [value]
        texts = (scalar_text(v, at_key, source.at) for v in listed if v is not None)
        values = [text for text in dict.fromkeys(texts) if text not in ("", NOTHING)]
        if values:
            scope[key] = values[0] if len(values) == 1 else tuple(values)
    return scope


def matches(shape: ShapeSpec, source: Source) -> bool:
    """Return whether all tests of a shape's `when` hold."""
    return all(_holds(path, test, source) for path, test in shape.when.items())


_parsed = cache(FieldPath.parse)


def _holds(path: str, test: Condition, source: Source) -> bool:
    values = _parsed(path).find(source.values, source.at)
    there = [value for value in values if value not in ("", [], {})]
    if test.exists is not None:
        return bool(there) == test.exists
    allowed = test.in_ if test.in_ is not None else [test.equals]
    return any(type(value) is type(one) and value == one for value in there for one in allowed)


def make_record(
    shape: ShapeSpec, source: Source, zone: tzinfo, forms: Sequence[str] = ()
) -> Record:
    """Return the record of a matching source object. zone, forms: of times, as `parse_moment`.

    Raises InputError naming the field for a missing id, type or required path, and for values that
    are not text or not a time.
    """
    for path in shape.require or ():
        if not path.find(source.values, source.at):
            raise _missing([path.text], "a required field", source)
    titles = (", ".join(_texts([expression], source)) for expression in shape.title or ())
    scope: dict[str, Values] = {}
    for key, specs in shape.scope.items():
        values = [*dict.fromkeys(v for spec in specs for v in _scope_values(spec, source) if v)]
        if values:
            scope[key] = values[0] if len(values) == 1 else tuple(values)
    metadata: dict[str, object] = {}
    for key, path in shape.metadata.items():
        found = path.find(source.values, source.at)
        if found:
            metadata[key] = found if any(many for _, many in path.steps) else found[0]
    return Record(
        id=_shape_id(shape, source),
        type=_shape_type(shape, source),
        time=_first_moment(shape.time, source, zone, forms),
        published=_first_moment(shape.published, source, zone, forms),
        title=next((title for title in titles if title), ""),
        text="\n\n".join(_texts(shape.text or (), source)),
        scope=scope,
        metadata=metadata,
    )


def _shape_id(shape: ShapeSpec, source: Source) -> str:
    for expression in shape.id:
        ids = _texts([expression], source)
        if len(ids) > 1:
            raise InputError(
                f"{len(ids)} values: {', '.join(ids)}",
                expected="one id",
                fix="Name a path with one value.",
                where=source.at(expression.text),
            )
        if ids:
            return ids[0]
    raise _missing([expression.text for expression in shape.id], "an id", source)


def _shape_type(shape: ShapeSpec, source: Source) -> str:
    if shape.type.path is None:
        return shape.type.constant or ""
    types = _texts([Expression(shape.type.path)], source)
    if not types:
        raise _missing([shape.type.path.text], "a type", source)
    return types[0]


def _missing(names: Sequence[str], what: str, source: Source) -> InputError:
    there = ", ".join(map(repr, source.values)) or "no fields"
    return InputError(
        f"{what} is missing: no {' or '.join(map(repr, names))} among {there}",
        expected=f"{what} in every object of this shape",
        fix="Mend the object, the path in the domain file, or its `when`.",
        where=source.at(names[0]),
    )


def _texts(expressions: Sequence[Expression], source: Source) -> list[str]:
    """Return the texts that are there and not empty, in the order of the expressions."""
    values = (
        scalar_text(value, expression.text, source.at)
        for expression in expressions
        for value in expression.values(source.values, source.at)
    )
    return [text for text in values if text]


def _first_moment(
    expressions: Sequence[Expression] | None, source: Source, zone: tzinfo, forms: Sequence[str]
) -> Moment | None:
    """Return the first of the times that is there."""
    for expression in expressions or ():
        for value in expression.values(source.values, source.at):
            at = source.at(expression.text)
            moment = parse_moment(value, zone=zone, where=at, forms=forms)
            if moment is not None:
                return moment
    return None


def _scope_values(spec: ValueSpec, source: Source) -> Iterator[str]:
    """Yield the values of a scope key, in the case that the file asks for."""

    def values() -> Iterator[str]:
        if spec.path is None and spec.template is not None:
            yield from _fill(spec.template, source)
        for path in spec.path or ():
            for item in path.find(source.values, source.at):
                if spec.pattern is not None:
                    for match in spec.pattern.finditer(scalar_text(item, path.text, source.at)):
                        if spec.template is not None:
                            yield from _fill(spec.template, source, match=match)
                        else:
                            yield (match[1 if spec.pattern.groups else 0] or "").strip()
                elif spec.template is not None:
                    yield from _fill(spec.template, source, item=item)
                else:
                    yield scalar_text(item, path.text, source.at)

    for text in values():
        yield text.lower() if spec.case == "lower" else text.upper() if spec.case else text


def _fill(
    template: Template, source: Source, *, item: object = None, match: re.Match[str] | None = None
) -> Iterator[str]:
    """Yield the text of a template, nothing where a path of it is missing."""
    with suppress(MissingPath):
        yield template.fill(source.values, source.at, item=item, match=match).strip()


@dataclass(frozen=True)
class Domain:
    """How the records of a domain are read, and its rules.

    shapes: the records to make of a source object, each where it matches. None reads the usual
    columns. zone: of times that name none. results: where JSON files hold the objects. skip: pass
    over objects that no shape matches. dates: further forms of dates, as `strptime` has them.
    """

    name: str
    rules: tuple[Rule, ...]
    shapes: tuple[ShapeSpec, ...] | None = None
    zone: tzinfo = UTC
    results: FieldPath | None = None
    skip: bool = False
    dates: tuple[str, ...] = ()

    def read(self, path: Path, *, limit: int | None = None) -> list[Record]:
        """Read the first `limit` records of a file or folder, in the order of the files.

        Records without a time or a scope key are let in. Rules that need it pass them over. Raises
        InputError naming file, line or place, and field for missing and broken files, an object
        that matches no shape, fields of the wrong kind, two records of one id, and no record.
        """
        first: dict[str, Source] = {}
        records = []
        read = ((s, r) for s in read_sources(path, self.results) for r in records_of(self, s))
        for source, record in islice(read, limit):
            if record.id in first:
                raise InputError(
                    f"id {record.id!r} was already given at {first[record.id].at()}",
                    expected="one record per id",
                    fix="Remove or rename one of the two.",
                    where=source.at(),
                )
            first[record.id] = source
            records.append(record)
        if not records:
            raise InputError(
                "no record in it",
                expected=f"at least one record of the domain {self.name!r}",
                fix="Check that this is the right file and the right domain.",
                where=path,
            )
        return records


def records_of(domain: Domain, source: Source) -> Iterator[Record]:
    """Yield the records of one source object. Raise InputError as `Domain.read`."""
    if domain.shapes is None:
        typed = bool(domain.rules)
        yield record_of_columns(source, domain.zone, typed=typed, forms=domain.dates)
        return
    matching = [shape for shape in domain.shapes if matches(shape, source)]
    if not matching and not domain.skip:
        tests = dict.fromkeys(", ".join(map(repr, shape.when)) for shape in domain.shapes)
        raise InputError(
            f"no record shape of {domain.name!r} matches an object with "
            f"{', '.join(map(repr, source.values)) or 'no fields'}",
            expected=f"what `when` asks for: {'; or '.join(tests)}",
            fix="Give another domain or file, or write `unmatched: skip` in the domain file.",
            where=source.at(),
        )
    for shape in matching:
        yield make_record(shape, source, domain.zone, domain.dates)
