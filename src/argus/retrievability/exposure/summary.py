"""The exposure's part of summary.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.corpora.remarks import OfStore
from argus.data.types import StateCounts
from argus.jobs.workspace import TextWindow
from argus.measures.slices import Sliced, slice_lines
from argus.retrievability.exposure.probes import Concentration, Success
from argus.retrievers.protocol import kept_note

FEW_TITLES = 0.5
"""Share of documents with a title, below which it is said which probes that costs."""


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
    titled: int
    """Documents that could be retrieved and have a title; the others have no title probe."""


class ParentFigures(ExposureFindings):
    """The same of the documents that chunks are of."""

    field: str
    """Where the document of a chunk stands."""
    chunks: int
    """That could be retrieved."""
    sentences_in_siblings: int
    """Sentences that another chunk of the document holds, too: taken out there as well."""


class SomeAnswersFacts(TypedDict, total=False):
    """What is known of some answers: of lists of chunks that were folded to documents, a doubt."""

    whole_documents: int
    """Results that are no chunk, but a document that chunks are of."""
    undecided: int
    """Probes whose list ends before it holds k documents, or their own."""
    warning: str
    """What is doubtful about all of the answers."""


class RetrieverFacts(SomeAnswersFacts):
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


class MoreFigures(Sliced, total=False):
    """What is told where it was asked for. parents: then all other figures are of chunks."""

    parents: ParentFigures


class ExposureSummary(ExposureFindings, SearchedFacts, MoreFigures, OfStore):
    """The figures of an exposure run."""


def headline(summary: ExposureSummary) -> Iterator[str]:
    """Yield how often documents come back, and how many never do; chunks and their documents."""
    parents = summary.get("parents")
    left_in = "retriever" in summary
    yield from _found(summary, "chunks " if parents else "", left_in)
    never = f"{summary['never_retrieved']:,} of {summary['documents']['total']:,}"
    gini = f"Gini {summary['concentration']['gini']:.2f}"
    if parents is None:
        yield f"never retrieved: {never} documents; {gini}"
    else:
        yield from _found(parents, "documents ", left_in)
        of_parents = f"{parents['never_retrieved']:,} of {parents['documents']['total']:,}"
        yield f"never retrieved: {never} chunks; {of_parents} documents, by any chunk; {gini}"
    yield from untitled(summary, "chunks" if parents else "documents")
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    if facts := summary.get("retriever"):
        yield from _of_retriever(facts, summary)


def _found(summary: ExposureFindings, unit: str, left_in: bool) -> Iterator[str]:
    """Yield how often each kind of probe brings its document back."""
    kinds = (
        (summary["title"], "their title"),
        (summary["sentence"], "a sentence of their own" + (", left in" if left_in else "")),
    )
    for figures, by in kinds:
        if figures["probes"]:
            yield (
                f"{unit}found by {by}, top {summary['k']}: {figures['success_at_k']:.1%} "
                f"(first: {figures['success_at_1']:.1%}) of {figures['probes']:,} probes"
            )


def untitled(summary: ExposureFindings, unit: str) -> Iterator[str]:
    """Yield which probes it costs that few documents have a title, or none."""
    titled = summary["titled"]
    counts = summary["documents"]
    searched = counts["total"] - counts["reasons"].get("no text", 0)
    if titled == 0:
        yield (
            f"no title probes: none of {searched:,} {unit} has a title, so that only sentences "
            "ask; name the field of titles with --title-field if there is one"
        )
    elif titled < FEW_TITLES * searched:
        has = f"{titled:,} of {searched:,} {unit} have a title"
        yield f"few title probes: {has}; sentences alone ask for the others"


def _of_retriever(facts: RetrieverFacts, summary: ExposureSummary) -> Iterator[str]:
    """Yield what a reader must know of a retriever's answers."""
    if "warning" in facts:
        yield f"WARNING: {facts['warning']}"
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
    if whole := facts.get("whole_documents"):
        yield (
            f"WARNING: {whole:,} results are documents, not chunks: they count for documents alone"
        )
    if undecided := facts.get("undecided"):
        yield (
            f"{undecided:,} probes are missed by documents in lists that end before the "
            f"{summary['k']}th document: the retriever gives no longer ones"
        )
    if facts["kept"]:
        yield kept_note(facts["kept"], summary["queries"])
