"""Check a domain file with pydantic, and parse the paths and templates in it.

A path is names with dots, with `[]` after a name whose value is a list: `affected[].package.name`.
A template is text with paths in braces: `{id}#withdrawn`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from string import Formatter
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from argus.authority.rules import SUPERSEDES, Order
from argus.authority.times import date_form
from argus.data.fields import At, FieldPath
from argus.data.rows import whole_characters
from argus.data.yaml_file import Strict, Text, Texts, kind_of, listed, nearest, problem, text_of
from argus.errors import InputError


@dataclass(frozen=True, slots=True)
class Template:
    """Text with fields: a path, `.path` inside the value of another path, or a group number.

    parts: (text, field) in turn, field None where only text is left.
    """

    text: str
    parts: tuple[tuple[str, FieldPath | int | None, bool], ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template. Raise ValueError that names the fault."""
        parts: list[tuple[str, FieldPath | int | None, bool]] = []
        try:
            pieces = list(Formatter().parse(text))
        except ValueError as error:
            raise ValueError(f"{text!r} is no template: {error}") from error
        for literal, name, format_, conversion in pieces:
            if name is None:
                parts.append((literal, None, False))
            elif format_ or conversion or not name:
                raise ValueError(f"{text!r} is no template: {{}} holds a path and nothing else")
            elif name.isdecimal():
                parts.append((literal, int(name), False))
            else:
                relative = name.startswith(".")
                parts.append((literal, FieldPath.parse(name.removeprefix(".")), relative))
        return cls(text, tuple(parts))

    @property
    def groups(self) -> list[int]:
        """Numbers of the groups of a pattern that it names."""
        return [field for _, field, _ in self.parts if isinstance(field, int)]

    @property
    def has_relative(self) -> bool:
        """True if it looks inside the value of another path."""
        return any(relative for *_, relative in self.parts)

    def fill(
        self,
        values: Mapping[str, object],
        at: At,
        *,
        item: object = None,
        match: re.Match[str] | None = None,
    ) -> str | None:
        """Return the text. None if a field is missing. Raise InputError for several values.

        item: the object that `{.path}` looks in. match: the match that `{1}` is a group of.
        """
        text = ""
        for literal, field, relative in self.parts:
            text += literal
            if isinstance(field, int):
                text += (match[field] or "") if match else ""
            elif field is not None:
                value = _only(field, item if relative else values, at)
                if value is None:
                    return None
                text += value
        return text


def _only(field: FieldPath, values: object, at: At) -> str | None:
    if not isinstance(values, Mapping):
        expected = f"an object with {field.text!r}"
        fix = "Check the path that the template looks in."
        raise InputError(f"{values!r}", expected=expected, fix=fix, where=at(field.text))
    texts = (scalar_text(value, field.text, at) for value in field.find(values, at))
    contents = [text for text in texts if text]
    if len(contents) > 1:
        got = f"{len(contents)} values"
        fix = "Name a path with one value; inside a list, give `path` and use {.name}."
        raise InputError(got, expected="one, to put into a template", fix=fix, where=at(field.text))
    return contents[0] if contents else None


def scalar_text(value: object, field: str, at: At) -> str:
    """Return a value as text without blanks around it: text, whole numbers and days are.

    Raises InputError for lists, objects, booleans, decimals, and halves of characters.
    """
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        is_list = isinstance(value, (list, tuple))
        got = f"{value!r} is of type {type(value).__name__}"
        expected = "one text" if is_list else "text, or a whole number"
        fix = f"Write the path as '{field}[]'." if is_list else "Name another path."
        raise InputError(got, expected=expected, fix=fix, where=at(field))
    return whole_characters(value, at, field).strip()


@dataclass(frozen=True, slots=True)
class Expression:
    """A path or, with braces, a template: one value."""

    of: FieldPath | Template

    @classmethod
    def parse(cls, text: str) -> Expression:
        """Read a path or a template. Raise ValueError that names the fault."""
        if "{" in text or "}" in text:
            template = Template.parse(text)
            if template.groups or template.has_relative:
                raise ValueError(f"{text!r}: groups and {{.paths}} are for scope values only")
            return cls(template)
        return cls(FieldPath.parse(text))

    @property
    def text(self) -> str:
        """As it was written."""
        return self.of.text

    def values(self, values: Mapping[str, object], at: At) -> list[object]:
        """Return the values: of a template one text, or none where a path of it is missing."""
        if isinstance(self.of, FieldPath):
            return self.of.find(values, at)
        text = self.of.fill(values, at)
        return [] if text is None else [text]


GLOBAL = "global"  # Scope of a rule without scope keys


def _parser(parse: Callable[[str], object]) -> PlainValidator:
    def read(value: object) -> object:
        text = text_of(value)
        try:
            return parse(text)
        except (ValueError, re.error) as error:
            raise problem(str(error), HELP[parse], "Mend it.") from error

    return PlainValidator(read)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"broken regular expression {text!r} ({error})") from error


HELP: dict[Callable[[str], object], str] = {
    FieldPath.parse: "a path such as affected[].package.name",
    Expression.parse: 'a path such as package.name, or a template such as "{id}#withdrawn"',
    Template.parse: 'a template such as "{.ecosystem}/{.name}"',
    _pattern: "a regular expression of Python's re module",
    date_form: 'a form of dates such as "%d-%b-%Y"',
}

APath = Annotated[FieldPath, _parser(FieldPath.parse)]
AnExpression = Annotated[Expression, _parser(Expression.parse)]
ATemplate = Annotated[Template, _parser(Template.parse)]
APattern = Annotated[re.Pattern[str], _parser(_pattern)]
ADateForm = Annotated[str, _parser(date_form)]
Paths = Annotated[list[APath], BeforeValidator(listed)]
Expressions = Annotated[list[AnExpression], BeforeValidator(listed)]


def _plain(value: object) -> str | int | bool:
    if isinstance(value, (str, int)):
        return value
    raise problem(kind_of(value), "text, a whole number, true or false", "Quote it.")


Plain = Annotated[str | int | bool, PlainValidator(_plain)]


class Condition(Strict):
    """Condition on a path for a shape to match."""

    WHAT: ClassVar[str] = "condition"
    exists: bool | None = None
    equals: Plain | None = None
    in_: Annotated[list[Plain], BeforeValidator(listed)] | None = Field(None, alias="in")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(value is not None for value in (self.exists, self.equals, self.in_)) != 1:
            fix = "Write several tests as several paths, several values as `in: [a, b]`."
            raise problem("several tests, or none", "one of exists, equals, in", fix)
        return self


class TypeSpec(Strict):
    """The type of a shape's records: a constant, or the value of a path."""

    WHAT: ClassVar[str] = "type"
    constant: Text | None = None
    path: APath | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: object) -> object:
        return {"constant": data} if not isinstance(data, dict) else data

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.constant is None) == (self.path is None):
            raise problem("neither or both", "type: NAME or type: {path: ...}", "Keep one.")
        return self


class ValueSpec(Strict):
    """Path of the values of a scope key, and how to transform them."""

    WHAT: ClassVar[str] = "scope value"
    path: Paths | None = None
    pattern: APattern | None = None
    template: ATemplate | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: object) -> object:
        return {"path": data} if not isinstance(data, dict) else data

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.path is None and (self.template is None or self.pattern is not None):
            raise problem("no path", "path: where the value is", "Add the key.")
        groups = self.template.groups if self.template else []
        if groups and max(groups) > (self.pattern.groups if self.pattern else -1):
            got = f"the template names group {max(groups)}, and the pattern has no such group"
            raise problem(got, "a group of `pattern`; {0} is all that it matches", "Add it.")
        if self.template and self.template.has_relative and (self.path is None or self.pattern):
            raise problem("{.path} with nothing to look in", "path: without pattern", "Mend it.")
        return self


class ShapeSpec(Strict):
    """How one record is made of a source object that matches."""

    WHAT: ClassVar[str] = "record shape"
    id: Expressions = Field(description="a path, or a template such as {id}#withdrawn")
    type: TypeSpec = Field(description="a name, or {path: ...}")
    when: dict[str, Condition] = Field({})
    time: Expressions | None = None
    published: Expressions | None = None
    title: Expressions | None = None
    text: Expressions | None = None
    scope: dict[str, Annotated[list[ValueSpec], BeforeValidator(listed)]] = Field({})
    metadata: dict[str, APath] = Field({})

    @model_validator(mode="after")
    def _paths(self) -> Self:
        for path in self.when:
            try:
                FieldPath.parse(path)
            except ValueError as error:
                raise problem(str(error), HELP[FieldPath.parse], "Mend it.", "when") from error
        return self


class ScopeKeySpec(Strict):
    """One equality of a rule's scope. One name stands for both sides."""

    WHAT: ClassVar[str] = "scope key"
    superseding: Text = Field(description="the key of the superseding record")
    superseded: Text = Field(description="the key of the superseded record")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: object) -> object:
        return data if isinstance(data, dict) else {"superseding": data, "superseded": data}


def _scope(value: object) -> object:
    return [] if value == GLOBAL else listed(value)


def _order(value: object) -> Order:
    known = [one.value for one in Order]
    if value not in known:
        raise problem(
            f"unknown order {value!r}", ", ".join(known), nearest(str(value), known), "order"
        )
    return Order(str(value))


# A value of metadata as str() gives it: rules compare metadata so.
Counted = Annotated[str, PlainValidator(lambda value: str(_plain(value)))]


class RuleSpec(Strict):
    """One rule. See argus.authority.rules.Rule."""

    WHAT: ClassVar[str] = "rule"
    superseding: Texts = Field(description="the type, or types, that supersede")
    superseded: Texts = Field(description="the type, or types, that are superseded")
    scope: Annotated[list[ScopeKeySpec], BeforeValidator(_scope)] = Field(
        description="keys on which both agree, or the word global"
    )
    name: Text = ""
    order: Annotated[Order, PlainValidator(_order)] = Order.EFFECTIVE
    condition: dict[str, Annotated[list[Counted], BeforeValidator(listed)]] = Field({})
    relation: Text = SUPERSEDES
    confidence: float = 1.0


class DomainSpec(Strict):
    """A domain file."""

    WHAT: ClassVar[str] = "domain"
    rules: Annotated[list[RuleSpec], BeforeValidator(listed)] = Field(
        description="a list of superseding, superseded, scope"
    )
    name: Text | None = None
    zone: Text = "UTC"
    dates: Annotated[list[ADateForm], BeforeValidator(listed)] = Field([])
    unmatched: Text = "error"
    records: Annotated[list[ShapeSpec], BeforeValidator(listed)] | None = None
