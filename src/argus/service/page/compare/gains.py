"""What a corpus gains and loses: a comparison that lies in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argus.data.parquet import read_where
from argus.evaluation.compare.rows import SAME
from argus.evaluation.compare.summary import ComparisonSummary, only_one, relevant_sides
from argus.service.page.rows import Rows
from argus.verdict.reading import Results

MOST = 200
"""Rows of each table."""


HERE = "comparison"
"""Where a page has a comparison written, in the folder that it shows."""


@dataclass(frozen=True, slots=True)
class Gains:
    """A comparison: its summary, what changed, and the questions whose results did."""

    summary: ComparisonSummary
    sentences: tuple[str, ...]
    rows: Rows
    questions: Rows

    @property
    def names(self) -> list[str]:
        """What was compared, without the folders that it lies in."""
        return [name.rpartition("/")[2] for name in self.summary["names"]]


def gains_of(home: Path) -> Gains | None:
    """Return the comparison in a folder, or the one that its page made; None where there is none.

    What was lost comes first.
    """
    folder = next((f for f in (home, home / HERE) if (f / "comparison.parquet").is_file()), None)
    if folder is None:
        return None
    summary = Results.of(folder).section("comparison", ComparisonSummary)
    if summary is None:
        return None
    rows = read_where(folder / "comparison.parquet", [("verdict", "!=", SAME)])
    path = folder / "comparison_queries.parquet"
    questions: Rows = []
    if path.is_file():
        changed = read_where(path, [("changed", ">", 0)])
        questions = changed.sort_by([("changed", "descending")]).slice(0, MOST).to_pylist()
    return Gains(summary, tuple(_sentences(summary)), rows.slice(0, MOST).to_pylist(), questions)


def _sentences(summary: ComparisonSummary) -> list[str]:
    sentences = list(summary["notes"])
    if "only_before" in summary:
        sentences.append(only_one(summary))
    if "judged" in summary:
        sentences.append(relevant_sides(summary["judged"]))
    return sentences
