"""Data frames as rows: pandas, polars and Arrow tables, by what they can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from argus.data.rows import Row
from argus.errors import InputError

PLACE = Path("DataFrame")
"""What stands for it in an error."""


@runtime_checkable
class Frame(Protocol):
    """A table with named columns: a pandas or polars DataFrame, or an Arrow table."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""

    @property
    def shape(self) -> Any:
        """Rows and columns."""


def frame_rows(frame: Frame) -> Iterator[Row]:
    """Yield the rows of a data frame, numbered from 1; what is missing in one is absent.

    Raises InputError for a table that gives no rows.
    """
    for number, values in enumerate(_records(frame), start=1):
        yield Row({str(k): v for k, v in values.items() if not _is_missing(v)}, PLACE, number)


def _records(frame: Any) -> Iterable[Mapping[Any, Any]]:
    for name in ("to_pylist", "to_dicts"):  # Arrow, polars
        if hasattr(frame, name):
            rows: Iterable[Mapping[Any, Any]] = getattr(frame, name)()
            return rows
    if hasattr(frame, "to_dict"):
        records: Iterable[Mapping[Any, Any]] = frame.to_dict(orient="records")
        return records
    raise InputError(
        f"a {type(frame).__name__} with columns, but without rows that can be read",
        expected="a pandas or polars DataFrame, or an Arrow table",
        fix="Convert it with to_pandas().",
        where="corpus",
    )


def _is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or what pandas puts for neither."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
