"""The exposure's part of summary.json."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.data.types import StateCounts
from argus.jobs.workspace import TextWindow
from argus.retrievability.exposure.probes import Concentration, Success


class SuccessInterval(TypedDict, total=False):
    """95% Wilson interval of success@k; absent where nothing was searched."""

    low: float
    high: float


class KindFigures(Success, SuccessInterval):
    """How often one kind of probe brought its document back."""


class Hub(TypedDict):
    """A document that surfaces everywhere."""

    id: str
    label: str
    lists: int
    """Top-k lists of other documents' probes that hold it."""
    share: float
    """Of all lists."""


class ExposureFindings(TypedDict):
    """What the probes tell of the documents."""

    k: int
    documents: StateCounts
    queries: int
    probes_failed: int
    title: KindFigures
    sentence: KindFigures
    never_retrieved: int
    never_retrieved_by_others: int
    concentration: Concentration
    expected_by_chance: float
    """Lists in which chance alone puts a document."""
    hubs: list[Hub]


class ExposureSummary(ExposureFindings):
    """The figures of an exposure run."""

    text_window: TextWindow | None
    """Of the documents; None where the encoder's window is not known."""


def headline(summary: ExposureSummary) -> Iterator[str]:
    """Yield how often documents come back, and how many never do."""
    kinds = ((summary["title"], "their title"), (summary["sentence"], "a sentence of their own"))
    for figures, by in kinds:
        if figures["probes"]:
            yield (
                f"found by {by}, top {summary['k']}: {figures['success_at_k']:.1%} "
                f"(first: {figures['success_at_1']:.1%}) of {figures['probes']:,} probes"
            )
    yield (
        f"never retrieved: {summary['never_retrieved']:,} of {summary['documents']['total']:,} "
        f"documents; Gini {summary['concentration']['gini']:.2f}"
    )
