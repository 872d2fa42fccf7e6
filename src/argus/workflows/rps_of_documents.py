"""The highest predicted RPS in each document, from a diagnosis."""

from __future__ import annotations

import math
from pathlib import Path

from argus.data.rows import read_rows
from argus.data.types import State
from argus.errors import InputError

FILE = "diagnosis.parquet"
FIELDS = ("doc_id", "rps", "state")


def highest_rps(folder: Path) -> dict[str, float]:
    """Return doc_id -> highest predicted RPS among its entities, documents that have one.

    folder: holds diagnosis.parquet with doc_id, rps and state; rows that are not measured are no
    zeros and are left out. Raises InputError when the file or a column is missing, and when
    nothing in it was measured.
    """
    file = folder / FILE if folder.is_dir() else folder
    if not file.is_file():
        raise InputError(
            f"no {FILE}",
            expected="a folder that holds a diagnosis",
            fix="Make one with `argus diagnose`, or leave out --diagnosis.",
            where=folder,
        )
    highest: dict[str, float] = {}
    for row in read_rows(file):
        absent = [name for name in FIELDS if name not in row.values]
        if absent:
            raise InputError(
                f"no column {absent[0]!r}",
                expected=f"the columns {', '.join(FIELDS)}",
                fix="Make the diagnosis again.",
                where=file,
            )
        doc, rps = str(row.values["doc_id"]), row.values["rps"]
        if row.values["state"] == str(State.MEASURED) and rps is not None and math.isfinite(rps):
            highest[doc] = max(highest.get(doc, rps), rps)
    if not highest:
        raise InputError(
            "no entity in it has a predicted RPS",
            expected="at least one measured row",
            fix="See the diagnosis's own report for what failed.",
            where=file,
        )
    return highest
