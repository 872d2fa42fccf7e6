"""What the jobs of an index, and its searches, write as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired, final

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
from argus.indexes.header import VectorsFileRecord


class DocumentCounts(TypedDict):
    """What became of the documents of a corpus.

    total: documents of the corpus.
    indexed: documents that have a vector in the index.
    no_text: documents without a text.
    failed: documents that could not be embedded.
    """

    total: int
    indexed: int
    no_text: int
    failed: int


class FailureReason(TypedDict):
    """Why documents could not be embedded.

    reason: why they could not be embedded.
    documents: documents of which that is so.
    """

    reason: str
    documents: int


class OwnVectorsNotes(VectorsFileRecord):
    """The file, or store, of vectors that were taken instead of embedding.

    file: file, or address of the store.
    normalised: whether rows were scaled to length 1.
    foreign: whether the encoder makes other vectors.
    template: how title and text were joined, at best where they are foreign; missing in older ones.
    compared: texts that were embedded to tell.
    """

    file: str
    normalised: bool
    foreign: bool
    template: NotRequired[str]
    compared: NotRequired[int]


class RemedyInIndex(TypedDict):
    """One remedy's views; see `RemedyViews`.

    id: id of the remedy.
    views: views of the remedy.
    documents: documents that have one.
    bytes: bytes of their texts and vectors.
    added: number of its last commit; later remedies have larger ones.
    """

    id: str
    views: int
    documents: int
    bytes: int
    added: int


class IndexState(TypedDict):
    """What an index holds after a job.

    encoder: fingerprint of the encoder that made the vectors.
    views: views in the index, documents' own among them.
    remedies: remedies in the index, with their views.
    ann: whether it has an approximate index.
    """

    index: str
    encoder: str
    dim: int
    views: int
    remedies: list[RemedyInIndex]
    ann: bool


class BuildCounts(TypedDict):
    """What a job took in.

    failures: why documents could not be embedded, the 20 most frequent.
    """

    documents: DocumentCounts
    failures: list[FailureReason]
    vectors: NotRequired[OwnVectorsNotes]


@final
class BuildSummary(BuildCounts, IndexState, OfStore):
    """Summary of `build_index` and `add_documents`."""


class DeletedDocuments(TypedDict):
    """How many documents were deleted.

    deleted: documents that were deleted.
    """

    deleted: int


class DeleteCounts(TypedDict):
    """What a job took out.

    views_deleted: views that went with them, their own among them.
    """

    documents: DeletedDocuments
    views_deleted: int


@final
class DeleteSummary(DeleteCounts, IndexState):
    """Summary of `delete_documents`."""


class CompactSummary(TypedDict):
    """What `compact_index` freed.

    views: views in the index.
    bytes_before, bytes: bytes of the folder before, and now.
    """

    index: str
    views: int
    bytes_before: int
    bytes: int


class MatchedScenario(TypedDict):
    """The scenario that found a document, and its view.

    view: id of its view.
    main_topic: topic of the document.
    information_need: information need that it serves.
    explanation: how the document serves it.
    """

    view: str
    main_topic: str
    information_need: str
    explanation: str


class Hit(TypedDict):
    """One result: the document's own text, and what found it.

    id: id of the document.
    view: id of the view that was found; None where a fusion ranked.
    kind: kind of that view; None where it is not known.
    text: text of the document.
    """

    rank: int
    id: str
    score: float
    view: str | None
    kind: str | None
    text: str
    title: str
    scenario: MatchedScenario | None


class SearchAnswer(TypedDict):
    """The best documents for one question.

    query: question that was asked.
    results: documents, best first.
    """

    query: str
    index: str
    ranked_by: str
    warning: str | None
    results: list[Hit]


def headline(summary: BuildSummary | DeleteSummary) -> Iterator[str]:
    """Yield what was taken in or out, and where the index is."""
    if "views_deleted" in summary:
        n, views = summary["documents"]["deleted"], summary["views_deleted"]
        yield f"deleted {n:,} documents ({views:,} views)"
    else:
        yield from _indexed(summary)
    approximate = ", approximate index" if summary["ann"] else ""
    yield f"index: {summary['index']} ({summary['views']:,} views{approximate})"


def _indexed(summary: BuildCounts) -> Iterator[str]:
    documents = summary["documents"]
    left_out = f"{documents['no_text']:,} without text, {documents['failed']:,} failed"
    yield f"indexed {documents['indexed']:,} of {documents['total']:,} ({left_out})"
    for failure in summary["failures"]:
        yield f"failed: {failure['documents']:,} x {failure['reason']}"
    own = summary.get("vectors")
    if own and own["normalised"]:
        yield f"note: the rows of {own['file']} were scaled to length 1"
    if own and not own["foreign"] and "template" in own and "stored_vectors" not in summary:
        yield (
            f"vectors: those of {own['file']}, of title and text joined as '{own['template']}': "
            f"the encoder agrees at a median cosine of {own['agreement']:.4f} (least "
            f"{own['least']:.4f}, {own.get('compared', 0)} texts)"
        )
    if own and own["foreign"]:
        yield (
            f"warning: your vectors are not what {own['encoder']} makes of the same texts (cosine: "
            f"median {own['agreement']:.2f}, least {own['least']:.2f}, at best). Search asks with "
            "that encoder, so it has to be the one that they were made for. No vector of the "
            "encoder can be added: for remedies, build with the encoder that made them, without "
            "--vectors"
        )
