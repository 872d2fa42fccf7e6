"""Questions of a folder that fail: what a person would ask about first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from argus.data.parquet import read_names, read_table
from argus.data.types import Query
from argus.indexes.retriever import IndexRetriever
from argus.service.page.rows import Rows

MOST = 8
DEPTH = 10
AT_ONCE, MOST_ASKED, DEEPEST = 40, 120, 100
"""Questions that an index is asked at once and at most, and how far down a rank is looked for."""


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question, the document that was wanted, and where it came; None where it did not."""

    question: str
    document: str
    rank: int | None


SOURCES = (("questions", "question", "wanted"), ("misses", "query", "id"))
"""Tables of questions, and the columns of the question and of what was wanted."""


def failed_questions(folder: Path | None) -> list[FailedQuestion]:
    """Return questions whose document was not in the first DEPTH when a job asked them.

    Judged ones come first, then the nearest.
    """
    failed: list[FailedQuestion] = []
    for name, question, target in SOURCES if folder else ():
        path = folder / f"{name}.parquet"  # type: ignore[operator]
        if not path.is_file() or not {question, target, "rank"} <= read_names(path):
            continue
        rows: Rows = read_table(path, [question, target, "rank"]).to_pylist()
        own = [
            FailedQuestion(row[question], str(row[target]).split(", ")[0], row["rank"])
            for row in rows
            if row["rank"] is None or row["rank"] > DEPTH
        ]
        failed += sorted(own, key=lambda one: one.rank or 10**9)[:MOST_ASKED]
    return failed[:MOST_ASKED]


def failing_now(
    candidates: list[FailedQuestion], retriever: IndexRetriever
) -> list[FailedQuestion]:
    """Return the first MOST of some questions that fail in an index as it is, with their ranks."""
    failing: list[FailedQuestion] = []
    for start in range(0, len(candidates), AT_ONCE):
        batch = candidates[start : start + AT_ONCE]
        run = retriever.search([Query(str(i), q.question) for i, q in enumerate(batch)], DEEPEST)
        for i, one in enumerate(batch):
            places = {doc: place for place, doc in enumerate(run[str(i)], 1)}
            rank = places.get(one.document)
            if rank is None or rank > DEPTH:
                failing.append(replace(one, rank=rank))
        if len(failing) >= MOST:
            break
    return failing[:MOST]
