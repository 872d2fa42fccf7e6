"""What the jobs of an index, and its searches, write as JSON."""

from __future__ import annotations

from typing import NotRequired, final

from typing_extensions import TypedDict

from argus.indexes.header import VectorsFileRecord


class DocumentCounts(TypedDict):
    """What became of the documents of a corpus."""

    total: int
    indexed: int
    no_text: int
    failed: int


class FailureReason(TypedDict):
    """Why documents could not be embedded."""

    reason: str
    documents: int


class OwnVectorsNotes(VectorsFileRecord):
    """The file of vectors that was taken instead of embedding."""

    file: str
    normalised: bool
    """Whether rows were scaled to length 1."""
    foreign: bool
    """Whether the encoder makes other vectors."""


class RemedyInIndex(TypedDict):
    """One remedy's views; see `RemedyViews`."""

    id: str
    views: int
    documents: int
    bytes: int
    added: int


class IndexState(TypedDict):
    """What an index holds after a job."""

    index: str
    encoder: str
    """Fingerprint of the encoder that made the vectors."""
    dim: int
    views: int
    remedies: list[RemedyInIndex]
    ann: bool


class BuildCounts(TypedDict):
    """What a job took in."""

    documents: DocumentCounts
    failures: list[FailureReason]
    """The 20 most frequent."""
    vectors: NotRequired[OwnVectorsNotes]


@final
class BuildSummary(BuildCounts, IndexState):
    """Summary of `build_index` and `add_documents`."""


class DeletedDocuments(TypedDict):
    """How many documents were deleted."""

    deleted: int


class DeleteCounts(TypedDict):
    """What a job took out."""

    documents: DeletedDocuments
    views_deleted: int


@final
class DeleteSummary(DeleteCounts, IndexState):
    """Summary of `delete_documents`."""


class CompactSummary(TypedDict):
    """What `compact_index` freed."""

    index: str
    views: int
    bytes_before: int
    bytes: int


class MatchedScenario(TypedDict):
    """The scenario that found a document, and its view."""

    view: str
    main_topic: str
    information_need: str
    explanation: str


class Hit(TypedDict):
    """One result: the document's own text, and what found it."""

    rank: int
    id: str
    score: float
    view: str | None
    kind: str | None
    text: str
    title: str
    scenario: MatchedScenario | None


class SearchAnswer(TypedDict):
    """The best documents for one question."""

    query: str
    index: str
    ranked_by: str
    warning: str | None
    results: list[Hit]
