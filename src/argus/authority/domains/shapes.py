"""Records out of source objects, by the shapes of a domain file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from functools import cache

from argus.authority.domains.paths import (
    Expression,
    MissingPath,
    Template,
    scalar_text,
)
from argus.authority.domains.sources import Source
from argus.authority.domains.spec import Condition, ShapeSpec, ValueSpec
from argus.authority.records import Record, Values
from argus.authority.times import Moment, parse_moment
from argus.data.fields import FieldPath
from argus.errors import InputError


def matches(shape: ShapeSpec, source: Source) -> bool:
    """Return whether all tests of a shape's `when` hold."""
    return all(_holds(path, test, source) for path, test in shape.when.items())


@cache
def _path(text: str) -> FieldPath:
    return FieldPath.parse(text)


def _holds(path: str, test: Condition, source: Source) -> bool:
    values = _path(path).find(source.values, source.at)
    there = [value for value in values if value not in ("", [], {})]
    if test.exists is not None:
        return bool(there) == test.exists
    allowed = test.in_ if test.in_ is not None else [test.equals]
    return any(type(value) is type(one) and value == one for value in there for one in allowed)


def make_record(
    shape: ShapeSpec, source: Source, zone: tzinfo, forms: Sequence[str] = ()
) -> Record:
    """Return the record of a matching source object; zone, forms: of times, as `parse_moment`.

    Raises InputError naming the field for a missing id, type or required path, for values that are
    no text or no time.
    """
    for path in shape.require or ():
        if not path.find(source.values, source.at):
            raise _missing([path.text], "a required field", source)
    return Record(
        id=_id(shape, source),
        type=_type(shape, source),
        time=_moment(shape.time, source, zone, forms),
        published=_moment(shape.published, source, zone, forms),
        title=_title(shape.title or (), source),
        text="\n\n".join(_texts(shape.text or (), source)),
        scope=_scope(shape, source),
        metadata=_metadata(shape.metadata, source),
    )


def _id(shape: ShapeSpec, source: Source) -> str:
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


def _type(shape: ShapeSpec, source: Source) -> str:
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


def _title(expressions: Sequence[Expression], source: Source) -> str:
    """Return the first of the titles that is there; several values of one stand side by side."""
    titles = (", ".join(_texts([expression], source)) for expression in expressions)
    return next((text for text in titles if text), "")


def _moment(
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


def _scope(shape: ShapeSpec, source: Source) -> dict[str, Values]:
    scope: dict[str, Values] = {}
    for key, specs in shape.scope.items():
        values = dict.fromkeys(v for spec in specs for v in _scope_values(spec, source) if v)
        if values:
            scope[key] = next(iter(values)) if len(values) == 1 else tuple(values)
    return scope


def _scope_values(spec: ValueSpec, source: Source) -> Iterator[str]:
    for text in _raw_values(spec, source):
        yield text.lower() if spec.case == "lower" else text.upper() if spec.case else text


def _raw_values(spec: ValueSpec, source: Source) -> Iterator[str]:
    for path in spec.path or ():
        for item in path.find(source.values, source.at):
            yield from _values_of(item, path.text, spec, source)
    if spec.path is None and spec.template is not None:
        yield from _fill(spec.template, source)


def _values_of(item: object, path: str, spec: ValueSpec, source: Source) -> Iterator[str]:
    if spec.pattern is not None:
        for match in spec.pattern.finditer(scalar_text(item, path, source.at)):
            if spec.template is not None:
                yield from _fill(spec.template, source, match=match)
            else:
                yield (match[1 if spec.pattern.groups else 0] or "").strip()
    elif spec.template is not None:
        yield from _fill(spec.template, source, item=item)
    else:
        yield scalar_text(item, path, source.at)


def _fill(
    template: Template, source: Source, *, item: object = None, match: re.Match[str] | None = None
) -> Iterator[str]:
    """Yield the text of a template, nothing where a path of it is missing."""
    with suppress(MissingPath):
        yield template.fill(source.values, source.at, item=item, match=match).strip()


def _metadata(paths: Mapping[str, FieldPath], source: Source) -> dict[str, object]:
    """Return fields as they are: a list where the path has [], else the value."""
    metadata: dict[str, object] = {}
    for key, path in paths.items():
        values = path.find(source.values, source.at)
        if values:
            metadata[key] = values if any(many for _, many in path.steps) else values[0]
    return metadata
