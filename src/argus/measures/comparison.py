"""Two systems on the same judged queries: every measure's difference, and who was harmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.measures.measures import Evaluation
from argus.measures.significance import RESAMPLES, UNCHANGED, PairedDifference, paired_difference


def compare(
    before: Evaluation, after: Evaluation, *, seed: int, resamples: int = RESAMPLES
) -> dict[str, PairedDifference]:
    """Return measure -> paired difference; both must have scored the same queries and measures."""
    return {
        measure: paired_difference(
            {query: values[measure] for query, values in before.per_query.items()},
            {query: values[measure] for query, values in after.per_query.items()},
            seed=seed,
            resamples=resamples,
        )
        for measure in before.aggregate
    }


@dataclass(frozen=True, slots=True)
class Change:
    """One query on which two systems differ by one measure."""

    query_id: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """After minus before: negative is harm."""
        return self.after - self.before


def harmed_queries(before: Evaluation, after: Evaluation, measure: str) -> list[Change]:
    """Return the queries whose `measure` fell, worst first, equals by id."""
    changes = [
        Change(query, values[measure], after.per_query[query][measure])
        for query, values in before.per_query.items()
    ]
    fell = [change for change in changes if change.difference < -UNCHANGED]
    return sorted(fell, key=lambda change: (change.difference, change.query_id))


def top_k_changes(
    before: Sequence[str], after: Sequence[str], *, k: int
) -> tuple[list[str], list[str]]:
    """Return the documents that enter and those that leave the top k, each in rank order."""
    old, new = set(before[:k]), set(after[:k])
    return [d for d in after[:k] if d not in old], [d for d in before[:k] if d not in new]
