"""What each candidate makes of each question, for people to look at."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from argus.repair.choice import PerQuery
from argus.repair.config import FIRST, MEASURE
from argus.repair.questions import Questions

TABLE = "repair_questions"


def trial_table(before: PerQuery, after: Mapping[str, PerQuery], questions: Questions) -> pa.Table:
    """Return one row per candidate and question, in the order of the questions."""
    rows = [
        {
            "candidate": candidate, "query_id": query.id, "question": query.text,
            "ndcg10_before": before[query.id][MEASURE], "ndcg10_after": values[query.id][MEASURE],
            "place_before": _place(before[query.id]), "place_after": _place(values[query.id]),
        }
        for candidate, values in after.items()
        for query in questions.queries
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)


SCHEMA = pa.schema(
    [
        ("candidate", pa.string()), ("query_id", pa.string()), ("question", pa.string()),
        ("ndcg10_before", pa.float64()), ("ndcg10_after", pa.float64()),
        ("place_before", pa.int64()), ("place_after", pa.int64()),
    ]
)  # fmt: skip
"""One row per candidate and question, in the order of the questions.

candidate: remedy that was tried.
ndcg10_before, ndcg10_after: nDCG@10 of the question, without and with it.
place_before, place_after: rank of the first relevant document; null beyond the first 10.
"""


def _place(values: Mapping[str, float]) -> int | None:
    return round(1 / values[FIRST]) if values[FIRST] > 0 else None
