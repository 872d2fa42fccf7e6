"""Turn all tables of a system into columns and rows, one file each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from argus.generative.failures.tables.records import PARTS, Figures, has_rows, is_missing


def csv_tables(
    figures: Figures,
) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[object]]]]:
    """Yield name, columns and rows of every table that applies, in the order of `PARTS`.

    A table of single figures is one row. The single figures of a table of rows (n, mean) are in
    summary.json, and of indicators in the table `indicators`.
    """
    for part in PARTS:
        for name, table in figures[part].items():
            if is_missing(table):
                continue
            if has_rows(table):
                yield name, table["columns"], table["rows"]
            else:
                yield name, list(table), [list(table.values())]
