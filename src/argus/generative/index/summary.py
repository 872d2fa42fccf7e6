"""Records that `generative build` leaves in summary.json."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class BuildSettings(TypedDict):
    """Settings of a build. The tokenizer is as it was named.

    tokenizer: tokenizer, as it was named. None for that of the index.
    titles: whether titles are indexed. None: if there are any.
    limit: documents that are read, at most. None for all.
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
    """Summary of a build. Bytes are of the arrays on disk.

    titles: whether titles are indexed.
    segments: parts that the index consists of.
    bytes: bytes of the arrays on disk.
    bytes_per_token: the same per token.
    markers_added: markers (`@@`, `||`) that the tokenizer did not have.
    added: the additions, where passages were added to an index.
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
