"""Questions of a folder that failed: what a person would ask about first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argus.data.parquet import read_names, read_where
from argus.service.page.rows import Rows

MOST = 8
DEPTH = 10


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question, the document that was wanted, and where it came; None where it did not."""

    question: str
    document: str
    rank: int | None


SOURCES = (("questions", "question", "wanted"), ("misses", "query", "id"))
"""Tables of questions, and the columns of the question and of what was wanted."""


def failed_questions(folder: Path | None, most: int = MOST) -> list[FailedQuestion]:
    """Return questions of a folder whose document is not in the first DEPTH, judged ones first."""
    rows: list[FailedQuestion] = []
    for name, question, target in SOURCES if folder else ():
        path = folder / f"{name}.parquet"  # type: ignore[operator]
        if not path.is_file() or not {question, target, "rank"} <= read_names(path):
            continue
        table: Rows = read_where(
            path, [("rank", ">", DEPTH)], [question, target, "rank"]
        ).to_pylist()
        table.sort(key=lambda row: row["rank"])
        rows += [
            FailedQuestion(row[question], str(row[target]).split(", ")[0], row["rank"])
            for row in table[: most - len(rows)]
        ]
    return rows
