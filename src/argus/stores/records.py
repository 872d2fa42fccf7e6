"""Select the records that can be searched by or that a filter shows, and type its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from argus.errors import InputError
from argus.stores.protocol import Filter, Payload, Records, Store, StoreFacts

REMEDY, PARENT, KIND = "argus_remedy", "argus_parent", "argus_kind"
SCALE, PENALTY = "argus_scale", "argus_penalty"
ENCODER = "argus_encoder"  # fingerprint of the encoder of the vector, which has to embed queries
TEXTS, NUMBERS = (REMEDY, PARENT, KIND, ENCODER), (SCALE, PENALTY)
FIELDS = (*TEXTS, *NUMBERS)
"""Fields of a remedy's records beside the payload of their parents. Flat, so any store filters."""
NAN, ZERO = "a value that is no number", "all zeros"
MAX_PAGES = 20  # of records, in which the type of a field's values is looked for


def check_dimension(dim: int, facts: StoreFacts, name: str) -> None:
    """Raise InputError where an encoder makes vectors of another dimension than a store holds."""
    if dim != facts.dim:
        got = f"the encoder makes {dim} dimensions, {name} holds {facts.dim}"
        expected, fix = "the model that made the store's vectors", "Name it with --encoder."
        raise InputError(got, expected=expected, fix=fix, where="--encoder")


def whole_rows(records: Records, rows: Sequence[int]) -> tuple[list[int], dict[int, str]]:
    """Return the rows that hold vectors to search by, and reasons for the others."""
    members = set(rows)
    broken = {row: why for row, why in records.broken.items() if row in members}
    odd = np.flatnonzero(~np.isfinite(records.vectors).all(axis=1))
    zero = np.flatnonzero(~records.vectors.any(axis=1))
    for those, why in ((odd, NAN), (zero, ZERO)):
        broken |= {row: why for row in those.tolist() if row in members and row not in broken}
    return [row for row in rows if row not in broken], broken


def shown_rows(records: Records, matching: Filter | None) -> list[int]:
    """Return the rows that a filter shows. All where there is none."""
    rows = range(len(records.ids))
    return [row for row in rows if not matching or matches(records.payloads[row], matching)]


def matches(payload: Payload, matching: Filter) -> bool:
    """Return whether a payload holds the values of a filter, in a list of values too.

    UUIDs, dates and decimals go by their text.
    """
    return all(
        any(expected in (value, str(value)) for value in values_of(payload, key))
        for key, expected in matching.items()
    )


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

    The fields of a remedy's records are known, and need not be among the first records. UUIDs,
    dates and decimals stay texts: every store reads them so, and a summary can hold them. Raises
    InputError for a field that no record holds, or whose values are of another type.
    """
    examples = {key: _examples(key, store, size) for key in matching if key not in TEXTS}
    is_known = {key: isinstance(matching[key], str) and key in examples for key in matching}
    return {k: _value(k, v, examples[k]) if is_known[k] else v for k, v in matching.items()}


def _examples(key: str, store: Store, size: int) -> list[Any]:
    values: list[Any] = []
    fields: dict[str, None] = {}
    for records in islice(store.iterate(size), MAX_PAGES):
        for payload in records.payloads:
            fields |= dict.fromkeys(payload)
            values += values_of(payload, key)
        if values:
            return values
    expected = f"one of {', '.join(fields) or '(the records have no fields)'}"
    fix, where = "Check the name; a field inside another is written with a dot.", "--where"
    raise InputError(f"no record holds a field {key!r}", expected=expected, fix=fix, where=where)


def _value(key: str, text: str, examples: Sequence[Any]) -> str | int | float | bool:
    kind = type(examples[0])
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind in (int, float):
        with suppress(ValueError):
            return int(text) if kind is int else float(text)
    if kind not in (bool, int, float):
        return text
    some = dict.fromkeys(map(repr, examples[:1000]))
    expected = f"a value as the records have them: {', '.join(some)[:200]}"
    raise InputError(f"{key}={text}", expected=expected, fix="Correct it.", where="--where")


def refuse_nothing(matching: Filter, n: int) -> InputError:
    """Return the error of a filter that shows none of n records."""
    conditions = ", ".join(f"{key}={value}" for key, value in matching.items())
    got, fix = f"{conditions} matches none of {n:,} records", "Check the values."
    return InputError(got, expected="a filter that some record passes", fix=fix, where="--where")


def is_of_remedy(payload: Payload) -> bool:
    """Return whether a record is a remedy's, and no document of the user's."""
    return bool(payload.get(REMEDY))
