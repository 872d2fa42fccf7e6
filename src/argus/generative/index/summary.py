"""Records that `generative build` and `generative stats` leave in summary.json."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class BuildSettings(TypedDict):
    """How an index was built; tokenizer as it was named. limit: documents read, at most."""

    tokenizer: str | None
    titles: bool | None
    limit: int | None


class BuiltPassages(TypedDict):
    """Passages of an index, and documents left out for want of tokens; empty_ids: the first."""

    total: int
    empty_ids: list[str]
    title_only: int
    untitled: int
    with_queries: int
    empty: int


class BuiltTokens(TypedDict):
    """Tokens of an index: all, types that occur, ids of the tokenizer, and unknown ones."""

    total: int
    types: int
    vocabulary: int
    unknown: int


class Addition(TypedDict):
    """Passages that were added to an index, and documents that it held."""

    passages: int
    unchanged: int


class CorpusQueries(TypedDict):
    """Pseudo-queries of a corpus; elsewhere: documents with some that are not in it."""

    documents: int
    queries: int
    elsewhere: int


class NgramBuildSummary(TypedDict):
    """What a build comes to; bytes are of the arrays on disk."""

    index: str
    passages: BuiltPassages
    tokens: BuiltTokens
    titles: bool
    segments: int
    bytes: int
    bytes_per_token: float
    seconds: float
    pseudo_queries: CorpusQueries | None
    markers_added: int
    added: NotRequired[Addition]
    """Where it was added to."""


class Spread(TypedDict):
    """Mean and quantiles of whole numbers; the quantiles are numbers that occur."""

    mean: float
    min: int
    p5: int
    median: int
    p95: int
    max: int


class Histogram(TypedDict):
    """Bins of equal, whole width: edges (n + 1) and counts (n)."""

    edges: list[int]
    counts: list[int]


class TokenCounts(TypedDict):
    """Tokens of an index: all, types that occur, ids of the tokenizer."""

    total: int
    types: int
    vocabulary: int


class PassageLengths(TypedDict):
    """Passages by their number of tokens. text_tokens: of their texts alone."""

    total: int
    tokens: Spread | None
    text_tokens: Spread | None
    without_text: int
    histogram: Histogram


class RepeatedTitle(TypedDict):
    """A title that several passages bear."""

    title: str
    passages: int


class InnerTitle(TypedDict):
    """A title that stands within another."""

    title: str
    inside: str


class TitleCounts(TypedDict):
    """How well titles name passages. tokens: of a title."""

    distinct: int
    without: int
    tokens: Spread | None
    repeated: int
    passages_of_repeated: int
    most_repeated: list[RepeatedTitle]
    inside_others: int
    inside_examples: list[InnerTitle]


class QueryCounts(TypedDict):
    """Pseudo-queries, and passages that have some."""

    queries: int
    passages: int
    per_passage: Spread | None


class NgramCounts(TypedDict):
    """The profile of n-grams of one length (see `NgramProfile`); quantiles by name."""

    length: int
    distinct: int
    occurrences: int
    singletons: int
    in_one_passage: int
    frequency_quantiles: dict[str, int]
    passages_quantiles: dict[str, int]


class StatsSummary(TypedDict):
    """What an index holds; bytes by part, and in all."""

    index: str
    segments: int
    tokens: TokenCounts
    bytes: dict[str, int]
    bytes_per_token: float
    passages: PassageLengths
    titles: TitleCounts | None
    pseudo_queries: QueryCounts | None
    ngrams: list[NgramCounts]
