"""Parse the values of a record: numbers, ids and texts."""

from __future__ import annotations

import json

from pydantic_core import from_json

from argus.generative.failures.reading.problems import Notes, Problem
from argus.generative.failures.reading.settings import Record

GREATEST = 2**53
"""Largest frequency: whole numbers up to it are exact as float64, in which means are taken."""
GREATEST_NUMBER = 1e100
"""Largest score or weight: sums of such stay finite."""


def parsed(content: bytes, note: Notes) -> object:
    """Parse JSON, NaN and Infinity included. The last of equal names counts.

    Bytes and halves of characters that no text can hold are replaced and noted. Raises ValueError
    for anything else that is no JSON. (pydantic_core reads such records in 2/3 of json's time.)
    """
    try:
        value: object = from_json(content)
        return value
    except ValueError as error:
        text = content.decode("utf-8", "replace")
        try:
            whole = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
            mended: object = from_json(whole.replace("\ufffd".encode(), b"?"))
        except RecursionError:
            raise error from None
        note(Problem.CHARACTERS, "", str(error))
        return mended


def number(value: object, note: Notes, place: str) -> float | None:
    """Return a number up to GREATEST_NUMBER, else None. One written as text is noted."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    if not abs(result) <= GREATEST_NUMBER:
        return None
    if isinstance(value, str):
        note(Problem.NUMBERS, place, value)
    return result


def count(value: object, note: Notes, place: str) -> int | None:
    """Return a whole number from 0 to GREATEST, None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= GREATEST else None
    result = number(value, note, place)
    if result is None or not result.is_integer() or not 0 <= result <= GREATEST:
        return None
    return int(result)


def id_of(record: Record, names: tuple[str, ...]) -> str | None:
    """Return the first id that a record has under one of the names. A whole number becomes text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def text_of(record: Record, name: str) -> str:
    """Return a text, empty for a missing value or another type."""
    value = record.get(name)
    return value if isinstance(value, str) else ""
