"""The team's own filter, seen from the records: which it shows, and of what type its values are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from argus.errors import InputError
from argus.stores.protocol import Filter, Payload, Records, Store
from argus.stores.writable import TEXTS

LOOKED_AT = 20
"""Pages of records in which the type of a field's values is looked for."""
_READ_AS: Mapping[type, Callable[[str], Any]] = {
    UUID: UUID, datetime: datetime.fromisoformat, date: date.fromisoformat,
    time: time.fromisoformat, Decimal: Decimal,
}  # fmt: skip
"""Values of records that a filter names by their text, as the store's own queries do."""


def conditions(texts: Sequence[str]) -> dict[str, str]:
    """Return field to value of `FIELD=VALUE` each; InputError for anything else."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(
                f"{text!r}", expected="FIELD=VALUE", fix="For example --where tenant=7.",
                where="--where",
            )  # fmt: skip
        pairs[name] = value
    return pairs


def shown_rows(records: Records, matching: Filter | None) -> list[int]:
    """Return the rows that a filter shows; all where there is none."""
    rows = range(len(records.ids))
    return [row for row in rows if not matching or matches(records.payloads[row], matching)]


def matches(payload: Payload, matching: Filter) -> bool:
    """Return whether a payload holds what a filter asks for, in a list of values too."""
    return all(
        any(_is_same(value, expected) for value in values_of(payload, key))
        for key, expected in matching.items()
    )


def _is_same(value: Any, expected: Any) -> bool:
    """Return whether a record's value is the one that a filter asks for."""
    if type(value) not in _READ_AS or not isinstance(expected, str):
        return bool(value == expected)
    read = _read_as(type(value), expected)
    if isinstance(read, datetime) and read.tzinfo is None:
        read = read.replace(tzinfo=value.tzinfo)  # as the session has it
    return bool(value == read)


def _read_as(kind: type, text: str) -> Any:
    """Return what a text means for a field of UUIDs, dates or decimals; None for nothing."""
    try:
        return _READ_AS[kind](text)
    except (ValueError, ArithmeticError):
        return None


def values_of(payload: Payload, key: str) -> list[Any]:
    """Return the values of a field, named as it is or by a dotted path into it."""
    value: Any = payload.get(key)
    if value is None and "." in key:
        value = payload
        for name in key.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def typed(matching: Filter, store: Store, size: int) -> Filter:
    """Return a filter whose texts are of the type that the store's records have.

    The fields of a remedy's records are known, and need not be among the first records.

    UUIDs, dates and decimals stay texts: every store reads them so, and a summary can hold them.
    Raises InputError for a field that no record holds, or whose values are of another type, naming
    some of them.
    """
    examples = {key: _examples(key, store, size) for key in matching if key not in TEXTS}
    return {
        key: _value(key, value, examples[key])
        if isinstance(value, str) and key in examples
        else value
        for key, value in matching.items()
    }


def _examples(key: str, store: Store, size: int) -> list[Any]:
    values: list[Any] = []
    fields: dict[str, None] = {}
    for records in islice(store.iterate(size), LOOKED_AT):
        for payload in records.payloads:
            fields |= dict.fromkeys(payload)
            values += values_of(payload, key)
        if values:
            return values
    raise InputError(
        f"no record holds a field {key!r}",
        expected=f"one of {', '.join(fields) or '(the records have no fields)'}",
        fix="Check the name; a field inside another is written with a dot.",
        where="--where",
    )


def _value(key: str, text: str, examples: Sequence[Any]) -> str | int | float | bool:
    kind = type(examples[0])
    if kind is bool and text in ("true", "false"):
        return text == "true"
    try:
        if kind in (int, float):
            return int(text) if kind is int else float(text)
    except ValueError:
        pass
    if kind is str or (kind in _READ_AS and _read_as(kind, text) is not None):
        return text
    shown = ", ".join(dict.fromkeys(map(_shown, examples[:1000])))[:200]
    raise InputError(
        f"{key}={text}", expected=f"a value as the records have them: {shown}",
        fix="Correct it.", where="--where",
    )  # fmt: skip


def _shown(value: Any) -> str:
    return str(value) if type(value) in _READ_AS else repr(value)


def refuse_nothing(matching: Filter, n: int) -> InputError:
    """Return what is raised where a filter shows none of n records."""
    conditions = ", ".join(f"{key}={value}" for key, value in matching.items())
    return InputError(
        f"{conditions} matches none of {n:,} records",
        expected="a filter that some record passes",
        fix="Check the values.",
        where="--where",
    )
