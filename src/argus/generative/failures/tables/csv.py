"""All tables of a system as columns and rows, one file each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def csv_tables(
    figures: Mapping[str, Any],
) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[Any]]]]:
    """Yield name, columns and rows of every table that applies, in the order of `figures`.

    A table of single figures is one row. What a table of rows says beside them (n, mean) is in
    summary.json, and of indicators in the table `indicators`.
    """
    for section in figures.values():
        if not isinstance(section, Mapping):
            continue
        for name, table in section.items():
            if "not_applicable" in table:
                continue
            if "columns" in table:
                yield name, table["columns"], table["rows"]
            else:
                yield name, list(table), [list(table.values())]
