"""What must hold of the rows that a job wrote, before figures are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from argus.data.parquet import WRITTEN
from argus.errors import InputError, Location

SLACK = 1e-6
"""By which sums of rounded numbers may leave 0..1."""


def require_unique(
    ids: Iterable[str], path: Path, column: str = "id", *, fix: str = WRITTEN
) -> None:
    """Raise InputError where an id comes twice."""
    met: set[str] = set()
    for row, id_ in enumerate(ids, 1):
        if id_ in met:
            raise InputError(
                f"a second row of {id_!r}",
                expected="one row each",
                fix=fix,
                where=Location(path, row, column),
            )
        met.add(id_)


def require_shares(
    ids: Sequence[str],
    values: Sequence[float | None],
    path: Path,
    column: str,
    *,
    fix: str = WRITTEN,
) -> None:
    """Raise InputError for a value outside of 0..1, or that is no number; None is unmeasured."""
    for id_, value in zip(ids, values, strict=True):
        if value is not None and not is_share(value):
            raise InputError(
                f"{id_!r} has {value!r}",
                expected="a number from 0 to 1",
                fix=fix,
                where=Location(path, field=column),
            )


def is_share(value: object) -> bool:
    """Return whether a value is a number from 0 to 1."""
    return isinstance(value, int | float) and -SLACK <= value <= 1 + SLACK
