"""Turn documents into passages of tokens: `</s> title @@ text || query @@ || query @@`.

SEAL indexes title and text, MINDER adds pseudo-queries as its "stable" indexes hold them. The
border stands in front, so that a title's n-gram `</s> title @@` lies inside its own passage.
The published scripts repair Wikipedia's text (ftfy, "BULLET::::"). You must do this in the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.types import Document, IntArray
from argus.generative.vocabulary import Vocabulary

Hashes = npt.NDArray[np.uint64]
BLOCK = 4096
"""Documents that are tokenized at once."""


@dataclass
class PassageCounts:
    """Documents by outcome. empty_ids: those without any token, which are left out."""

    empty_ids: list[str] = field(default_factory=list)
    title_only: int = 0
    untitled: int = 0
    with_queries: int = 0
    unknown_tokens: int = 0


@dataclass(frozen=True)
class Passages:
    """Tokens of consecutive passages.

    tokens: int32, borders in front, none at the end. starts: (n + 1,), where passages begin.
    splits: (n, 2), tokens of a passage up to its text, and up to its first pseudo-query. hashes:
    (n, 3), see `document_hash`.
    """

    ids: list[str]
    tokens: npt.NDArray[np.int32]
    starts: IntArray
    splits: npt.NDArray[np.int32]
    hashes: Hashes


def document_hash(document: Document, queries: Sequence[str]) -> tuple[int, int, int]:
    """Return 128 bits of title and text, and 64 bits of the pseudo-queries."""
    content = content_hash(document.title, document.text)
    of_queries = content_hash(*queries, size=8) if queries else bytes(8)
    return (
        int.from_bytes(content[:8], "little"),
        int.from_bytes(content[8:], "little"),
        int.from_bytes(of_queries, "little"),
    )


def tokenized(
    documents: Iterable[Document],
    vocabulary: Vocabulary,
    pseudo_queries: Mapping[str, Sequence[str]],
    *,
    titles: bool,
    counts: PassageCounts,
) -> Iterator[Passages]:
    """Yield the passages of documents in blocks, without those that have no token.

    titles: whether ` title @@` is part of a passage. A document without title has ` @@` alone.
    """
    remaining = iter(documents)
    while block := list(islice(remaining, BLOCK)):
        yield _block(block, vocabulary, pseudo_queries, titles, counts)


def _block(
    documents: Sequence[Document],
    vocabulary: Vocabulary,
    pseudo_queries: Mapping[str, Sequence[str]],
    titles: bool,
    counts: PassageCounts,
) -> Passages:
    queries_of = [list(pseudo_queries.get(d.id, ())) for d in documents]
    heads = vocabulary.encode([d.title if titles else "" for d in documents])
    bodies = vocabulary.encode([d.text for d in documents])
    encoded = iter(vocabulary.encode([query for queries in queries_of for query in queries]))
    passages: list[list[int]] = []
    ids, splits, hashes = [], [], []
    for document, head, body, queries in zip(documents, heads, bodies, queries_of, strict=True):
        views = [tokens for tokens in islice(encoded, len(queries)) if tokens]
        if not (head or body or views):
            continue
        tokens = [vocabulary.border, *head]
        if titles:
            tokens.append(vocabulary.title_end)
        text_at = len(tokens)
        tokens += body
        splits.append((text_at, len(tokens)))
        for view in views:
            tokens += [vocabulary.query_start, *view, vocabulary.title_end]
        counts.title_only += bool(head) and not body
        counts.untitled += titles and not head
        counts.with_queries += bool(views)
        passages.append(tokens)
        ids.append(document.id)
        hashes.append(document_hash(document, queries))
    flat = np.fromiter((t for tokens in passages for t in tokens), np.int32)
    if vocabulary.unknown is not None:
        counts.unknown_tokens += int((flat == vocabulary.unknown).sum())
    return Passages(
        ids,
        flat,
        np.cumsum([0, *map(len, passages)], dtype=np.int64),
        np.array(splits, np.int32).reshape(-1, 2),
        np.array(hashes, np.uint64).reshape(-1, 3),
    )
