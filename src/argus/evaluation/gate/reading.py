"""Values of a summary.json, each checked where it is read; an error names file and field."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from argus.errors import InputError, Location


@dataclass(frozen=True)
class Value:
    """A value of a job's part of summary.json.

    field: its path in the file, joined by dots. run: the command that writes it. Whatever it is
    read as, InputError where it is anything else.
    """

    content: object
    file: Path
    field: str
    run: str

    def __getitem__(self, key: str) -> Value:
        """Return a value of a JSON object."""
        values, field = self._object(), f"{self.field}.{key}"
        if key not in values:
            raise _wrong("nothing", "a value", self.file, field, self.run)
        return Value(values[key], self.file, field, self.run)

    def __contains__(self, key: str) -> bool:
        """Return whether a JSON object has such a key."""
        return key in self._object()

    def values(self) -> list[Value]:
        """Return the values of a JSON object."""
        return [self[key] for key in self._object()]

    @property
    def missing(self) -> bool:
        """Whether it is null: there is no such figure."""
        return self.content is None

    def last(self) -> Value:
        """Return the last value of a list."""
        if not isinstance(self.content, list) or not self.content:
            raise self.wrong("a list that is not empty")
        field = f"{self.field}.{len(self.content) - 1}"
        return Value(self.content[-1], self.file, field, self.run)

    def count(self) -> int:
        """Return a whole number from 0."""
        number = self._number()
        if number is None or number < 0 or number != int(number):
            raise self.wrong("a whole number from 0")
        return int(number)

    def share(self) -> float:
        """Return a number from 0 to 1."""
        return self._between(0, 1)

    def difference(self) -> float:
        """Return a number from -1 to 1."""
        return self._between(-1, 1)

    def _object(self) -> dict[str, object]:
        if not isinstance(self.content, dict):
            raise self.wrong("an object")
        return self.content

    def _between(self, low: float, high: float) -> float:
        number = self._number()
        if number is None or not low <= number <= high:
            raise self.wrong(f"a number from {low} to {high}")
        return number

    def _number(self) -> float | None:
        content = self.content
        if isinstance(content, bool) or not isinstance(content, (int, float)):
            return None
        with suppress(OverflowError):  # 10**400
            return float(content) if math.isfinite(content) else None
        return None

    def wrong(self, expected: str) -> InputError:
        """Return the error for a value that is not what it should be."""
        return _wrong(repr(self.content)[:80], expected, self.file, self.field, self.run)


def _wrong(got: str, expected: str, file: Path, field: str, run: str) -> InputError:
    where = Location(file, field=field)
    fix = f"Run {run} again."
    return InputError(got, expected=expected, fix=fix, where=where)
