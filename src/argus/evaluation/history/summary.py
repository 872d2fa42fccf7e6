"""What `argus history` tells."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.measures.significance import DifferenceFigures


class ItemChange(TypedDict):
    """A document, entity or question, and a figure of it in both runs.

    id: id of the document, entity or question.
    before, after: its figure in this run.
    """

    id: str
    before: float
    after: float


class FigureChange(TypedDict):
    """One figure of two runs, over the items that both measured; `queries` in `test` counts them.

    figure: name of the figure.
    common: items that both runs measured.
    only_before, only_after: items that one run alone measured.
    failed_after: items that were measured before, and failed after; in no mean.
    test: paired test over the common items; None without any.
    worse: items that got worse, the most changed first.
    better: items that got better, the most changed first.
    verdict: better, worse, or empty where chance may do it.
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
    """Two runs of one job, by their numbers.

    job: job that both runs are of.
    unit: what an item is: document, entity or question.
    before, after: number of the run.
    settings: settings of the figures that differ.
    same_corpus: whether both runs read one corpus.
    same_encoder: whether both runs used one encoder.
    """

    job: str
    unit: str
    before: int
    after: int
    settings: list[str]
    same_corpus: bool
    same_encoder: bool
    figures: list[FigureChange]


class RunLine(TypedDict):
    """A run in the list of all.

    number: number of the run, from 1.
    job: job that ran.
    place: folder of the run.
    finished: when it ended, ISO 8601, UTC.
    means: figure to its mean.
    clock_ran_back: whether it says that it began before the run before it.
    """

    number: int
    job: str
    place: str
    finished: str
    argus: str
    means: dict[str, float]
    clock_ran_back: bool


class HistorySummary(TypedDict):
    """All runs, in the order in which they were recorded, and what changed last in each job.

    damaged: folders of runs that cannot be read.
    """

    runs: list[RunLine]
    changes: list[RunChange]
    damaged: list[str]
