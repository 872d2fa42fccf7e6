"""Cells of CSV files that no spreadsheet computes.

A cell that begins with `=`, `+`, `-`, `@`, their full-width shapes, a tab, a carriage return or a
line feed is a formula to spreadsheets, and what a document says may be one. Written, it begins with
an apostrophe, which they hide; so does what begins with apostrophes and then such a character, so
that each cell reads back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The last four are the full-width shapes of the first."""
_PATTERN = rf"\A'*[{re.escape(''.join(FORMULA))}]"
_RAW: ContextVar[bool] = ContextVar("raw csv", default=False)


@contextmanager
def raw_csv(raw: bool = True) -> Iterator[None]:
    """Write cells of CSV files as they are, for as long as a block lasts."""
    token = _RAW.set(raw)
    try:
        yield
    finally:
        _RAW.reset(token)


def set_raw_csv() -> None:
    """Write cells as they are from now on: `argus --raw-csv`."""
    _RAW.set(True)


def harmless(text: str) -> str:
    """Return a cell's text so that no spreadsheet computes it."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) and not _RAW.get() else text


def as_written(text: str) -> str:
    """Return the text that `harmless` made a cell of."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text


def harmless_table(table: pa.Table) -> tuple[pa.Table, int]:
    """Return a table whose texts are harmless, and how many cells that changed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _RAW.get():
        return table, 0
    changed = 0
    for i, field in enumerate(table.schema):
        column = table.column(i)
        if pa.types.is_dictionary(field.type) and pa.types.is_string(field.type.value_type):
            column = column.cast(pa.string())
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        is_formula = pc.fill_null(pc.match_substring_regex(column, _PATTERN), False)
        n = pc.sum(is_formula).as_py() or 0
        if n:
            quote, nothing = pa.scalar("'", column.type), pa.scalar("", column.type)
            marked = pc.binary_join_element_wise(quote, column, nothing)
            table = table.set_column(i, field.name, pc.if_else(is_formula, marked, column))
            changed += n
    return table, changed
