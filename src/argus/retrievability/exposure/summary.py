"""The exposure's part of summary.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
from argus.data.types import StateCounts
from argus.jobs.workspace import TextWindow
from argus.measures.slices import Sliced, slice_lines
from argus.retrievability.exposure.probes import Concentration, Success
from argus.retrievers.protocol import kept_note

FEW_TITLES = 0.5
"""Share of documents with a title, below which it is said which probes that costs."""


class SuccessInterval(TypedDict, total=False):
    """95% Wilson interval of success@k. Absent where nothing was searched.

    low, high: 95% Wilson interval of success@k.
    """

    low: float
    high: float


class KindFigures(Success, SuccessInterval):
    """How often one kind of probe brought its document back."""


class Hub(TypedDict):
    """A document that surfaces everywhere.

    id: id of the document.
    lists: top-k lists of other documents' probes that hold it.
    share: these as a share of all lists.
    """

    id: str
    label: str
    lists: int
    share: float


class SampleInterval(TypedDict, total=False):
    """95% Wilson interval of the share that is missed. Absent where no document was asked for.

    missed_low, missed_high: 95% Wilson interval of `missed` among `asked`.
    """

    missed_low: float
    missed_high: float


class SampleFigures(SampleInterval):
    """The documents that were drawn to be asked for, in the whole corpus.

    drawn: documents that were drawn.
    of: documents that they were drawn from, those with text.
    asked: drawn documents that a probe of their own asked for.
    missed: of these, documents that none of their own probes brings into the top k.
    """

    drawn: int
    of: int
    asked: int
    missed: int


class ExposureFindings(TypedDict):
    """Figures of the documents from the probes.

    queries: probes that were asked.
    probes_failed: probes that could not be asked.
    title: probes that are the title of their document.
    sentence: probes that are a sentence of their document, held out of it.
    never_retrieved: documents that no probe brings into the top k.
    never_retrieved_by_others: documents that no other document's probe does.
    concentration: how unevenly documents come back.
    expected_by_chance: lists in which chance alone puts a document.
    hubs: documents that come back for most probes of others.
    titled: documents that could be retrieved and have a title. The others have no title probe.
    sample: the documents that were drawn, where not all are asked for. Then intervals are over
    documents, and `never_retrieved` counts drawn ones, by the lists that there are.
    """

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
    hubs: list[Hub]
    titled: int
    sample: NotRequired[SampleFigures]


class ParentFigures(ExposureFindings):
    """The same of the documents that chunks are of.

    field: field that names the document of a chunk.
    chunks: chunks that could be retrieved.
    sentences_in_siblings: sentences that another chunk of the document holds, too: taken out there
    as well.
    """

    field: str
    chunks: int
    sentences_in_siblings: int


class SomeAnswersFacts(TypedDict, total=False):
    """Doubts about some answers: of lists of chunks that were folded to documents, a doubt.

    whole_documents: results that are no chunk, but a document that chunks are of.
    undecided: probes whose list ends before it holds k documents, or their own.
    warning: doubt about all of the answers.
    """

    whole_documents: int
    undecided: int
    warning: str


class RetrieverFacts(SomeAnswersFacts):
    """The retriever that was asked, where it was not Argus's own search over vectors.

    name: name of the retriever, as it was given.
    held_out: whether a sentence was held out of its document. false: it was left in.
    longest_list: results in the longest list, at most k.
    strange: results that are no document of the corpus.
    kept: answers that are kept from an earlier run.
    reasons: why probes failed, the most frequent first.
    """

    name: str
    held_out: bool
    longest_list: int
    strange: int
    kept: int
    reasons: dict[str, int]


class SearchedFacts(TypedDict):
    """Facts about the searched documents.

    text_window: how much of the documents the encoder reads. None where not known.
    """

    text_window: TextWindow | None
    retriever: NotRequired[RetrieverFacts]


class MoreFigures(Sliced, total=False):
    """Figures that are told on request. parents: then all other figures are of chunks."""

    parents: ParentFigures


class ExposureSummary(ExposureFindings, SearchedFacts, MoreFigures, OfStore):
    """The figures of an exposure run."""


def headline(summary: ExposureSummary) -> Iterator[str]:
    """Yield how often documents come back, and how many never do, also of chunks."""
    parents = summary.get("parents")
    left_in = "retriever" in summary
    if "sample" in summary:
        yield from _of_sample(summary, parents, left_in)
    else:
        yield from _of_all(summary, parents, left_in)
    yield from untitled(summary, "chunks" if parents else "documents")
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    if facts := summary.get("retriever"):
        yield from _of_retriever(facts, summary)


def _of_all(
    summary: ExposureSummary, parents: ParentFigures | None, left_in: bool
) -> Iterator[str]:
    """Yield the probes of every document."""
    yield from _found(summary, "chunks " if parents else "", left_in)
    never = f"{summary['never_retrieved']:,} of {summary['documents']['total']:,}"
    gini = f"Gini {summary['concentration']['gini']:.2f}"
    if parents is None:
        yield f"never retrieved: {never} documents; {gini}"
    else:
        yield from _found(parents, "documents ", left_in)
        of_parents = f"{parents['never_retrieved']:,} of {parents['documents']['total']:,}"
        yield f"never retrieved: {never} chunks; {of_parents} documents, by any chunk; {gini}"


def _of_sample(
    summary: ExposureSummary, parents: ParentFigures | None, left_in: bool
) -> Iterator[str]:
    """Yield the estimates for all documents: no Gini, since few lists are uneven by chance."""
    own = parents or summary
    yield sample_line(own.get("sample"))
    yield from _found(summary, "chunks " if parents else "", left_in)
    yield from _missed(summary, "chunks" if parents else "documents")
    if parents is not None:
        yield from _found(parents, "documents ", left_in)
        yield from _missed(parents, "documents, by any chunk")


def sample_line(sample: SampleFigures | None) -> str:
    """Return the population of a sample. Empty where all documents were asked for."""
    if sample is None:
        return ""
    return (
        f"a sample: {sample['drawn']:,} of {sample['of']:,} documents, drawn at random, were asked "
        "for in the whole corpus; 95% intervals say what holds for all"
    )


def _missed(summary: ExposureFindings, unit: str) -> Iterator[str]:
    """Yield how many of the drawn documents their own probes all miss."""
    sample = summary.get("sample")
    if sample is not None and "missed_low" in sample:
        yield (
            f"missed by every probe of their own: {sample['missed']:,} of {sample['asked']:,} "
            f"{unit}: {sample['missed'] / sample['asked']:.1%} "
            f"({sample['missed_low']:.1%} to {sample['missed_high']:.1%})"
        )


def _found(summary: ExposureFindings, unit: str, left_in: bool) -> Iterator[str]:
    """Yield how often each kind of probe brings its document back."""
    kinds = (
        (summary["title"], "their title"),
        (summary["sentence"], "a sentence of their own" + (", left in" if left_in else "")),
    )
    for figures, by in kinds:
        if figures["probes"]:
            interval = ""
            if "sample" in summary:
                interval = f"{figures['low']:.1%} to {figures['high']:.1%}; "
            yield (
                f"{unit}found by {by}, top {summary['k']}: {figures['success_at_k']:.1%} "
                f"({interval}first: {figures['success_at_1']:.1%}) "
                f"of {figures['probes']:,} probes"
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
    """Yield doubts about a retriever's answers."""
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
