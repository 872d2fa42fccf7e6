"""Where in an object a value is: `affected[].package.name`, names with dots, `[]` after a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from argus.errors import InputError, Location

At = Callable[[str], Location]
"""Makes the location of a field."""
_STEP = re.compile(r"([^.\[\]{}\s](?:[^.\[\]{}]*[^.\[\]{}\s])?)(\[\])?")


@dataclass(frozen=True, slots=True)
class FieldPath:
    """Where values are in an object; `steps` are names, each with whether its value is a list."""

    text: str
    steps: tuple[tuple[str, bool], ...]

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Read a path; ValueError says what is wrong with it."""
        steps = []
        for part in text.split("."):
            match = _STEP.fullmatch(part)
            if match is None:
                raise ValueError(f"{text!r} is no path: {part!r} is not a name, or a name and []")
            steps.append((match[1], match[2] is not None))
        return cls(text, tuple(steps))

    @classmethod
    @lru_cache(1024)
    def named(cls, text: str, option: str) -> FieldPath:
        """Read the path that an option names. Raises InputError for what is none."""
        try:
            return cls.parse(text)
        except ValueError as error:
            raise InputError(
                str(error),
                expected="a field, or a path such as metadata.year or shown[].ref",
                fix="Put [] behind each list on the way.",
                where=option,
            ) from error

    def look(self, values: Mapping[str, object]) -> object:
        """Return what stands there in a foreign record, a list for a path with `[]`.

        None for nothing, and where the record has another shape.
        """
        if self.text in values or not self.is_in(values):
            return values.get(self.text)
        items: list[object] = [values]
        for name, many in self.steps:
            inner = [item.get(name) for item in items if isinstance(item, dict)]
            items = [x for value in inner if value is not None for x in _flat(value, many)]
        return items if any(many for _, many in self.steps) else items[0]

    def find(self, values: Mapping[str, object], at: At) -> list[object]:
        """Return what is there, in order; null and what is missing are left out.

        A field whose name is the whole path, dots and all (a CSV column), is taken first. One value
        where a list is expected counts as a list of one. Raises InputError for a list, or a plain
        value, where an object is expected.
        """
        if self.text in values:
            return [] if values[self.text] is None else [values[self.text]]
        items: list[object] = [values]
        before = ""
        for name, many in self.steps:
            items = list(_step(items, name, many, before, at))
            before = f"{before}.{name}" if before else name
            before += "[]" if many else ""
        return items

    def is_in(self, values: Mapping[str, object]) -> bool:
        """Return whether anything stands there, be it an empty list; null is nothing."""
        if self.text in values:
            return values[self.text] is not None
        items: list[object] = [values]
        for name, many in self.steps:
            inner = [item.get(name) for item in items if isinstance(item, dict)]
            there = [value for value in inner if value is not None]
            if items and not there:
                return False
            items = [x for value in there for x in _flat(value, many)]
        return True


def _flat(value: object, many: bool) -> list[object]:
    return value if many and isinstance(value, list) else [value]


def _step(items: list[object], name: str, many: bool, before: str, at: At) -> Iterator[object]:
    for item in items:
        if not isinstance(item, dict):  # objects are dicts in every format, and a fast check
            is_list = isinstance(item, list)
            raise InputError(
                f"{'a list' if is_list else repr(item)}",
                expected=f"an object with {name!r}",
                fix=f"Write the path as '{before}[].{name}'." if is_list else "Check the path.",
                where=at(before),
            )
        value = item.get(name)
        if many and isinstance(value, list):
            yield from (inner for inner in value if inner is not None)
        elif value is not None:
            yield value
