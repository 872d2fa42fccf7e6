"""Load domain files, and read records as their shapes say, or from the usual columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from argus.authority.domains.spec import (
    GLOBAL,
    DomainSpec,
    Expression,
    RuleSpec,
    ShapeSpec,
    ValueSpec,
    scalar_text,
)
from argus.authority.rules import Record, Rule, ScopeKey, Values
from argus.authority.times import Moment, parse_moment, zone_named
from argus.data.documents import CORPUS_STEMS, ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS, find_file
from argus.data.fields import FieldPath
from argus.data.reading import read_lines, read_text
from argus.data.rows import FORMATS, read_rows, suffix_of
from argus.data.writing import write_whole
from argus.data.yaml_file import Place, YamlFile, nearest, read_spec
from argus.errors import InputError, Location

PACKAGE = "argus.authority.domains"
# Where a JSON object holds the list of source objects, if it does (openFDA, CourtListener).
RESULTS = "results"


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


def read_sources(path: Path) -> Iterator[Source]:
    """Yield the source objects of a file, or of all files of a folder in the order of their paths.

    A JSON file is a list of them, has one called `results`, or is one object. A folder with a
    corpus file (BEIR) stands for that file. Raises InputError for missing or unknown files, broken
    JSON and anything but an object.
    """
    for file in source_files(path):
        if suffix_of(file) == ".json":
            yield from _json_objects(file)
        else:
            yield from (Source(row.values, row.file, row.line) for row in read_rows(file))


def source_files(path: Path) -> Sequence[Path]:
    """Return the files that a path stands for."""
    known = (*FORMATS, ".json")
    if not path.exists():
        got, expected = "no such file or folder", f"a {', '.join(known)} file or a folder of such"
        raise InputError(got, expected=expected, fix="Check the path.", where=path)
    if path.is_file():
        return [path]
    corpus = find_file(path, CORPUS_STEMS)
    if corpus is not None:
        return [corpus]
    inside = (p.relative_to(path) for p in path.rglob("*") if p.is_file())
    shown = (p for p in inside if not any(part.startswith(".") for part in p.parts))
    files = [path / p for p in sorted(shown) if suffix_of(p) in known]
    if not files:
        expected, fix = f"files with an ending of {', '.join(known)}", "Check the path."
        raise InputError("the folder holds no data file", expected=expected, fix=fix, where=path)
    return files


def _json_objects(file: Path) -> Iterator[Source]:
    text = "".join(line for _, line in read_lines(file))
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        fix, where = "Mend the file; one object per line is .jsonl.", Location(file, line)
        got = f"broken JSON ({error})"
        raise InputError(got, expected="one JSON value", fix=fix, where=where) from error
    place = ""
    if isinstance(value, dict) and isinstance(value.get(RESULTS), list):
        value, place = value[RESULTS], RESULTS
    items = value if isinstance(value, list) else [value]
    for i, item in enumerate(items):
        at = f"{place}[{i}]" if items is value else place
        if not isinstance(item, dict):
            expected = f"an object, a list of objects, or an object with such a list {RESULTS!r}"
            where = Location(file, field=at or None)
            got, fix = f"a JSON {type(item).__name__}", "Write the list of objects alone."
            raise InputError(got, expected=expected, fix=fix, where=where)
        yield Source(item, file, place=at)


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
    names = {
        "id": ID_FIELDS, "type": ("type",), "time": TIME_FIELDS, "published": ("published",),
        "title": TITLE_FIELDS, "text": TEXT_FIELDS, "scope": SCOPE_FIELDS,
    }  # fmt: skip
    used = {
        what: next((name for name in several if name in source.values), None)
        for what, several in names.items()
    }

    def moment(name: str | None) -> Moment | None:
        value = source.values[name] if name else None
        return parse_moment(value, zone=zone, where=source.at(name or ""), forms=forms)

    metadata = {k: v for k, v in source.values.items() if k not in used.values()}
    nested = metadata.get("metadata")
    if isinstance(nested, Mapping):
        del metadata["metadata"]
        metadata |= nested
    return Record(
        id=_needed(source, used["id"], ID_FIELDS, "id"),
        type=_needed(source, used["type"], ("type",), "type") if typed or used["type"] else UNTYPED,
        time=moment(used["time"]),
        published=moment(used["published"]),
        scope=_column_scope(source, used["scope"]),
        text=_text(source, used["text"]),
        title=_text(source, used["title"]),
        metadata=metadata,
    )


def _needed(source: Source, name: str | None, names: Sequence[str], what: str) -> str:
    text = _text(source, name)
    if not text.strip():
        got = f"no {what} among {', '.join(map(repr, source.values)) or 'no fields'}"
        if name is not None:
            got = f"{source.values[name]!r} is no {what}"
        expected = f"text in one of {', '.join(map(repr, names))}"
        fix = "Rename the field, or say in the domain file where it is (`records`)."
        raise InputError(got, expected=expected, fix=fix, where=source.at(name or ""))
    return text


def _text(source: Source, name: str | None) -> str:
    value = source.values[name] if name else None
    if not name or value is None:
        return ""
    if not isinstance(value, str):
        got = f"{value!r} is of type {type(value).__name__}"
        fix = f'Write it as text: "{value}".'
        raise InputError(got, expected="text", fix=fix, where=source.at(name))
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
        expected = 'an object of keys and values such as {"cve_id": "CVE-2021-44228"}'
        fix = "Write it so, or say in the domain file where the keys are (`records`)."
        raise InputError(f"{entries!r}", expected=expected, fix=fix, where=source.at(name or ""))
    scope: dict[str, Values] = {}
    for key, value in entries.items():
        at_key = f"{name}.{key}"
        listed = value if isinstance(value, (list, tuple)) else [value]
        texts = (scalar_text(v, at_key, source.at) for v in listed if v is not None)
        values = [text for text in dict.fromkeys(texts) if text not in ("", NOTHING)]
        if values:
            scope[key] = values[0] if len(values) == 1 else tuple(values)
    return scope


_parsed = cache(FieldPath.parse)


def _matches(shape: ShapeSpec, source: Source) -> bool:
    """Return whether all tests of a shape's `when` hold."""
    for path, test in shape.when.items():
        values = _parsed(path).find(source.values, source.at)
        there = [value for value in values if value not in ("", [], {})]
        allowed = test.in_ if test.in_ is not None else [test.equals]
        if test.exists is not None:
            holds = bool(there) == test.exists
        else:
            holds = any(type(v) is type(one) and v == one for v in there for one in allowed)
        if not holds:
            return False
    return True


def make_record(
    shape: ShapeSpec, source: Source, zone: tzinfo, forms: Sequence[str] = ()
) -> Record:
    """Return the record of a matching source object. zone, forms: of times, as `parse_moment`.

    Raises InputError naming the field for a missing id, type, and for values that
    are not text or not a time.
    """
    titles = (", ".join(_texts([expression], source)) for expression in shape.title or ())
    scope: dict[str, Values] = {}
    for key, specs in shape.scope.items():
        values = [
            *dict.fromkeys(
                text for spec in specs for v in _scope_values(spec, source) if (text := v.strip())
            )
        ]
        if values:
            scope[key] = values[0] if len(values) == 1 else tuple(values)
    metadata: dict[str, object] = {}
    for key, path in shape.metadata.items():
        found = path.find(source.values, source.at)
        if found:
            metadata[key] = found if any(many for _, many in path.steps) else found[0]
    for expression in shape.id:
        if ids := _texts([expression], source):
            break
    else:
        raise _missing([expression.text for expression in shape.id], "an id", source)
    if len(ids) > 1:
        got, fix = f"{len(ids)} values: {', '.join(ids)}", "Name a path with one value."
        raise InputError(got, expected="one id", fix=fix, where=source.at(expression.text))
    types = [shape.type.constant or ""]
    if shape.type.path is not None:
        types = _texts([Expression(shape.type.path)], source)
        if not types:
            raise _missing([shape.type.path.text], "a type", source)
    return Record(
        id=ids[0],
        type=types[0],
        time=_first_moment(shape.time, source, zone, forms),
        published=_first_moment(shape.published, source, zone, forms),
        title=next((title for title in titles if title), ""),
        text="\n\n".join(_texts(shape.text or (), source)),
        scope=scope,
        metadata=metadata,
    )


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
    """Yield the values of a scope key."""
    values, at, template, pattern = source.values, source.at, spec.template, spec.pattern
    if spec.path is None and template is not None:
        yield template.fill(values, at) or ""
    for path in spec.path or ():
        for item in path.find(values, at):
            if pattern is not None:
                for match in pattern.finditer(scalar_text(item, path.text, at)):
                    own = match[1 if pattern.groups else 0]
                    yield (template.fill(values, at, match=match) if template else own) or ""
            elif template is not None:
                yield template.fill(values, at, item=item) or ""
            else:
                yield scalar_text(item, path.text, at)


@dataclass(frozen=True)
class Domain:
    """How the records of a domain are read, and its rules.

    shapes: the records to make of a source object, each where it matches. None reads the usual
    columns. zone: of times that name none. skip: pass over objects that no shape matches. dates:
    further forms of dates, as `strptime` has them.
    """

    name: str
    rules: tuple[Rule, ...]
    shapes: tuple[ShapeSpec, ...] | None = None
    zone: tzinfo = UTC
    skip: bool = False
    dates: tuple[str, ...] = ()

    def read(self, path: Path) -> list[Record]:
        """Read the records of a file or folder, in the order of the files.

        Records without a time or a scope key are let in. Rules that need it pass them over. Raises
        InputError naming file, line or place, and field for missing and broken files, an object
        that matches no shape, fields of the wrong kind, two records of one id, and no record.
        """
        first: dict[str, Source] = {}
        records = []
        read = ((s, r) for s in read_sources(path) for r in records_of(self, s))
        for source, record in read:
            if record.id in first:
                got = f"id {record.id!r} was already given at {first[record.id].at()}"
                fix = "Remove or rename one of the two."
                raise InputError(got, expected="one record per id", fix=fix, where=source.at())
            first[record.id] = source
            records.append(record)
        if not records:
            expected = f"at least one record of the domain {self.name!r}"
            fix = "Check that this is the right file and the right domain."
            raise InputError("no record in it", expected=expected, fix=fix, where=path)
        return records


def records_of(domain: Domain, source: Source) -> Iterator[Record]:
    """Yield the records of one source object. Raise InputError as `Domain.read`."""
    if domain.shapes is None:
        typed = bool(domain.rules)
        yield record_of_columns(source, domain.zone, typed=typed, forms=domain.dates)
        return
    matching = [shape for shape in domain.shapes if _matches(shape, source)]
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


def builtin_domains() -> list[str]:
    """Return the names of the domains that come with Argus."""
    inside = files(PACKAGE).iterdir()
    return sorted(f.name.removesuffix(".yaml") for f in inside if f.name.endswith(".yaml"))


def load_domain(source: str | Path) -> Domain:
    """Return a domain by the name of a built-in one, or from a YAML file.

    A name given as text means the built-in one. As a Path, a file of that name comes first.

    Raises InputError with file, line and dotted place for any fault in the file, with the nearest
    known name for a typo.
    """
    known = builtin_domains()
    path = Path(source)
    if str(source) in known and (isinstance(source, str) or not path.is_file()):
        text = files(PACKAGE).joinpath(f"{source}.yaml").read_text(encoding="utf-8")
        return _domain(text, Path(f"{source}.yaml"))
    expected = f"{', '.join(known)}, or a YAML file"
    if not path.exists():
        is_name = path.suffix == "" and path.name == str(source)
        otherwise = "Name one of these, or your own rules by their path."
        fix = nearest(str(source), known, otherwise) if is_name else "Check the path."
        got = f"no domain or file {str(source)!r}"
        raise InputError(got, expected=expected, fix=fix, where=path)
    return _domain(read_text(path, expected), path)


def write_rules(path: Path, rules: Sequence[Rule], name: str = "rules") -> None:
    """Write rules as a domain file that `load_domain` reads back as they are."""
    content = {"name": name, "rules": [_plain(rule) for rule in rules]}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
    write_whole(path, text)


def _plain(rule: Rule) -> dict[str, Any]:
    """Return a rule as a domain file has it. Settings that have their defaults are left out."""
    keys = [
        key.superseding
        if key.superseding == key.superseded
        else {"superseding": key.superseding, "superseded": key.superseded}
        for key in rule.scope
    ]
    content = {
        "name": rule.name, "superseding": list(rule.superseding),
        "superseded": list(rule.superseded), "scope": keys or GLOBAL, "order": rule.order.value,
        "condition": {key: list(values) for key, values in rule.condition.items()},
        "relation": rule.relation, "confidence": float(rule.confidence),
    }  # fmt: skip
    usual = {name: RuleSpec.model_fields[name].default for name in list(content)[4:]}
    return {key: value for key, value in content.items() if value != usual.get(key)}


def _domain(text: str, file: Path) -> Domain:
    spec, where = read_spec(DomainSpec, text, file)
    rules = tuple(_rule(rule, ("rules", i), where) for i, rule in enumerate(spec.rules))
    if spec.unmatched not in ("error", "skip"):
        fix = nearest(spec.unmatched, ["error", "skip"])
        raise where.error(("unmatched",), f"{spec.unmatched!r}", "error or skip", fix)
    return Domain(
        name=spec.name or file.stem,
        rules=rules,
        shapes=None if spec.records is None else tuple(spec.records),
        zone=zone_named(spec.zone, where.at(("zone",))),
        skip=spec.unmatched == "skip",
        dates=tuple(spec.dates),
    )


def _rule(spec: RuleSpec, place: Place, where: YamlFile) -> Rule:
    fields: dict[str, Any] = {name: getattr(spec, name) for name in RuleSpec.model_fields}
    fields["scope"] = [ScopeKey(key.superseding, key.superseded) for key in spec.scope]
    try:
        return Rule(**fields)
    except InputError as error:
        raise where.error(place, error.got, error.expected, error.fix) from error
