"""What `argus history` tells."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.measures.significance import DifferenceFigures


class ItemChange(TypedDict):
    """A document, entity or question, and a figure of it in both runs."""

    id: str
    before: float
    after: float


class FigureChange(TypedDict):
    """One figure of two runs, over the items that both measured; `queries` in `test` counts them.

    test: None where there is no such item. failed_after: measured before, and failed after; they
    are in no mean. verdict: "better", "worse", or "" where chance may do it.
    """

    figure: str
    common: int
    only_before: int
    only_after: int
    failed_after: int
    test: DifferenceFigures | None
    worse: list[ItemChange]
    better: list[ItemChange]
    verdict: str


class RunChange(TypedDict):
    """Two runs of one job, by their numbers. settings: those of the figures that differ."""

    job: str
    unit: str
    before: int
    after: int
    settings: list[str]
    same_corpus: bool
    same_encoder: bool
    figures: list[FigureChange]


class RunLine(TypedDict):
    """A run in the list of all. clock_ran_back: it says that it began before the one before it."""

    number: int
    job: str
    place: str
    finished: str
    argus: str
    means: dict[str, float]
    clock_ran_back: bool


class HistorySummary(TypedDict):
    """All runs, in the order in which they were recorded, and what changed last in each job."""

    runs: list[RunLine]
    changes: list[RunChange]
    damaged: list[str]
    """Folders of runs that cannot be read."""
