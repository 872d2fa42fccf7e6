"""Settings in a model's files, each of which must be known before the model is loaded here."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn, TypeVar

from argus.data.reading import parse_json

T = TypeVar("T")


class Unfamiliar(Exception):
    """A model has something that is not known here. Use sentence-transformers for it."""


class Settings:
    """The values of one JSON object: each is taken once, and none may be left in the end."""

    def __init__(self, values: Any, where: str) -> None:
        self.where = where
        if not isinstance(values, dict):
            self.refuse("no JSON object")
        self._rest: dict[str, Any] = dict(values)

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read a file. Raises OSError or ValueError where that fails."""
        return cls(parse_json(path.read_text(encoding="utf-8")), path.name)

    def take(self, name: str, default: Any = None) -> Any:
        """Return a value, whatever it is."""
        return self._rest.pop(name, default)

    def one_of(self, name: str, *known: Any) -> Any:
        """Return a value that is one of `known`. One that is not there counts as None."""
        value = self._rest.pop(name, None)
        if not any(type(value) is type(each) and value == each for each in known):
            self.refuse(f"{name} = {value!r}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        return self._typed(name, bool, default)

    def size(self, name: str) -> int:
        """Return a whole number above 0 that must be there."""
        value = self._typed(name, int, 0)
        if value < 1:
            self.refuse(f"{name} = {value!r}")
        return value

    def number(self, name: str, default: float) -> float:
        """Return a number."""
        return self._typed(name, float, default)

    def ignore(self, *names: str) -> Settings:
        """Take values that change nothing."""
        for name in names:
            self._rest.pop(name, None)
        return self

    def finish(self) -> None:
        """Refuse settings that were not read."""
        if self._rest:
            self.refuse(", ".join(self._rest))

    def refuse(self, what: str) -> NoReturn:
        """Raise Unfamiliar."""
        raise Unfamiliar(f"{self.where}: {what}")

    def _typed(self, name: str, kind: type[T], default: T) -> T:
        value = self._rest.pop(name, default)
        if type(value) is not kind:
            self.refuse(f"{name} = {value!r}")
        return value
