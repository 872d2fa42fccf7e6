"""The language that says where in a source object a value is: paths and templates.

A path is names with dots, `[]` after a name whose value is a list: `affected[].package.name`. A
template is text with paths in braces: `{id}#withdrawn`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from string import Formatter

from argus.data.fields import At, FieldPath
from argus.data.rows import whole_characters
from argus.errors import InputError


class MissingPath(Exception):
    """A path of a template leads nowhere in this object."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)


@dataclass(frozen=True, slots=True)
class Template:
    """Text with fields: a path; `.path` inside of what another path found; or a group number.

    parts: (text, field) in turn, field None where only text is left.
    """

    text: str
    parts: tuple[tuple[str, FieldPath | int | None, bool], ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template; ValueError says what is wrong with it."""
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
        """Whether it looks inside of what a path found."""
        return any(relative for _, _, relative in self.parts)

    def fill(
        self,
        values: Mapping[str, object],
        at: At,
        *,
        item: object = None,
        match: re.Match[str] | None = None,
    ) -> str:
        """Return the text; MissingPath where a field is not there, InputError for several values.

        item: what `{.path}` looks in. match: what `{1}` is a group of.
        """
        text = ""
        for literal, field, relative in self.parts:
            text += literal
            if isinstance(field, int):
                text += (match[field] or "") if match else ""
            elif field is not None:
                text += _only(field, item if relative else values, at)
        return text


def _only(field: FieldPath, values: object, at: At) -> str:
    if not isinstance(values, Mapping):
        raise InputError(
            f"{values!r}",
            expected=f"an object with {field.text!r}",
            fix="Check the path that the template looks in.",
            where=at(field.text),
        )
    texts = (scalar_text(value, field.text, at) for value in field.find(values, at))
    contents = [text for text in texts if text]
    if len(contents) > 1:
        raise InputError(
            f"{len(contents)} values",
            expected="one, to put into a template",
            fix="Name a path with one value; inside a list, give `path` and use {.name}.",
            where=at(field.text),
        )
    if not contents:
        raise MissingPath(field.text)
    return contents[0]


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
        raise InputError(
            f"{value!r} is of type {type(value).__name__}",
            expected="one text" if is_list else "text, or a whole number",
            fix=f"Write the path as '{field}[]'." if is_list else "Name another path.",
            where=at(field),
        )
    return whole_characters(value, at, field).strip()


@dataclass(frozen=True, slots=True)
class Expression:
    """A path or, with braces, a template: one value."""

    of: FieldPath | Template

    @classmethod
    def parse(cls, text: str) -> Expression:
        """Read a path or a template; ValueError says what is wrong."""
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
        """Return what is there: of a template one text, or none where a path of it is missing."""
        if isinstance(self.of, FieldPath):
            return self.of.find(values, at)
        try:
            return [self.of.fill(values, at)]
        except MissingPath:
            return []
