"""Load a domain file (YAML), and read records from source files as its shapes say.

`load_domain`: a built-in name or a file -> `Domain`: its rules, and how to read its records.
`Domain.read`: JSON, JSONL, CSV or Parquet -> `Record`s. Without a shape, the usual columns are read
(type, timestamp, entities, title, text). `spec` checks the YAML, and `opening` calls this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, tzinfo
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
    TypeSpec,
    ValueSpec,
    scalar_text,
)
from argus.authority.rules import Record, Rule, ScopeKey, Values
from argus.authority.times import Moment, parse_moment, zone_named
from argus.data.documents import CORPUS_STEMS, ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS, find_file
from argus.data.reading import parse_json, read_lines, read_text, reading
from argus.data.rows import FORMATS, Row, id_value, pick_field, read_rows, suffix_of, text_value
from argus.data.writing import write_whole
from argus.data.yaml_file import nearest, read_spec
from argus.errors import InputError, Location

PACKAGE = "argus.authority.domains"
# Where a JSON object holds the list of source objects, if it does (openFDA, CourtListener).
RESULTS = "results"
TIME_FIELDS = ("timestamp", "time", "date", "effective")
SCOPE_FIELDS = ("entities", "scope")
UNTYPED = "document"
NOTHING = "None"  # How a careless conversion writes that a scope key has no value


def read_sources(path: Path) -> Iterator[Row]:
    """Yield the source objects of a file, or of all files of a folder in the order of their paths.

    A folder with a corpus file (BEIR) stands for that file. Raises InputError for missing or
    unknown files, broken JSON and anything but an object.
    """
    known, sources = (*FORMATS, ".json"), [path]
    if path.is_dir():
        corpus = find_file(path, CORPUS_STEMS)
        inside = (p.relative_to(path) for p in sorted(path.rglob("*")) if p.is_file())
        shown = (p for p in inside if not any(part.startswith(".") for part in p.parts))
        sources = [corpus] if corpus else [path / p for p in shown if suffix_of(p) in known]
    if not sources:
        expected, fix = f"files with an ending of {', '.join(known)}", "Check the path."
        raise InputError("the folder holds no data file", expected=expected, fix=fix, where=path)
    for file in sources:
        yield from read_json(file) if suffix_of(file) == ".json" else read_rows(file)


def read_json(file: Path) -> Iterator[Row]:
    """Yield the objects of a JSON file: of a list, of one called `results`, or the one it is.

    The line of a row is its number in the list.
    """
    text = "".join(line for _, line in read_lines(file))
    fix = "Mend the file; one object per line is .jsonl."
    with reading(file, "broken JSON", expected="one JSON value", fix=fix):
        value: Any = parse_json(text)
    if isinstance(value, dict) and isinstance(value.get(RESULTS), list):
        value = value[RESULTS]
    for number, item in enumerate(value if isinstance(value, list) else [value], 1):
        if not isinstance(item, dict):
            expected = f"an object, a list of objects, or an object with such a list {RESULTS!r}"
            got, fix = f"a JSON {type(item).__name__}", "Write the list of objects alone."
            raise InputError(got, expected=expected, fix=fix, where=Location(file, number))
        yield Row(item, file, number)


def _texts(expressions: Sequence[Expression], row: Row) -> list[str]:
    """Return the texts that are there and not empty, in the order of the expressions."""
    values = (
        scalar_text(value, expression.text, row.at)
        for expression in expressions
        for value in expression.find(row.values, row.at)
    )
    return [text for text in values if text]


def _scope_values(spec: ValueSpec, row: Row) -> Iterator[str]:
    """Yield the values of a scope key."""
    values, at, template, pattern = row.values, row.at, spec.template, spec.pattern
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


def _scope_of(values: Mapping[str, Sequence[str]]) -> dict[str, Values]:
    """Return a scope: each value once, blank ones and keys without a value left out."""
    scope: dict[str, Values] = {}
    for key, texts in values.items():
        distinct = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
        if distinct:
            scope[key] = distinct if len(distinct) > 1 else distinct[0]
    return scope


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
        InputError naming file, line and field for missing and broken files, an object that matches
        no shape, fields of the wrong kind, two records of one id, and no record.
        """
        first: dict[str, Row] = {}
        records = []
        for row in read_sources(path):
            for record in self.records_of(row):
                if record.id in first:
                    got = f"id {record.id!r} was already given at {first[record.id].at()}"
                    fix = "Remove or rename one of the two."
                    raise InputError(got, expected="one record per id", fix=fix, where=row.at())
                first[record.id] = row
                records.append(record)
        if not records:
            expected = f"at least one record of the domain {self.name!r}"
            fix = "Check that this is the right file and the right domain."
            raise InputError("no record in it", expected=expected, fix=fix, where=path)
        return records

    def moment(self, value: object, where: Location | str) -> Moment | None:
        """Return a date as this domain writes it. None for None and ""."""
        return parse_moment(value, zone=self.zone, where=where, forms=self.dates)

    def records_of(self, row: Row) -> Iterator[Record]:
        """Yield the records of one source object. Raise InputError as `read`."""
        if self.shapes is None:
            yield self._record_of_columns(row)
            return
        matching = [
            shape
            for shape in self.shapes
            if all(test.holds(path.find(row.values, row.at)) for path, test in shape.when.items())
        ]
        if not matching and not self.skip:
            tests = (", ".join(repr(path.text) for path in shape.when) for shape in self.shapes)
            raise InputError(
                f"no record shape of {self.name!r} matches an object with "
                f"{', '.join(map(repr, row.values)) or 'no fields'}",
                expected=f"what `when` asks for: {'; or '.join(dict.fromkeys(tests))}",
                fix="Give another domain or file, or write `unmatched: skip` in the domain file.",
                where=row.at(),
            )
        for shape in matching:
            yield self._record_of_shape(shape, row)

    def _record_of_columns(self, row: Row) -> Record:
        """Return the record of an object with the usual columns. Other columns become metadata.

        Without rules a record without type is a "document".
        """
        option = "`records` in the domain file"
        names = {
            "time": TIME_FIELDS, "published": ("published",), "title": TITLE_FIELDS,
            "text": TEXT_FIELDS, "scope": SCOPE_FIELDS,
        }  # fmt: skip
        used = {what: next((n for n in of if n in row.values), "") for what, of in names.items()}
        used["id"] = pick_field(row, ID_FIELDS, what="id", option=option)
        if self.rules or "type" in row.values:
            used["type"] = pick_field(row, ["type"], what="type", option=option)
        metadata = {k: v for k, v in row.values.items() if k not in used.values()}
        nested = metadata.get("metadata")
        if isinstance(nested, Mapping):
            del metadata["metadata"]
            metadata |= nested
        entries, name = row.values.get(used["scope"]) or {}, used["scope"]
        if isinstance(entries, str):  # a CSV cell holds it as JSON
            with suppress(ValueError):
                entries = parse_json(entries)
        if not isinstance(entries, Mapping):
            expected = 'an object of keys and values such as {"cve_id": "CVE-2021-44228"}'
            fix = "Write it so, or say in the domain file where the keys are (`records`)."
            raise InputError(f"{entries!r}", expected=expected, fix=fix, where=row.at(name))
        scope: dict[str, list[str]] = {}
        for key, value in entries.items():
            several = value if isinstance(value, (list, tuple)) else [value]
            texts = [scalar_text(v, f"{name}.{key}", row.at) for v in several if v is not None]
            scope[key] = [text for text in texts if text != NOTHING]
        time, published = (
            self.moment(row.values.get(used[what]), row.at(used[what]))
            for what in ("time", "published")
        )
        return Record(
            id=id_value(row, used["id"]),
            type=id_value(row, used["type"]) if "type" in used else UNTYPED,
            time=time,
            published=published,
            scope=_scope_of(scope),
            text=text_value(row, used["text"]),
            title=text_value(row, used["title"]),
            metadata=metadata,
        )

    def _record_of_shape(self, shape: ShapeSpec, row: Row) -> Record:
        """Return the record of a matching source object. Raise InputError naming the field."""
        titles = (", ".join(_texts([expression], row)) for expression in shape.title or ())
        scope = {
            key: [text for spec in specs for text in _scope_values(spec, row)]
            for key, specs in shape.scope.items()
        }
        metadata: dict[str, object] = {}
        for key, path in shape.metadata.items():
            if values := path.find(row.values, row.at):
                metadata[key] = values if any(many for _, many in path.steps) else values[0]
        ids = next(filter(None, (_texts([expression], row) for expression in shape.id)), [])
        type_path, types = list[Expression](), [f"{shape.type}"]
        if isinstance(shape.type, TypeSpec):
            type_path = [shape.type.path]
            types = _texts(type_path, row)
        for what, found, asked in (("id", ids, shape.id), ("type", types, type_path)):
            if len(found) != 1:
                names = " or ".join(repr(expression.text) for expression in asked)
                got = f"{len(found)} values at {names}, among {', '.join(map(repr, row.values))}"
                fix, where = "Mend the object, or the domain file's path.", row.at(asked[0].text)
                raise InputError(got, expected=f"one {what}", fix=fix, where=where)
        time, published = (
            next(filter(None, (
                self.moment(value, row.at(expression.text))
                for expression in expressions or ()
                for value in expression.find(row.values, row.at)
            )), None)
            for expressions in (shape.time, shape.published)
        )  # fmt: skip
        return Record(
            id=ids[0],
            type=types[0],
            time=time,
            published=published,
            title=next(filter(None, titles), ""),
            text="\n\n".join(_texts(shape.text or (), row)),
            scope=_scope_of(scope),
            metadata=metadata,
        )


def load_domain(source: str | Path) -> Domain:
    """Return a domain by the name of a built-in one, or from a YAML file.

    A name given as text means the built-in one. As a Path, a file of that name comes first.

    Raises InputError with file, line and dotted place for any fault in the file, with the nearest
    known name for a typo.
    """
    inside = (f.name for f in files(PACKAGE).iterdir())
    known = sorted(n.removesuffix(".yaml") for n in inside if n.endswith(".yaml"))
    path, name = Path(source), str(source)
    expected = f"{', '.join(known)}, or a YAML file"
    if name in known and (isinstance(source, str) or not path.is_file()):
        path = Path(f"{name}.yaml")
        text = files(PACKAGE).joinpath(path.name).read_text(encoding="utf-8")
    elif path.exists():
        text = read_text(path, expected)
    else:
        fix = nearest(name, known, "Name one of these, or your own rules by their path.")
        raise InputError(f"no domain or file {name!r}", expected=expected, fix=fix, where=path)
    spec, where = read_spec(DomainSpec, text, path)
    rules = []
    for i, rule in enumerate(spec.rules):
        fields: dict[str, Any] = {name: getattr(rule, name) for name in RuleSpec.model_fields}
        fields["scope"] = [ScopeKey(key.superseding, key.superseded) for key in rule.scope]
        try:
            rules.append(Rule(**fields))
        except InputError as error:
            raise where.error(("rules", i), error.got, error.expected, error.fix) from error
    if spec.unmatched not in ("error", "skip"):
        fix = nearest(spec.unmatched, ["error", "skip"])
        raise where.error(("unmatched",), f"{spec.unmatched!r}", "error or skip", fix)
    return Domain(
        name=spec.name or path.stem,
        rules=tuple(rules),
        shapes=None if spec.records is None else tuple(spec.records),
        zone=zone_named(spec.zone, where.at(("zone",))),
        skip=spec.unmatched == "skip",
        dates=tuple(spec.dates),
    )


def write_rules(path: Path, rules: Sequence[Rule], name: str = "rules") -> None:
    """Write rules as a domain file that `load_domain` reads back as they are.

    Settings that have their defaults are left out.
    """
    plain = []
    for rule in rules:
        keys = [
            key.superseding
            if key.superseding == key.superseded
            else {"superseding": key.superseding, "superseded": key.superseded}
            for key in rule.scope
        ]
        content: dict[str, object] = {
            "name": rule.name, "superseding": list(rule.superseding),
            "superseded": list(rule.superseded), "scope": keys or GLOBAL,
            "order": rule.order.value,
            "condition": {key: list(values) for key, values in rule.condition.items()},
            "relation": rule.relation, "confidence": float(rule.confidence),
        }  # fmt: skip
        usual = {name: RuleSpec.model_fields[name].default for name in list(content)[4:]}
        plain.append({key: value for key, value in content.items() if value != usual.get(key)})
    whole = {"name": name, "rules": plain}
    text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=1000)
    write_whole(path, text)
