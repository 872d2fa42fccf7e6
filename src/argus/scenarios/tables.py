"""Declare the columns of a table in a line or two: as an Arrow schema, or as report headings.

`schema(("id label", str), ("rank", int))` -> `pa.Schema`, for the Parquet tables of
`argus research scenarios` and `argus research suite`. `headings` does it for the tables of
`argus.reports.section`.
"""

from __future__ import annotations

import pyarrow as pa

_KINDS = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def schema(*groups: tuple[str, type]) -> pa.Schema:
    """Return the schema of groups of columns of one type each, such as ("rps low high", float)."""
    return pa.schema([(name, _KINDS[kind]) for names, kind in groups for name in names.split()])


def headings(text: str) -> dict[str, str]:
    """Return heading -> kind of `argus.reports.section.table`, of "document: text; rank: count"."""
    parts = (part.rpartition(": ") for part in text.split("; "))
    return {heading: kind for heading, _, kind in parts}
