"""Records out of the usual columns, for domain files that say nothing of records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import tzinfo

from argus.authority.domains.paths import scalar_text
from argus.authority.domains.sources import Source
from argus.authority.records import Record, Values
from argus.authority.times import parse_moment
from argus.data.documents import ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS
from argus.errors import InputError

TIME_FIELDS = ("timestamp", "time", "date", "effective")
SCOPE_FIELDS = ("entities", "scope")
UNTYPED = "document"
NOTHING = "None"
"""How a careless conversion writes that a scope key has no value."""


def record_of_columns(
    source: Source, zone: tzinfo, *, typed: bool = True, forms: Sequence[str] = ()
) -> Record:
    """Return the record of an object with the usual columns; other columns become metadata.

    typed: every record needs a type; else one without is a "document", for edges without rules.
    forms: of dates, as for `parse_moment`. Raises InputError naming the field for a missing id or
    type, and for values of another kind.
    """
    used = {
        "id": _pick(source, ID_FIELDS),
        "type": _pick(source, ("type",)),
        "time": _pick(source, TIME_FIELDS),
        "published": _pick(source, ("published",)),
        "title": _pick(source, TITLE_FIELDS),
        "text": _pick(source, TEXT_FIELDS),
        "scope": _pick(source, SCOPE_FIELDS),
    }
    moments = {
        what: parse_moment(source.values[name], zone=zone, where=source.at(name), forms=forms)
        if (name := used[what])
        else None
        for what in ("time", "published")
    }
    return Record(
        id=_needed(source, used["id"], ID_FIELDS, "id"),
        type=_needed(source, used["type"], ("type",), "type") if typed or used["type"] else UNTYPED,
        time=moments["time"],
        published=moments["published"],
        scope=_scope(source, used["scope"]),
        text=_text(source, used["text"]),
        title=_text(source, used["title"]),
        metadata=_metadata(source, {name for name in used.values() if name}),
    )


def _pick(source: Source, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in source.values), None)


def _needed(source: Source, name: str | None, names: Sequence[str], what: str) -> str:
    if name is None:
        raise InputError(
            f"no {what} among {', '.join(map(repr, source.values)) or 'no fields'}",
            expected=f"one of {', '.join(map(repr, names))}",
            fix="Rename the field, or say in the domain file where it is (`records`).",
            where=source.at(),
        )
    value = source.values[name]
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{value!r} is no {what}",
            expected="text that is not empty",
            fix=f'Write it as text: "{value}".' if value else f"Give the record its {what}.",
            where=source.at(name),
        )
    scalar_text(value, name, source.at)
    return value


def _text(source: Source, name: str | None) -> str:
    value = source.values[name] if name else None
    if not name or value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(
            f"{value!r} is of type {type(value).__name__}",
            expected="text",
            fix="Write it as text, or say in the domain file where the text is (`records`).",
            where=source.at(name),
        )
    scalar_text(value, name, source.at)
    return value


def _scope(source: Source, name: str | None) -> dict[str, Values]:
    """Return the scope; keys without a value (null, "", [], "None") are left out."""
    entries = _mapping(source, name) if name else {}
    scope: dict[str, Values] = {}
    for key, value in entries.items():
        at_key = f"{name}.{key}"
        listed = value if isinstance(value, (list, tuple)) else [value]
        texts = (scalar_text(v, at_key, source.at) for v in listed if v is not None)
        values = [text for text in dict.fromkeys(texts) if text not in ("", NOTHING)]
        if values:
            scope[key] = values[0] if len(values) == 1 else tuple(values)
    return scope


def _mapping(source: Source, name: str) -> Mapping[str, object]:
    """Return the mapping of keys to values; a CSV cell holds it as JSON."""
    value = source.values[name]
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = source.values[name]
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise InputError(
            f"{value!r}",
            expected='an object of keys and values such as {"cve_id": "CVE-2021-44228"}',
            fix="Write it so, or say in the domain file where the keys are (`records`).",
            where=source.at(name),
        )
    return value


def _metadata(source: Source, used: set[str]) -> dict[str, object]:
    rest = {key: value for key, value in source.values.items() if key not in used}
    nested = rest.get("metadata")
    if isinstance(nested, Mapping):
        del rest["metadata"]
        rest |= nested
    return rest
