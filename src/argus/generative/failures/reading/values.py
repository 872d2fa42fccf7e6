"""Values of a record: parsed, and numbers, ids and texts of them."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json

from argus.generative.failures.reading.problems import Notes, Problem

GREATEST = 2**53
"""Of a frequency: whole numbers up to it are exact as float64, in which means are taken."""
GREATEST_NUMBER = 1e100
"""Of a score or weight: sums of such stay finite."""


def parsed(content: bytes, note: Notes) -> Any:
    """Return what JSON says, NaN and Infinity included; of a name that stands twice, the last.

    Bytes and halves of characters that no text can hold are replaced and noted. Raises ValueError
    for anything else that is no JSON. (pydantic_core reads such records in 2/3 of json's time.)
    """
    try:
        return from_json(content)
    except ValueError as error:
        text = content.decode("utf-8", "replace")
        try:
            whole = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
            value = from_json(whole.replace("\ufffd".encode(), b"?"))
        except RecursionError:
            raise error from None
        note(Problem.CHARACTERS, "", str(error))
        return value


def number(value: Any, note: Notes, place: str) -> float | None:
    """Return a number up to GREATEST_NUMBER, else None; one written as text is noted."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    if not abs(found) <= GREATEST_NUMBER:
        return None
    if isinstance(value, str):
        note(Problem.NUMBERS, place, value)
    return found


def count(value: Any, note: Notes, place: str) -> int | None:
    """Return a whole number from 0 to GREATEST, None for anything else."""
    if type(value) is int:
        return value if 0 <= value <= GREATEST else None
    found = number(value, note, place)
    whole = found is not None and found.is_integer() and 0 <= found <= GREATEST
    return int(found) if found is not None and whole else None


def id_of(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first id that a record has under one of the names; a whole number as text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def text_of(record: dict[str, Any], name: str) -> str:
    """Return a text; what is missing or no text is the empty one."""
    value = record.get(name)
    return value if isinstance(value, str) else ""
