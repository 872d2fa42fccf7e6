"""What the jobs of controlling authority tell: the audit, the lint, and the answer of a search."""

from __future__ import annotations

from typing import Literal, NotRequired, Required

from typing_extensions import TypedDict

from argus.authority.coverage import UnruledType
from argus.jobs.text_window import TextWindow
from argus.retrievers.protocol import RetrieverNote


class UndecidedPair(TypedDict):
    """Two records of one scope whose times are equal or overlap: neither supersedes the other.

    superseded: id of the record that may be superseded.
    time: when it took effect; None where that is not known.
    superseding: id of the record that may supersede it.
    superseding_time: when that took effect; None where that is not known.
    """

    superseded: str
    time: str | None
    superseding: str
    superseding_time: str | None


class RuleCounts(TypedDict):
    """One rule and what it makes of the records, as `argus.authority.coverage.RuleCoverage`.

    rule: rule, in words.
    superseding: records that can supersede under it.
    superseded: records that can be superseded under it.
    retired: records that are superseded under it, directly.
    edges: direct supersessions that it makes.
    undecided: records that it can neither put before nor after one of their scope.
    undecided_pairs: the first of them; the table of a lint holds more.
    absent: types that it names and no record has.
    no_scope: records of its types without one of its scope keys.
    no_scope_examples: ids of the first of them.
    no_time: records of its types without the time that it orders by.
    no_time_examples: ids of the first of them.
    """

    rule: str
    superseding: int
    superseded: int
    retired: int
    edges: int
    undecided: int
    undecided_pairs: list[UndecidedPair]
    absent: list[str]
    no_scope: int
    no_scope_examples: list[str]
    no_time: int
    no_time_examples: list[str]


class RelationSummary(TypedDict):
    """An authority relation: its records, its rules, and how much of what it was given counts.

    records: records of the relation.
    given_edges: supersessions that were given as edges.
    theta: confidence that rules and edges need, θ.
    below_theta: rules and edges that were left out for too little confidence.
    edges_against_time: given edges whose superseder took effect before what it supersedes.
    undated: records without any time, which an earlier time lets in; None: the time is now.
    decided_by_id: pairs of equal times that a rule orders by id (`ties: id`).
    decided_by_id_examples: ids of the first of these pairs.
    unruled_types: types that no rule names, of records that no edge names, the most frequent first.
    """

    records: int
    given_edges: int
    as_of: str | None
    known_by: str | None
    theta: float
    below_theta: int
    edges_against_time: int
    undated: int | None
    rules: list[RuleCounts]
    decided_by_id: int
    decided_by_id_examples: list[str]
    unruled_types: list[UnruledType]


Proxy = Literal["title", "text"]
"""What a superseded document asks with."""

PairCounts = TypedDict(
    "PairCounts",
    {
        "total": int,
        "superseded": int,
        "pairs": int,
        "measured": int,
        "failed": int,
        "not applicable": int,
    },
)
"""Documents, those that are superseded, and what became of their pairs with what controls them.

total: documents of the relation.
superseded: documents that are superseded.
pairs: pairs of a superseded document and one that controls it.
measured: pairs that at least one proxy could ask for.
"""


class ReachFigures(TypedDict, total=False):
    """How superseded documents reach what controls them; none where none could ask.

    reachable: share whose controlling document is in the top k, with its 95% Wilson interval.
    low, high: 95% Wilson interval of the reachable share.
    first: share whose controlling document comes first.
    mean_divergence: mean of the score of what comes first less that of the controlling document.
    median_outranking: median number of documents that score above the controlling one (N+).
    """

    reachable: float
    low: float
    high: float
    first: float
    mean_divergence: float
    median_outranking: float


class ProxyFigures(ReachFigures):
    """What one proxy comes to.

    documents: superseded documents that asked with it.
    """

    documents: int


class GroupFigures(TypedDict):
    """The proxies of the pairs of one rule, or of two types.

    name: rule, or types as "older → newer".
    proxies: figures by what was asked with: title or text.
    """

    name: str
    proxies: dict[Proxy, ProxyFigures]


class MeasuredPairs(TypedDict):
    """What the audit's table comes to.

    proxies: figures by what was asked with: title or text.
    by_rule: the same, by rule.
    by_types: the same, by the types of both documents.
    """

    k: int
    documents: PairCounts
    proxies: dict[Proxy, ProxyFigures]
    by_rule: list[GroupFigures]
    by_types: list[GroupFigures]
    relation: RelationSummary


class RetrieverFacts(TypedDict, total=False):
    """The retriever that was asked, and how many queries; neither where vectors are compared.

    queries: queries that the retriever was asked.
    """

    retriever: RetrieverNote
    queries: int


class SearchFacts(RetrieverFacts):
    """What answered.

    text_window: how much of the documents the encoder reads; None where that is not known.
    """

    text_window: Required[TextWindow | None]


class AuthorityAuditSummary(MeasuredPairs, SearchFacts):
    """The figures of an audit of controlling authority."""


RateName = Literal[
    "violations", "frontier_missing", "superseder_ignored", "stale_queries", "stale_hits",
    "removed_unreplaced", "false_retirements",
]  # fmt: skip
"""What a lint gives a rate of."""
RATES: dict[RateName, str] = {
    "violations": "queries that violate Theorem 4, or are served what is not in force yet",
    "frontier_missing": "queries that lack a controlling document",
    "superseder_ignored": "queries with a superseded document and none of its superseders",
    "stale_queries": "queries with a superseded document",
    "stale_hits": "of the top k superseded (mean over queries)",
    "removed_unreplaced": "queries that lost a superseded document and got nothing in its place",
    "false_retirements": "queries that lost an active document",
}
"""What each rate is of, on the page and on the command line."""
Verdict = Literal["pass", "fail", "not measured"]


class Rate(TypedDict):
    """A mean over queries with its 95% Wilson interval.

    share: the mean, from 0 to 1.
    queries: queries that it is of.
    """

    share: float
    low: float
    high: float
    queries: int


class Bounds(TypedDict):
    """What a run may violate, as `argus.LintBounds`.

    violations: most queries that may violate Theorem 4, as a share.
    stale_hits: most of the top k that may be superseded, as a share; None for any.
    false_retirements: most queries that may lose an active document, as a share.
    nothing_superseded: whether it passes where nothing is superseded.
    """

    violations: float
    stale_hits: float | None
    false_retirements: float
    nothing_superseded: bool


class AnchorCounts(TypedDict):
    """How the queries that have anchors and those of the run go together.

    without_anchor: queries of the run that have no anchor.
    not_in_the_run: queries with anchors that the run does not have.
    """

    without_anchor: NotRequired[int]
    not_in_the_run: NotRequired[int]


LintedStates = TypedDict(
    "LintedStates", {"total": int, "measured": int, "failed": int, "not applicable": int}
)
"""Queries by what became of them.

total: queries of the run.
"""


class LintedQueries(LintedStates, AnchorCounts):
    """Queries by what became of them; with anchors, how these fit."""


class RetrievedCounts(TypedDict):
    """Documents in the top k of all queries.

    retrieved: documents in the top k, of all queries together.
    superseded: of these, documents that are superseded.
    without_record: of these, documents without a record.
    not_in_force: of these, documents that are not in force yet.
    """

    retrieved: int
    superseded: int
    without_record: int
    not_in_force: int


class Violation(TypedDict):
    """One row per violation of one query, with the chain in words.

    kind: what is violated, such as "superseder ignored".
    document: id of the document that was served, or was lost.
    instead: id of what should be served; None where there is none.
    chain: supersessions that lead there, in words; empty without.
    """

    query_id: str
    kind: str
    document: str
    instead: str | None
    chain: str


class LintSummary(TypedDict):
    """The figures of a lint.

    rates: rate by what it is of; None where not measured, or the run before is not given.
    verdict: pass, fail, or not measured.
    violations: the first of them; the table holds all.
    violations_total: violations in all.
    retriever: what served the queries; not of a run.
    """

    k: int
    queries: LintedQueries
    documents: RetrievedCounts
    rates: dict[RateName, Rate | None]
    bounds: Bounds
    verdict: Verdict
    relation: RelationSummary
    violations: list[Violation]
    violations_total: int
    retriever: NotRequired[RetrieverNote]


class ChainLink(TypedDict):
    """One supersession, and when the superseder took effect and became known.

    superseded: id of the older document.
    superseder: id of the newer document.
    relation: kind of supersession, as the rule or edge calls it.
    confidence: how sure it is, from 0 to 1.
    time: when the superseder took effect; None where not known.
    published: when it became known; None where not known.
    """

    superseded: str
    superseder: str
    rule: str
    relation: str
    confidence: float
    time: str | None
    published: str | None


class SearchHit(TypedDict):
    """A document that is in force, and what led to it.

    id: id of the document.
    anchor: id of what was retrieved, and what this controls.
    anchor_rank: rank of the anchor, from 1.
    chain: supersessions from anchor to document, oldest first.
    type: type of its record; None where there is none.
    time: when it took effect; None where not known.
    text: text of the document.
    probability: that nothing supersedes it, with `alpha`; that it controls, with `scope`.
    """

    rank: int
    id: str
    score: float
    anchor: str
    anchor_rank: int
    chain: list[ChainLink]
    type: str | None
    time: str | None
    title: str
    text: str
    probability: NotRequired[float]


class ScopeChance(TypedDict):
    """An entity that a question may be about, and how likely that is (Def. 8).

    key: key of the scope.
    value: value of that key.
    probability: how likely it is, from 0 to 1.
    """

    key: str
    value: str
    probability: float


class ScopeFigures(TypedDict):
    """How ambiguous the scope of an anchor is (Def. 5).

    kappa: documents of the scope for each in its chains, κ.
    phi: the least of 1 and 1 / κ, φ.
    """

    kappa: float
    phi: float


class SearchAnswer(TypedDict):
    """What a question was answered with, what led to it, and what that replaced.

    results: documents in force, best first.
    scopes: ambiguity of the scope of every superseded anchor.
    passed_over: anchor to a better one of its scope, whose chain was served instead.
    retired: superseded anchor to what controls it.
    without_record: retrieved documents without a record, served as they are.
    query: question that was asked.
    """

    as_of: str | None
    known_by: str | None
    results: list[SearchHit]
    scopes: dict[str, ScopeFigures]
    passed_over: dict[str, str]
    retired: dict[str, list[str]]
    without_record: list[str]
    relation: RelationSummary
    query: str
    ranked_by: str


class VariantAnswer(SearchAnswer):
    """An answer from a safe frontier, or under a latent scope.

    alpha: α of the safe frontier (Def. 9); None where none is served.
    undecided: records whose sampled probability is too near to alpha to be sure.
    scope: how a latent scope is taken: expectation or map (Def. 8); None without.
    scope_posterior: the likeliest scopes, the first ten.
    """

    alpha: float | None
    undecided: list[str]
    scope: str | None
    scope_posterior: list[ScopeChance]
