"""What the jobs of controlling authority tell: the audit, the lint, and the answer of a search."""

from __future__ import annotations

from typing import Literal, NotRequired, Required

from typing_extensions import TypedDict

from argus.authority.coverage import UnruledType
from argus.jobs.text_window import TextWindow
from argus.retrievers.protocol import RetrieverNote


class UndecidedPair(TypedDict):
    """Two records of one scope whose times are equal or overlap: neither supersedes the other."""

    superseded: str
    time: str | None
    superseding: str
    superseding_time: str | None


class RuleCounts(TypedDict):
    """One rule and what it makes of the records, as `argus.authority.coverage.RuleCoverage`."""

    rule: str
    superseding: int
    superseded: int
    retired: int
    edges: int
    undecided: int
    undecided_pairs: list[UndecidedPair]
    """The first of them; the table of a lint holds more."""
    absent: list[str]
    no_scope: int
    no_scope_examples: list[str]
    no_time: int
    no_time_examples: list[str]


class RelationSummary(TypedDict):
    """An authority relation: its records, its rules, and how much of what it was given counts."""

    records: int
    given_edges: int
    as_of: str | None
    known_by: str | None
    theta: float
    below_theta: int
    """Rules and edges that were left out for too little confidence."""
    edges_against_time: int
    """Given edges whose superseder took effect before what it supersedes."""
    undated: int | None
    """Records without any time, which an earlier time lets in; None of the relation as it is."""
    rules: list[RuleCounts]
    decided_by_id: int
    """Pairs of equal times that a rule orders by id (`ties: id`)."""
    decided_by_id_examples: list[str]
    unruled_types: list[UnruledType]
    """Types that no rule names, of records that no edge names, the most frequent first."""


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
"""Documents, those that are superseded, and what became of their pairs with what controls them."""


class ReachFigures(TypedDict, total=False):
    """How superseded documents reach what controls them; none where none could ask."""

    reachable: float
    """Share whose controlling document is in the top k, with its 95% Wilson interval."""
    low: float
    high: float
    first: float
    """Share whose controlling document comes first."""
    mean_divergence: float
    median_outranking: float


class ProxyFigures(ReachFigures):
    """What one proxy comes to."""

    documents: int
    """Superseded documents that asked with it."""


class GroupFigures(TypedDict):
    """The proxies of the pairs of one rule, or of two types."""

    name: str
    proxies: dict[Proxy, ProxyFigures]


class MeasuredPairs(TypedDict):
    """What the audit's table comes to."""

    k: int
    documents: PairCounts
    proxies: dict[Proxy, ProxyFigures]
    by_rule: list[GroupFigures]
    by_types: list[GroupFigures]
    relation: RelationSummary


class RetrieverFacts(TypedDict, total=False):
    """The retriever that was asked, and how many queries; neither where vectors are compared."""

    retriever: RetrieverNote
    queries: int


class SearchFacts(RetrieverFacts):
    """What answered."""

    text_window: Required[TextWindow | None]
    """Of the documents; None where the window is not known."""


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
    """A mean over queries with its 95% Wilson interval."""

    share: float
    low: float
    high: float
    queries: int


class Bounds(TypedDict):
    """What a run may violate, as `argus.LintBounds`."""

    violations: float
    stale_hits: float | None
    false_retirements: float
    nothing_superseded: bool


class AnchorCounts(TypedDict):
    """How the queries that have anchors and those of the run go together."""

    without_anchor: NotRequired[int]
    not_in_the_run: NotRequired[int]


LintedStates = TypedDict(
    "LintedStates", {"total": int, "measured": int, "failed": int, "not applicable": int}
)
"""Queries by what became of them."""


class LintedQueries(LintedStates, AnchorCounts):
    """Queries by what became of them; with anchors, how these fit."""


class RetrievedCounts(TypedDict):
    """Documents in the top k of all queries."""

    retrieved: int
    superseded: int
    without_record: int
    not_in_force: int


class Violation(TypedDict):
    """One violation of one query, with the chain in words."""

    query_id: str
    kind: str
    document: str
    instead: str | None
    chain: str


class LintSummary(TypedDict):
    """The figures of a lint."""

    k: int
    queries: LintedQueries
    documents: RetrievedCounts
    rates: dict[RateName, Rate | None]
    """None where nothing was measured, or the run before is not given."""
    bounds: Bounds
    verdict: Verdict
    relation: RelationSummary
    violations: list[Violation]
    """The first of them; the table holds all."""
    violations_total: int
    retriever: NotRequired[RetrieverNote]
    """What served the queries; not of a run."""


class ChainLink(TypedDict):
    """One supersession, and when the superseder took effect and became known."""

    superseded: str
    superseder: str
    rule: str
    relation: str
    confidence: float
    time: str | None
    published: str | None


class SearchHit(TypedDict):
    """A document that is in force, and what led to it."""

    rank: int
    id: str
    score: float
    anchor: str
    anchor_rank: int
    chain: list[ChainLink]
    type: str | None
    """None where there is no record."""
    time: str | None
    title: str
    text: str
    probability: NotRequired[float]
    """That nothing supersedes it, with `alpha`; that it controls, with `scope`."""


class ScopeChance(TypedDict):
    """An entity that a question may be about, and how likely that is (Def. 8)."""

    key: str
    value: str
    probability: float


class ScopeFigures(TypedDict):
    """How ambiguous the scope of an anchor is (Def. 5)."""

    kappa: float
    phi: float


class SearchAnswer(TypedDict):
    """What a question was answered with, what led to it, and what that replaced."""

    as_of: str | None
    known_by: str | None
    results: list[SearchHit]
    scopes: dict[str, ScopeFigures]
    """Of every superseded anchor."""
    passed_over: dict[str, str]
    """Anchor -> a better one of its scope, whose chain was served instead."""
    retired: dict[str, list[str]]
    """Superseded anchor -> what controls it."""
    without_record: list[str]
    relation: RelationSummary
    query: str
    ranked_by: str


class VariantAnswer(SearchAnswer):
    """An answer from a safe frontier, or under a latent scope."""

    alpha: float | None
    """Of the safe frontier (Def. 9), where one is served."""
    undecided: list[str]
    """Records whose sampled probability is too near to alpha to be sure."""
    scope: str | None
    """expectation or map, where the scope is latent (Def. 8)."""
    scope_posterior: list[ScopeChance]
    """The likeliest scopes, the first ten."""
