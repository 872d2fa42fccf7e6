"""Summaries that come back from JSON, checked against the type they were written from.

A job's summary is a `TypedDict`: what mypy checks where it is made is what stands in summary.json,
key by key. Whoever reads one back reads it through its type: a damaged or foreign file is refused,
with the place.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from argus.data.parquet import WRITTEN
from argus.errors import InputError, Location

T = TypeVar("T")


def read_record(kind: type[T], value: object, *, where: Path, section: str = "") -> T:
    """Return `value`, read from JSON, as the record it was written from; unknown keys are kept.

    kind: a TypedDict (of `typing_extensions`, which pydantic reads on every Python). section: the
    key of summary.json under which it stands. Nothing is converted: a number in quotes is no
    number. Raises InputError, with the place in the file, for anything that is not such a record.
    """
    from pydantic import ValidationError

    try:
        _adapter(cast(Hashable, kind)).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in (section, *first["loc"]) if step != "")
        given = "" if isinstance(first["input"], dict) else f"{first['input']!r}"[:80] + ": "
        raise InputError(
            f"{given}{first['msg'].lower()}, in {len(error.errors())} place(s)",
            expected="the file as Argus wrote it", fix=WRITTEN,
            where=Location(where, field=place or None),
        ) from error  # fmt: skip
    return cast(T, value)


def record_of(kind: type[T], value: object) -> T:
    """Return an object as the record of its fields that `kind`, a TypedDict, names.

    mypy does not see that both have the same types: tests/data/test_records.py lists the pairs.
    """
    return cast(T, {name: getattr(value, name) for name in kind.__annotations__})


def parse_json(text: str | bytes) -> Any:
    """Return what a JSON text holds. Raises ValueError for all that is none.

    For a file that was perhaps damaged: `json.loads` raises RecursionError besides.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
