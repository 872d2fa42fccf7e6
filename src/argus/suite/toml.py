"""Read tables of a TOML file as configs. Keys are the settings that the configs declare.

A key is spelt as its option, without the dashes before it: `query_prompt`, or `query-prompt`. The
error for an unknown key names the nearest known one, and its place in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from argus.data.yaml_file import nearest
from argus.errors import InputError, Location
from argus.settings import Setting, nested, settings_of

C = TypeVar("C")
Value = object
"""A value of TOML: text, a number, a boolean, a list or a table."""


@dataclass(frozen=True)
class Table:
    """A table of a TOML file, and its place."""

    values: Mapping[str, Value]
    file: Path
    place: str = ""

    def at(self, key: str = "") -> Location:
        """Return the place of a key, for an error."""
        return Location(self.file, field=".".join(filter(None, (self.place, key))) or None)

    def error(self, key: str, got: str, expected: str, fix: str = "Correct it.") -> InputError:
        """Return an error about a key."""
        return InputError(got, expected=expected, fix=fix, where=self.at(key))

    def check(self, known: Collection[str]) -> None:
        """Raise InputError for a key that is none of those known."""
        for key in self.values:
            if spelt(key) not in known:
                raise self.error(
                    key, f"unknown key {key!r}", f"one of {', '.join(known)}",
                    nearest(spelt(key), [name for name in known if name not in self.values]),
                )  # fmt: skip

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text. Raises InputError for another value, and for none without a default."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(key, f"no {key!r}", f"a text under {key}", "Add the key.")
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, repr(value), "text that says something", "Quote it.")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts. A single text is a list of one, and no key an empty list."""
        value = self.values.get(key, [])
        rows = value if isinstance(value, list) else [value]
        if not all(isinstance(row, str) and row.strip() for row in rows):
            raise self.error(key, repr(value), "a list of texts", "Quote each.")
        return tuple(rows)

    def tables(self, key: str) -> list[Table]:
        """Return a list of tables, [[key]]. Raises InputError for anything else."""
        rows = self.values.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.error(key, repr(rows), f"tables, each headed [[{key}]]")
        return [Table(row, self.file, f"{key}[{i}]") for i, row in enumerate(rows)]

    def table(self, key: str) -> Table:
        """Return the table [key], empty without one. Raises InputError for anything else."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, repr(value), f"a table, headed [{key}]")
        return Table(value, self.file, key)

    def config(self, config: type[C]) -> C:
        """Return a config of the keys that are settings of it. Raises InputError as it does."""
        try:
            return _made(config, {spelt(k): (k, v) for k, v in self.values.items()}, self)
        except InputError as error:
            if isinstance(error.where, Location):
                raise
            key = str(error.where or "").lstrip("-").replace("-", "_")
            raise self.error(key, error.got, error.expected, error.fix) from error


def spelt(key: str) -> str:
    """Return a key as it is known, with underscores."""
    return key.replace("-", "_")


def key_of(setting: Setting) -> str:
    """Return the key of a setting: its option without the dashes before it."""
    return spelt(setting.where.lstrip("-"))


def keys_of(*configs: type) -> list[str]:
    """Return the keys of all settings of these configs, and of configs inside them."""
    keys: dict[str, None] = {}
    for config in configs:
        keys |= dict.fromkeys(key_of(setting) for setting in _settings(config))
        for inner, _ in _inner(config).values():
            keys |= dict.fromkeys(keys_of(inner))
    return list(keys)


def _settings(config: Any) -> Sequence[Setting]:
    declared = getattr(config, "declared_settings", None)
    settings: Sequence[Setting] = settings_of(config) if declared is None else declared()
    return settings


def _inner(config: type) -> dict[str, tuple[type, bool]]:
    return nested(config) if is_dataclass(config) else {}


def _made(config: type[C], values: Mapping[str, tuple[str, Value]], table: Table) -> C:
    arguments: dict[str, Any] = {}
    for setting in _settings(config):
        if key_of(setting) in values:
            key, value = values[key_of(setting)]
            arguments[setting.name] = _value(setting, key, value, table)
    for name, (inner, optional) in _inner(config).items():
        if not optional or any(key in values for key in keys_of(inner)):
            arguments[name] = _made(inner, values, table)
    make: Any = getattr(config, "from_options", config)
    if make is not config:
        defaults = {s.name: s.default for s in _settings(config)}
        arguments = defaults | arguments
    result: C = make(**arguments)
    return result


def _value(setting: Setting, key: str, value: Value, table: Table) -> Any:
    if not setting.many:
        return _single(setting, key, value, table)
    rows = value if isinstance(value, list) else [value]
    return tuple(_single(setting, key, row, table) for row in rows)


def _single(setting: Setting, key: str, value: Value, table: Table) -> Any:
    kind = setting.kind
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(value, str) and not issubclass(kind, bool | int | float):
        return kind(value) if issubclass(kind, Path) else value
    if type(value) is not kind:
        raise table.error(key, repr(value), f"{_NAMES.get(kind, 'text')}")
    return value


_NAMES = {int: "a whole number", float: "a number", bool: "true or false"}
