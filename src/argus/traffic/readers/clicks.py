"""Which results were opened: ids, one or a list, or a count or mark that names none.

A field that is named after ids (`clicked_ids`) holds ids. Elsewhere 1 and 0 are marks, and in
`clicks` every number is a count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.retrievers.results import ID_NAMES
from argus.traffic.exchange import Passage
from argus.traffic.readers.values import APART, as_number, unpacked

OPENED = ("",)
"""Something was opened, and no one says what."""
NOT_OPENED = frozenset(("false", "no", "none", "null", "nan"))
MARKED = frozenset(("true", "yes"))


def clicks(name: str, value: Any, results: tuple[Passage, ...] | None) -> tuple[str, ...]:
    """Return the ids of what was opened, "" for a result that is not named.

    name: the field that holds the value. results: what came, as far as the log says so.
    """
    value = unpacked(value)
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return tuple(id_ for one in value if (id_ := _id(one)))
    if isinstance(value, Mapping):
        id_ = _id(value)
        return (id_,) if id_ else ()
    if isinstance(value, bool):
        return OPENED if value else ()
    text = str(value).strip()
    number = as_number(text)
    if number is not None and not name.endswith(("id", "ids")):
        is_id = name != "clicks" and number not in (0, 1)
        return () if not number > 0 else (text,) if is_id else OPENED
    if text.lower() in MARKED or text.lower() in NOT_OPENED:
        return OPENED if text.lower() in MARKED else ()
    return _named(text, {passage.id for passage in results or ()}) if text else ()


def _id(value: Any) -> str:
    """Return an id of a list's item; empty for what has none."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in ID_NAMES if name in value), None)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _named(text: str, known: set[str]) -> tuple[str, ...]:
    """Return the ids in a text: several only where the results have each of them."""
    parts = [one for one in APART.split(text) if one]
    return tuple(parts) if text not in known and known.issuperset(parts) else (text,)
