"""Records that `generative build` and `generative stats` leave in summary.json."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class BuildSettings(TypedDict):
    """How an index was built; tokenizer as it was named.

    tokenizer: tokenizer, as it was named; None for that of the index.
    titles: whether titles are indexed; None for where there are any.
    limit: documents that are read, at most; None for all.
    """

    tokenizer: str | None
    titles: bool | None
    limit: int | None


class BuiltPassages(TypedDict):
    """Passages of an index, and documents left out for want of tokens.

    total: passages of the index.
    empty_ids: ids of the first documents without a token.
    title_only: passages with a title and no text.
    untitled: passages without a title.
    with_queries: passages with pseudo-queries.
    empty: documents left out, since they have no token.
    """

    total: int
    empty_ids: list[str]
    title_only: int
    untitled: int
    with_queries: int
    empty: int


class BuiltTokens(TypedDict):
    """Tokens of an index: all, types that occur, ids of the tokenizer, and unknown ones.

    total: tokens of the index.
    types: different tokens that occur.
    vocabulary: ids of the tokenizer.
    unknown: tokens that the tokenizer does not know.
    """

    total: int
    types: int
    vocabulary: int
    unknown: int


class Addition(TypedDict):
    """Passages that were added to an index, and documents that it held.

    passages: passages that were added.
    unchanged: documents that the index held already.
    """

    passages: int
    unchanged: int


class CorpusQueries(TypedDict):
    """Pseudo-queries of a corpus.

    documents: documents with pseudo-queries.
    queries: pseudo-queries of documents of the corpus.
    elsewhere: documents with some that are not in the corpus.
    """

    documents: int
    queries: int
    elsewhere: int


class NgramBuildSummary(TypedDict):
    """What a build comes to; bytes are of the arrays on disk.

    titles: whether titles are indexed.
    segments: parts that the index consists of.
    bytes: bytes of the arrays on disk.
    bytes_per_token: the same per token.
    markers_added: markers (`@@`, `||`) that the tokenizer did not have.
    added: what was added, where passages were added to an index.
    """

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


class Spread(TypedDict):
    """Mean and quantiles of whole numbers; the quantiles are numbers that occur.

    mean: mean of all numbers.
    min: least number.
    p5: 5% are at most that.
    median: half are at most that.
    p95: 95% are at most that.
    max: greatest number.
    """

    mean: float
    min: int
    p5: int
    median: int
    p95: int
    max: int


class Histogram(TypedDict):
    """Bins of equal, whole width: edges (n + 1) and counts (n).

    edges: borders of the bins, one more than counts.
    counts: passages per bin.
    """

    edges: list[int]
    counts: list[int]


class TokenCounts(TypedDict):
    """Tokens of an index: all, types that occur, ids of the tokenizer.

    total: tokens of the index.
    types: different tokens that occur.
    vocabulary: ids of the tokenizer.
    """

    total: int
    types: int
    vocabulary: int


class PassageLengths(TypedDict):
    """Passages by their number of tokens.

    total: passages of the index.
    tokens: tokens of a passage, title and pseudo-queries among them.
    text_tokens: tokens of its text alone.
    without_text: passages without a text.
    """

    total: int
    tokens: Spread | None
    text_tokens: Spread | None
    without_text: int
    histogram: Histogram


class RepeatedTitle(TypedDict):
    """A title that several passages bear.

    title: title, as written.
    passages: passages that bear it.
    """

    title: str
    passages: int


class InnerTitle(TypedDict):
    """A title that stands within another.

    title: title that stands within another.
    inside: the other title.
    """

    title: str
    inside: str


class TitleCounts(TypedDict):
    """How well titles name passages.

    distinct: different titles.
    without: passages without a title.
    tokens: tokens of a title.
    repeated: titles that several passages bear.
    passages_of_repeated: passages that bear one of these.
    most_repeated: the most frequent of these.
    inside_others: titles that stand within another.
    inside_examples: the first of these.
    """

    distinct: int
    without: int
    tokens: Spread | None
    repeated: int
    passages_of_repeated: int
    most_repeated: list[RepeatedTitle]
    inside_others: int
    inside_examples: list[InnerTitle]


class QueryCounts(TypedDict):
    """Pseudo-queries, and passages that have some.

    queries: pseudo-queries of the index.
    passages: passages that have some.
    per_passage: pseudo-queries of a passage that has some.
    """

    queries: int
    passages: int
    per_passage: Spread | None


class NgramCounts(TypedDict):
    """The profile of n-grams of one length (see `NgramProfile`); quantiles by name.

    length: tokens of the n-grams.
    distinct: different n-grams.
    occurrences: all of their occurrences.
    singletons: n-grams that occur once.
    in_one_passage: n-grams of one passage alone, singletons among them.
    frequency_quantiles: quantile to how often an n-gram occurs.
    passages_quantiles: quantile to how many passages hold an n-gram.
    """

    length: int
    distinct: int
    occurrences: int
    singletons: int
    in_one_passage: int
    frequency_quantiles: dict[str, int]
    passages_quantiles: dict[str, int]


class StatsSummary(TypedDict):
    """What an index holds; bytes by part, and in all.

    segments: parts that the index consists of.
    bytes: bytes on disk, by part, and in all.
    bytes_per_token: bytes in all per token.
    """

    index: str
    segments: int
    tokens: TokenCounts
    bytes: dict[str, int]
    bytes_per_token: float
    passages: PassageLengths
    titles: TitleCounts | None
    pseudo_queries: QueryCounts | None
    ngrams: list[NgramCounts]
