"""What the checks of an explanation measured, key by key: plain JSON values.

Every cause has a record of its own. A check that was not made has none of its keys, and one that
ended early those that it came to. Ranks count from 1; None is beyond what was looked at.
"""

from __future__ import annotations

from typing import TypeAlias, final

from typing_extensions import TypedDict


@final
class PresenceEvidence(TypedDict, total=False):
    """Whether the index holds the document. views: kind to how many the document has."""

    views: dict[str, int]
    documents_in_this_state: int
    first_state_that_holds_it: str | None
    document_of_this_view: str
    near_ids: list[str]
    corpus: str
    """The file that was read, or why none was."""


@final
class ApproximateEvidence(TypedDict, total=False):
    """What the approximate search loses."""

    exact_rank: int
    approximate_rank: int | None
    k: int


@final
class VectorEvidence(TypedDict, total=False):
    """Whether the stored vector is that of the text.

    cosine: of the stored vector and the one that the text has now. sampled, sampled_also_off: other
    documents looked at, and those that are off as well.
    """

    cosine: float
    vectors_imported_from: str
    scaled_to_length_1: bool
    sampled: int
    sampled_also_off: int
    sampled_median_cosine: float
    score_with_its_own_vector: float
    rank_with_its_own_vector: int
    rank_with_nearest_embedded_again: int
    embedded_again: int
    query_prompt: str
    rank_without_query_prompt: int
    its_vector_is_stored_under: str
    its_vector_cosine: float
    closest_variant: list[str]
    closest_cosine: float
    title_from: str


@final
class WindowEvidence(TypedDict, total=False):
    """How much of the document the encoder read. tokens, window, tokens_unread: in tokens."""

    tokens: int
    window: int
    characters_read: int
    query_terms_only_in_unread_part: list[str]
    best_unread_score: float
    rank_of_unread_part: int
    tokens_unread: int


@final
class WordEvidence(TypedDict, total=False):
    """Terms that query and document share, and ranks by words.

    documents_with_term: term to how many have it. coverage: share of the query's weight (idf) that
    the shared terms have. dense_rank: of an index; run_rank: of a run.
    """

    shared_terms: list[str]
    missing_terms: list[str]
    terms_nowhere_in_the_corpus: list[str]
    documents_with_term: dict[str, int]
    coverage: float
    bm25_rank: int | None
    dense_rank: int | None
    run_rank: int | None
    fused_rank: int | None
    fusion: str
    missing_terms_above: dict[str, int]
    """Term to how many of the first documents of the run hold it."""


class RivalRow(TypedDict):
    """A document above the one that is explained. n_k: sampled top-k lists that hold it.

    deviations: how far that is from the mean, in standard deviations.
    """

    rank: int
    id: str
    score: float
    n_k: int
    deviations: float
    hub: bool


@final
class HubEvidence(TypedDict, total=False):
    """Hubs among the documents above. sample: documents whose vectors served as queries."""

    outranked_by: list[RivalRow]
    hubs: list[RivalRow]
    documents_above: int
    hubs_above: int
    rank_without_hubs: int
    own_n_k: int
    own_deviations: float
    hub_above_n_k: float
    mean_n_k: float
    skewness: float
    k: int
    sample: int


class Superseder(TypedDict):
    """A document that supersedes. direct: not through others."""

    id: str
    direct: bool
    rank: int | None


@final
class SupersededEvidence(TypedDict, total=False):
    """The documents that supersede this one."""

    superseded_by: list[Superseder]
    own_rank: int | None


class PredictedEntity(TypedDict):
    """An entity of the document with a predicted RPS."""

    entity: str
    rps: float


class UnpredictedEntity(TypedDict):
    """An entity of the document without one, and why."""

    entity: str
    state: str
    reason: str


@final
class RpsEvidence(TypedDict, total=False):
    """Predicted RPS of the document's entities. entities, measured, below_tau: how many."""

    tau: float
    source: str
    entities: int
    measured: int
    below_tau: int
    predicted: list[PredictedEntity]
    not_predicted: list[UnpredictedEntity]
    low_and_not_named_by_the_query: list[str]


@final
class CorpusEvidence(TypedDict, total=False):
    """Whether the corpus of a run holds the document."""

    corpus: str
    documents: int
    near_ids: list[str]


class Identifier(TypedDict):
    """An identifier of a passage. count: in the index; view: None where it is not known."""

    text: str
    count: int
    weight: float
    view: str | None


class HitIdentifiers(TypedDict):
    """The identifiers of one passage, heaviest first, and their whole weight."""

    weight: float
    identifiers: list[Identifier]


class RivalIdentifiers(TypedDict):
    """The identifiers of the passage whose place the document would take."""

    rank: int
    id: str
    weight: float
    identifiers: list[Identifier]


class SharedIdentifier(Identifier):
    """An identifier of the first passages. passages: that it found; weight: over these.

    in_the_document: None where that cannot be known.
    """

    passages: int
    in_the_document: bool | None


@final
class IdentifierEvidence(TypedDict, total=False):
    """What an n-gram search found passages by. passages: how many it found."""

    file: str
    passages: int
    rank: int | None
    weight: float
    identifiers: list[Identifier]
    rival: RivalIdentifiers | None
    lacking: list[str]
    others: list[SharedIdentifier]
    held: list[str]


class MatchedTerm(TypedDict):
    """A term or token of the query, and what of a document it was matched by.

    score: what that adds to the document's. document: the term itself where the encoder is sparse,
    None where the document lacks it; the nearest token where it is late. Weights: of a sparse one.
    """

    query: str
    document: str | None
    query_weight: float | None
    document_weight: float | None
    score: float


class RivalMatches(TypedDict):
    """The document whose place this one would take, and what it was matched by."""

    rank: int
    id: str
    score: float
    matches: list[MatchedTerm]


@final
class MatchEvidence(TypedDict, total=False):
    """What a sparse or late encoder matched, strongest first. query_terms: how many it asks by.

    stronger_there: query terms by which the rival is ahead, the farthest first.
    """

    score: float
    query_terms: int
    matches: list[MatchedTerm]
    rival: RivalMatches | None
    stronger_there: list[str]


@final
class BlendParts(TypedDict, total=False):
    """What each part of a blend gives a document.

    score: own + sentences_add - hubness_takes. own: of its vector, scenarios included. hubness: r.
    vectors_scaled, bm25_adds: their shares of the fused score, both scaled to 0..1.
    """

    id: str
    score: float
    own: float
    sentences_add: float
    hubness_takes: float
    hubness: float
    vectors_scaled: float
    bm25_adds: float
    sentence: str
    """Id of its best one."""
    sentence_score: float
    sentence_text: str


class CorrectionEvidence(TypedDict):
    """What the correction of the query changes. cosine: of the query as it was and corrected.

    score_without: of the document, by vectors.
    """

    alpha: float
    cosine: float
    score_without: float


@final
class BlendEvidence(TypedDict, total=False):
    """What a blend makes of a document, and of the one whose place it would take.

    rank_without: part that is switched off to the rank it then has; None beyond what is fused.
    """

    remedies: list[str]
    weight: float
    hubs: float
    bm25: float
    k: int
    rank: int | None
    rank_without: dict[str, int | None]
    document: BlendParts
    rival: BlendParts | None
    median_hubness: float
    correction: CorrectionEvidence


Evidence: TypeAlias = (
    PresenceEvidence
    | ApproximateEvidence
    | VectorEvidence
    | WindowEvidence
    | WordEvidence
    | HubEvidence
    | SupersededEvidence
    | RpsEvidence
    | CorpusEvidence
    | IdentifierEvidence
    | MatchEvidence
    | BlendEvidence
)
