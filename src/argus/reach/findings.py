"""What a reach run tells: a row per record that does not come back, and the figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.measures import wilson
from argus.reach.causes import Cause, cause
from argus.reach.exact import ExactRanks
from argus.reach.summary import Reached, ReachSummary, Recall, StoreRecord, UnreachedRecord
from argus.reach.survey import Survey
from argus.stores.protocol import Filter, StoreFacts

EXAMPLES = 50
"""Records that the summary names; unreached.parquet has all."""


@dataclass(frozen=True)
class Findings:
    """The parts of a reach run."""

    name: str
    facts: StoreFacts
    k: int
    matching: Filter
    survey: Survey
    unreached: ExactRanks | None
    """Of the records that did not come back, in the survey's order."""
    recall: npt.NDArray[np.float64]
    recall_of_queries: npt.NDArray[np.float64] | None

    @cached_property
    def rows(self) -> list[UnreachedRecord]:
        """One row per record that does not come back."""
        rows: list[UnreachedRecord] = [
            {"id": id_, "cause": str(Cause.BROKEN), "detail": why}
            for id_, why in self.survey.broken.items()
        ]
        for row, id_ in enumerate(self.survey.unreached.ids):
            assert self.unreached is not None  # measured where there are any
            why = cause(self.unreached, row, self.k, is_exact=self.facts.is_exact)
            rows.append({"id": id_, "cause": str(why), "detail": self._detail(why, row)})
        return rows

    def _detail(self, why: Cause, row: int) -> str:
        assert self.unreached is not None
        higher, tied = int(self.unreached.higher[row]), int(self.unreached.tied[row])
        if why is Cause.EQUAL:
            return f"{tied:,} records, itself among them, are as near as it is"
        if why is Cause.METRIC:
            return f"{higher:,} records score higher for its own vector"
        return f"exact search finds it at {higher + 1:,}" if why is Cause.INDEX else ""

    def table(self) -> pa.Table:
        """Return the rows as a table."""
        text = pa.string()
        schema = pa.schema([("id", text), ("cause", text), ("detail", text)])
        return pa.Table.from_pylist(self.rows, schema=schema)

    def summary(self) -> ReachSummary:
        """Return the figures."""
        survey, rows = self.survey, self.rows
        causes = Counter(row["cause"] for row in rows)
        missing = survey.asked - survey.reached - len(survey.unreached)
        if missing:
            causes[str(Cause.UNEXAMINED)] = missing
        whole = np.isfinite(survey.shortest)
        return {
            "k": self.k,
            "store": _store(self.name, self.facts),
            "read": survey.read,
            "hidden": survey.hidden,
            "matching": dict(self.matching),
            "reached": _reached(survey),
            "broken": dict(Counter(survey.broken.values()).most_common()),
            "causes": dict(causes.most_common()),
            "reachable": survey.reachable,
            "shortest": float(survey.shortest) if whole else None,
            "longest": float(survey.longest) if whole else None,
            "recall": _recall(self.recall),
            "recall_of_queries": (
                None if self.recall_of_queries is None else _recall(self.recall_of_queries)
            ),
            "examples": rows[:EXAMPLES],
        }


def _store(name: str, facts: StoreFacts) -> StoreRecord:
    return {
        "name": name,
        "records": facts.records,
        "dim": facts.dim,
        "metric": str(facts.metric),
        "index": facts.index,
        "vector_field": facts.vector_field,
        "is_exact": facts.is_exact,
    }


def _reached(survey: Survey) -> Reached:
    share, low, high = _share(survey.reached, survey.asked)
    return {
        "asked": survey.asked,
        "reached": survey.reached,
        "share": share,
        "low": low,
        "high": high,
        "first": survey.first,
    }


def _share(n: int, total: int) -> tuple[float, float, float]:
    if not total:
        return 0.0, 0.0, 1.0
    low, high = wilson(n / total, total)
    return n / total, float(low), float(high)


def _recall(values: npt.NDArray[np.float64]) -> Recall | None:
    if not len(values):
        return None
    mean = float(values.mean())
    low, high = wilson(mean, len(values))
    return {"queries": len(values), "recall": mean, "low": float(low), "high": float(high)}
