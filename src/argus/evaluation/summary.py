"""An evaluation's part of summary.json, key by key. No value in it is NaN."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.data.types import StateCounts
from argus.measures.association import AssociationFigures
from argus.measures.significance import DifferenceFigures


class FailedQuery(TypedDict):
    """A query that an encoder rejected."""

    query_id: str
    reason: str


class UnaskedQueries(TypedDict):
    """Judged queries that are not among the queries; ids: the first 50."""

    queries: int
    ids: list[str]


class MissingDocuments(TypedDict):
    """Relevant documents that an index does not hold.

    pairs: of query and such a document. queries: that have one; queries_without_any: whose relevant
    documents are all such ones. ids: the first 50.
    """

    documents: int
    pairs: int
    queries: int
    queries_without_any: int
    ids: list[str]


class SystemFigures(TypedDict):
    """One system. documents: in its index, None where that is not known.

    longest_list: results in the longest list of a run that was brought along, None for an index.
    beyond_its_lists: measures that read further down than that. measures: name to mean.
    """

    name: str
    fingerprint: str
    documents: int | None
    queries_without_results: int
    longest_list: int | None
    beyond_its_lists: list[str]
    warning: str | None
    missing_judged_documents: MissingDocuments | None
    measures: dict[str, float]


class SharedDocuments(TypedDict):
    """Documents of two indexes."""

    both: int
    only_before: int
    only_after: int


class HarmedQuery(TypedDict):
    """A query whose headline measure fell. rank: of its first relevant document, None without."""

    query_id: str
    text: str
    before: float
    after: float
    difference: float
    rank_before: int | None
    rank_after: int | None


class QueryGroup(TypedDict):
    """Queries that share no word with a relevant title ("implicit"), or one ("sharing").

    measures: of each system, name to mean.
    """

    name: str
    queries: int
    measures: list[dict[str, float]]
    comparison: dict[str, DifferenceFigures] | None


class Implicitness(TypedDict):
    """How implicit the queries are. measured: queries that have a relevant title.

    mean_overlap: share of a query's content words in its best relevant text, over
    `overlap_measured` queries. bm25: measures of BM25 over the same texts, None without texts.
    """

    measured: int
    not_applicable: int
    implicit: int
    share: float | None
    mean_overlap: float | None
    overlap_measured: int
    bm25: dict[str, float] | None
    groups: list[QueryGroup]


class EvaluationSummary(TypedDict):
    """One system, or two: before and after. depth: documents per list.

    documents, comparison (by measure) and harmed (the worst 200 by the headline measure) are None
    of one system. association: ARGUS Table 4 for each system at each k; None without a diagnosis.
    association_left_out: k to which the lists do not reach.
    """

    headline: str
    depth: int
    queries: StateCounts
    failed: list[FailedQuery]
    judged_but_not_asked: UnaskedQueries
    systems: list[SystemFigures]
    documents: SharedDocuments | None
    comparison: dict[str, DifferenceFigures] | None
    harmed: list[HarmedQuery] | None
    implicitness: Implicitness
    association: list[list[AssociationFigures]] | None
    association_left_out: list[int]
