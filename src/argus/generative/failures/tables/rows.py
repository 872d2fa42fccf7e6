"""The rows of one system as arrays, with reasons for tables that do not apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from argus.generative.failures.measures.columns import LENGTHS
from argus.generative.failures.tables.records import NotApplicable

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_NEEDS = {
    "keys": (
        "score_all",
        "The passages have no n-grams. Give an output with its keys: `argus research generative "
        "search`"
        " always writes them, SEAL and MINDER with --include_keys.",
    ),
    "frequencies": (
        "frequency_all",
        "The n-grams have no corpus frequency. Give an output whose keys are"
        " [n-gram, frequency, score].",
    ),
    "correctness": (
        "hit_1",
        "It is not known which passages are correct. Give an output with positives"
        " (`positive_ctxs`), or, for questions with answers, --correct answer.",
    ),
    "positives": (
        "positives",
        "The questions have no positives. Give an output that has them (`positive_ctxs`).",
    ),
    "answers": (
        "answer_hit_1",
        "The questions have no answers, or the passages no texts. Give an output with both"
        " (`answers`; `text` of every passage).",
    ),
    "index": ("coverage", "This needs the index: --corpus-index."),
    "model": ("pruned", "This needs index and model: --corpus-index and --model."),
    "judge": ("judged", "No language model judged the passages. Give one: --llm."),
}


@dataclass(frozen=True)
class Rows:
    """The rows of failures.parquet (docs/autopsy.md), ordered by id: (n,) questions.

    A column that is not there counts as one of which no question has a value. strict: deciles are
    those of the thesis.
    """

    table: pa.Table
    k: int
    seed: int
    strict: bool = False

    @classmethod
    def of(cls, table: pa.Table, *, k: int, seed: int, strict: bool = False) -> Rows:
        """Order the rows, unless strict, so that no sum depends on the order of input."""
        if strict:
            return cls(table, k, seed, strict)
        keys = [(name, "ascending") for name in ("query_id", "question") if _holds(table, name)]
        return cls(table.sort_by(keys), k, seed, strict)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def number(self, name: str) -> Floats:
        """Values of a column, (n,), NaN where a question has none."""
        if not _holds(self.table, name):
            return np.full(len(self), np.nan)
        import pyarrow as pa

        column = self.table[name].cast(pa.float64())
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)

    def text(self, name: str) -> list[str | None]:
        """Values of a column of texts, None if a question has none."""
        if not _holds(self.table, name):
            return [None] * len(self)
        values: list[str | None] = self.table[name].to_pylist()
        return values

    def lists(self, name: str) -> Floats:
        """Values of a column of lists by length, (questions that have one, LENGTHS)."""
        values = self.table[name].to_pylist() if _holds(self.table, name) else []
        return np.array([v for v in values if v is not None], np.float64).reshape(-1, LENGTHS)

    def has(self, name: str) -> bool:
        """Whether any question has a value."""
        return _holds(self.table, name) and self.table[name].null_count < len(self)

    def missing(self, *needs: str) -> NotApplicable | None:
        """Return the reason for a missing table that needs these. None if they are there."""
        for need in needs:
            column, why = _NEEDS[need]
            if not self.has(column):
                return not_applicable(why)
        return None

    @property
    def hits(self) -> dict[str, Floats]:
        """hit_1 and hit_k, NaN without judgements."""
        return {name: self.number(name) for name in ("hit_1", "hit_k")}


def _holds(table: pa.Table, name: str) -> bool:
    return name in table.column_names


def not_applicable(why: str) -> NotApplicable:
    """Return the reason for a table that cannot be made."""
    return {"not_applicable": why}


def known(*columns: Floats) -> Mask:
    """Which questions have a value in all columns, each (n,)."""
    in_all: Mask = np.logical_and.reduce([~np.isnan(column) for column in columns])
    return in_all
