"""The exposure's part of summary.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.corpora.remarks import OfStore
from argus.data.types import StateCounts
from argus.jobs.workspace import TextWindow
from argus.retrievability.exposure.probes import Concentration, Success
from argus.retrievers.protocol import kept_note


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


class RetrieverFacts(TypedDict):
    """The retriever that was asked, where it was not Argus's own search over vectors."""

    name: str
    held_out: bool
    """False: a sentence asked for its document with the document as it is in the index."""
    longest_list: int
    """Results in the longest list, at most k."""
    strange: int
    """Results that are no document of the corpus."""
    kept: int
    """Answers that are kept from an earlier run."""
    reasons: dict[str, int]
    """Why probes failed, the most frequent first."""


class SearchedFacts(TypedDict):
    """What is known of what was searched."""

    text_window: TextWindow | None
    """Of the documents; None where the encoder's window is not known."""
    retriever: NotRequired[RetrieverFacts]


class ExposureSummary(ExposureFindings, SearchedFacts, OfStore):
    """The figures of an exposure run."""


def headline(summary: ExposureSummary) -> Iterator[str]:
    """Yield how often documents come back, and how many never do."""
    left_in = ", left in" if "retriever" in summary else ""
    kinds = (
        (summary["title"], "their title"),
        (summary["sentence"], f"a sentence of their own{left_in}"),
    )
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
    if facts := summary.get("retriever"):
        yield from _of_retriever(facts, summary)


def _of_retriever(facts: RetrieverFacts, summary: ExposureSummary) -> Iterator[str]:
    """Yield what a reader must know of a retriever's answers."""
    if summary["probes_failed"]:
        reason, n = next(iter(facts["reasons"].items()))
        failed = f"{summary['probes_failed']:,} probes failed and are in no figure"
        yield f"{failed}; {n:,} of them: {reason}"
    if facts["longest_list"] < summary["k"]:
        yield (
            f"WARNING: no list of {facts['name']} is longer than {facts['longest_list']}, though "
            f"k is {summary['k']}: ask it for more, or measure at --k {facts['longest_list']}"
        )
    if facts["strange"]:
        yield (
            f"WARNING: {facts['strange']:,} results are no document of the corpus: name where "
            "their id stands with --result-id, or give the corpus that was indexed"
        )
    if facts["kept"]:
        yield kept_note(facts["kept"], summary["queries"])
