"""Define and check the YAML of a domain file with pydantic, down to its paths and templates.

A domain file says how records are made of source objects (`ShapeSpec`) and which record supersedes
which (`RuleSpec`). A path is names with dots, with `[]` after a name whose value is a list:
`affected[].package.name`. A template is text with paths in braces: `{id}#withdrawn`. `reading`
applies all of it to files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from string import Formatter
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from argus.authority.rules import SUPERSEDES, Order
from argus.authority.times import date_form
from argus.data.fields import At, FieldPath
from argus.data.rows import whole_characters
from argus.data.yaml_file import Strict, Text, Texts, kind_of, listed, problem, text_of
from argus.errors import InputError


@dataclass(frozen=True, slots=True)
class Template:
    """Text with fields: a path, `.path` inside the value of another path, or a group number.

    parts: (text, field, whether it is relative) in turn, field None where only text is left.
    """

    text: str
    parts: tuple[tuple[str, FieldPath | int | None, bool], ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template. Raise ValueError that names the fault."""
        parts: list[tuple[str, FieldPath | int | None, bool]] = []
        try:
            for literal, name, format_, conversion in Formatter().parse(text):
                field: FieldPath | int | None = None
                if format_ or conversion or name == "":
                    raise ValueError("{} holds a path and nothing else")
                if name is not None:
                    path = name.removeprefix(".")
                    field = int(name) if name.isdecimal() else FieldPath.parse(path)
                parts.append((literal, field, bool(name and name.startswith("."))))
        except ValueError as error:
            raise ValueError(f"{text!r} is no template: {error}") from error
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
                inside, where = item if relative else values, at(field.text)
                if not isinstance(inside, Mapping):
                    expected, fix = f"an object with {field.text!r}", "Check the template's path."
                    raise InputError(f"{inside!r}", expected=expected, fix=fix, where=where)
                found = [scalar_text(value, field.text, at) for value in field.find(inside, at)]
                found = [value for value in found if value]
                if len(found) > 1:
                    got, fix = f"{len(found)} values", "Inside a list, give `path` and use {.name}."
                    raise InputError(got, expected="one for a template", fix=fix, where=where)
                if not found:
                    return None
                text += found[0]
        return text

    def find(self, values: Mapping[str, object], at: At) -> list[object]:
        """Return its one text, or nothing where a path of it is missing, as `FieldPath.find`."""
        text = self.fill(values, at)
        return [] if text is None else [text]


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


Expression = FieldPath | Template  # one value of a source object


def parse_expression(text: str) -> Expression:
    """Read a path or, with braces, a template. Raise ValueError that names the fault."""
    if "{" not in text and "}" not in text:
        return FieldPath.parse(text)
    template = Template.parse(text)
    if template.groups or template.has_relative:
        raise ValueError(f"{text!r}: groups and {{.paths}} are for scope values only")
    return template


GLOBAL = "global"  # Scope of a rule without scope keys


def _parser(parse: Callable[[str], object], expected: str) -> PlainValidator:
    def read(value: object) -> object:
        text = text_of(value)
        try:
            return parse(text)
        except (ValueError, re.error, OverflowError, RecursionError) as error:
            raise problem(str(error), expected, "Mend it.") from error

    return PlainValidator(read)


APath = Annotated[FieldPath, _parser(FieldPath.parse, "a path such as affected[].package.name")]
AnExpression = Annotated[
    Expression,
    _parser(
        parse_expression, 'a path such as package.name, or a template such as "{id}#withdrawn"'
    ),
]
ATemplate = Annotated[
    Template, _parser(Template.parse, 'a template such as "{.ecosystem}/{.name}"')
]
APattern = Annotated[
    re.Pattern[str], _parser(re.compile, "a regular expression of Python's re module")
]
ADateForm = Annotated[str, _parser(date_form, 'a form of dates such as "%d-%b-%Y"')]
AnOrder = Annotated[Order, _parser(Order, ", ".join(Order))]
Paths = Annotated[list[APath], BeforeValidator(listed)]
Expressions = Annotated[list[AnExpression], BeforeValidator(listed)]


def _plain(value: object) -> str | int | bool:
    if isinstance(value, (str, int)):
        return value
    raise problem(kind_of(value), "text, a whole number, true or false", "Quote it.")


Plain = Annotated[str | int | bool, PlainValidator(_plain)]
# A value of metadata as str() gives it: rules compare metadata so.
Counted = Annotated[str, PlainValidator(lambda value: str(_plain(value)))]


class Condition(Strict):
    """Condition on a path for a shape to match."""

    WHAT: ClassVar[str] = "condition"
    exists: bool | None = None
    equals: Annotated[list[Plain], BeforeValidator(listed)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.exists is None) == (self.equals is None):
            fix = "Write several tests as several paths, several values as `equals: [a, b]`."
            raise problem("several tests, or none", "one of exists and equals", fix)
        return self

    def holds(self, found: Sequence[object]) -> bool:
        """Return whether the values at its path meet it. Empty ones are none."""
        there = [value for value in found if value not in ("", [], {})]
        if self.exists is not None:
            return bool(there) == self.exists
        equals = self.equals or ()
        return any(type(value) is type(one) and value == one for value in there for one in equals)


class TypeSpec(Strict):
    """The type of a shape's records, where it is the value of a path."""

    WHAT: ClassVar[str] = "type"
    path: APath = Field(description="where the type is")


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
    type: Text | TypeSpec = Field(description="a name, or {path: ...}")
    when: dict[APath, Condition] = Field({})
    time: Expressions | None = None
    published: Expressions | None = None
    title: Expressions | None = None
    text: Expressions | None = None
    scope: dict[str, Annotated[list[ValueSpec], BeforeValidator(listed)]] = Field({})
    metadata: dict[str, APath] = Field({})


class ScopeKeySpec(Strict):
    """One equality of a rule's scope. One name stands for both sides."""

    WHAT: ClassVar[str] = "scope key"
    superseding: Text = Field(description="the key of the superseding record")
    superseded: Text = Field(description="the key of the superseded record")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: object) -> object:
        return data if isinstance(data, dict) else {"superseding": data, "superseded": data}


class RuleSpec(Strict):
    """One rule. See argus.authority.rules.Rule."""

    WHAT: ClassVar[str] = "rule"
    superseding: Texts = Field(description="the type, or types, that supersede")
    superseded: Texts = Field(description="the type, or types, that are superseded")
    scope: Annotated[
        list[ScopeKeySpec], BeforeValidator(lambda value: [] if value == GLOBAL else listed(value))
    ] = Field(description="keys on which both agree, or the word global")
    name: Text = ""
    order: AnOrder = Order.EFFECTIVE
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
