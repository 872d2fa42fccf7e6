"""Tables of one system, from the rows of failures.parquet (docs/failures.md).

`figures` returns plain JSON: numbers of 8 significant digits, None if a figure does not apply.

    {"questions": rows, "judged": rows with judgements, "k": k,
     SECTION: {TABLE: table, ...}, ...}

The sections are quality, metadata, generation, scoring, annotation, texts, corpus (the index),
replay (index and model), ablations, correlations. All are always there, with all their tables,
whose names are unique among all sections (those of the thesis begin with their number, t04_). A
table is one of

* `{"n": ..., "columns": [...], "rows": [[...], ...]}`. n: the questions it is made of. Some have
  further single figures beside n: decile tables have `indicator` and its mean, sigma, median, min
  and max over the same questions.
* `{"n": ..., "mean": ..., ...}`: single figures.
* `{"not_applicable": "why, and what to give"}`.

Shares and rates are between 0 and 1. X_low, X_high (or low, high) are the ends of the 95% interval
of X: Wilson's for shares and means of values in [0, 1], else the bootstrap's. sigma is the
population's (divided by n). Nothing depends on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from argus.generative.failures.tables.rows import (
    Rows,
    Table,
    Tables,
    has_rows,
    is_missing,
    known,
    not_applicable,
    plain,
)
from argus.generative.failures.tables.thesis import SECTIONS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SECTIONS", "csv_tables", "figures", "has_rows", "is_missing"]


def figures(rows: pa.Table, *, k: int, seed: int, strict: bool = False) -> dict[str, Any]:
    """Return every table of one system. Its shape is described at the top of this module.

    rows: one per question, with the columns of `failures.columns`. Those that were not measured
    may be missing. k: of hit_k, as it was measured. seed: of the bootstraps.
    strict: deciles are those of the thesis.
    """
    ordered = Rows.of(rows, k=k, seed=seed, strict=strict)

    def tables(part: str) -> Tables:
        return {name: _of_somebody(table) for name, table in SECTIONS[part](ordered).items()}

    all_figures: dict[str, Any] = {
        "questions": len(ordered),
        "judged": int(known(ordered.number("hit_1")).sum()),
        "k": k,
        **{part: tables(part) for part in SECTIONS},
    }
    return plain(all_figures)


def _of_somebody(table: Table) -> Table:
    nobody = not is_missing(table) and table["n"] == 0
    return not_applicable("No question has this figure.") if nobody else table


def csv_tables(
    figures: dict[str, Any],
) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[object]]]]:
    """Yield name, columns and rows of every table that applies, in the order of `SECTIONS`.

    A table of single figures is one row. The single figures of a table of rows (n, mean) are in
    summary.json, and of indicators in the table `indicators`.
    """
    for part in SECTIONS:
        for name, table in figures[part].items():
            if is_missing(table):
                continue
            if has_rows(table):
                yield name, table["columns"], table["rows"]
            else:
                yield name, list(table), [list(table.values())]
