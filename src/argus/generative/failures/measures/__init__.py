"""One question -> its row of failures.parquet. Figures are defined in docs/autopsy.md.

A module per group of columns, each a function of a case that returns its columns. A figure that
does not apply is None.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from argus.errors import InputError
from argus.generative.failures.case import Case
from argus.generative.failures.measures.ablations import ablations
from argus.generative.failures.measures.annotation import annotation
from argus.generative.failures.measures.columns import COLUMNS, OF_OUTPUT, OutputRow, Row
from argus.generative.failures.measures.generation import generation
from argus.generative.failures.measures.metadata import metadata
from argus.generative.failures.measures.quality import quality
from argus.generative.failures.measures.scoring import scoring
from argus.generative.failures.measures.texts import texts

__all__ = ["measure", "to_table"]


def measure(case: Case, k: int) -> OutputRow:
    """Return the measures that need only an output: the columns of OF_OUTPUT, in order.

    Raises InputError for a k below 1.
    """
    if k < 1:
        raise InputError(
            f"k = {k}",
            expected="a whole number of at least 1",
            fix="The thesis looks at the first 10 passages.",
            where="failure analysis",
        )
    return {
        "query_id": case.id,
        "question": case.question,
        "passages": len(case.passages),
        **quality(case, k),
        **metadata(case),
        **generation(case, k),
        **scoring(case, k),
        **annotation(case, k),
        **texts(case),
        **ablations(case, k),
    }


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table with the COLUMNS that some row has. Missing values are null.

    Without rows, the columns of OF_OUTPUT. Raises InputError for a name that is no column.
    """
    names = {name for row in rows for name in row} if rows else set(OF_OUTPUT)
    if unknown := sorted(names - set(COLUMNS)):
        raise InputError(
            f"a row with {', '.join(unknown)}",
            expected="names of measures/columns.py",
            fix="Add the figure there, with its type, and to docs/autopsy.md.",
            where="failure analysis",
        )
    schema = pa.schema([(name, kind) for name, kind in COLUMNS.items() if name in names])
    return pa.Table.from_pylist(list(rows), schema=schema)
