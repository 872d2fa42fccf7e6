"""Turn documents into token sequences for an n-gram index: title, text, then pseudo-queries.

`tokenized`: documents and a tokenizer -> blocks of passages. A passage is written as `</s> title @@
text || query @@ || query @@`. SEAL indexes title and text, MINDER adds pseudo-queries (questions
that a passage may answer). The border `</s>` stands in front, so that a title's n-gram `</s> title
@@` lies inside its own passage. `index.build` calls it. The published scripts also repair
Wikipedia's text (ftfy, "BULLET::::"). You must do this in the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.data.documents import EXPANSIONS, file_in, rows_by_document
from argus.data.provenance import content_hash
from argus.data.rows import pick_field, whole_characters
from argus.data.types import Document, IntArray
from argus.errors import InputError
from argus.generative.vocabulary import Vocabulary

Hashes = npt.NDArray[np.uint64]
# Documents that are tokenized at once.
BLOCK = 4096


@dataclass
class PassageCounts:
    """Documents without any token, which are left out, and tokens that stand for unknown text."""

    empty_ids: list[str] = field(default_factory=list)
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
        queries_of = [list(pseudo_queries.get(d.id, ())) for d in block]
        heads = vocabulary.encode([d.title if titles else "" for d in block])
        bodies = vocabulary.encode([d.text for d in block])
        encoded = iter(vocabulary.encode([query for queries in queries_of for query in queries]))
        passages: list[list[int]] = []
        ids, splits, hashes = [], [], []
        for document, head, body, queries in zip(block, heads, bodies, queries_of, strict=True):
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
            passages.append(tokens)
            ids.append(document.id)
            hashes.append(document_hash(document, queries))
        flat = np.fromiter((t for tokens in passages for t in tokens), np.int32)
        if vocabulary.unknown is not None:
            counts.unknown_tokens += int((flat == vocabulary.unknown).sum())
        yield Passages(
            ids,
            flat,
            np.cumsum([0, *map(len, passages)], dtype=np.int64),
            np.array(splits, np.int32).reshape(-1, 2),
            np.array(hashes, np.uint64).reshape(-1, 3),
        )


FIELDS = ("queries", "pseudo_queries")
# Fields of an expansion that has no pseudo-queries, which is no mistake.
_WITHOUT = {"summary", "state", "reason", "notes", *FIELDS}
_EXAMPLE = '{"_id": "d1", "queries": ["...", "..."]}'


def read_pseudo_queries(path: Path | str, *, coerce_ids: bool = False) -> dict[str, list[str]]:
    """Read pseudo-queries by document id: rows with `queries`, or the expansions of `argus`.

    path: a JSONL or Parquet file, or a folder that holds expansions.jsonl. White space is reduced
    to single spaces, and empty and repeated queries of a document are left out. A document without
    any is not in the result. Raises InputError, with the line, for a row without either field, a
    query that is no text, and a document that comes twice. And where no row has a query.
    """
    path = file_in(Path(path), EXPANSIONS)
    by_document: dict[str, list[str]] = {}
    for doc_id, row in rows_by_document(path, coerce_ids=coerce_ids):
        field = next((name for name in FIELDS if row.values.get(name) is not None), None)
        if field is None:
            if _WITHOUT.isdisjoint(row.values):
                pick_field(row, FIELDS, what="queries")
            continue
        value = row.values[field]
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InputError(
                f"{value!r:.60}", expected="a list of strings", fix=f"Write {_EXAMPLE}.",
                where=row.at(field),
            )  # fmt: skip
        texts = (" ".join(whole_characters(one, row.at, field).split()) for one in value)
        if queries := list(dict.fromkeys(filter(None, texts))):
            by_document[doc_id] = queries
    if not by_document:
        raise InputError(
            "no pseudo-query in it",
            expected=f"lines such as {_EXAMPLE}",
            fix="Check the path and the fields.",
            where=path,
        )
    return by_document


def pseudo_queries_of(
    pseudo_queries: Path | str | Mapping[str, list[str]] | None,
    documents: Sequence[Document],
    *,
    coerce_ids: bool = False,
) -> tuple[dict[str, list[str]], Path | None]:
    """Return the pseudo-queries of the documents, and the file that they were read from.

    pseudo_queries: by document id, or a file or folder. None for none. Raises InputError as
    `read_pseudo_queries` does, and where no document has any.
    """
    if pseudo_queries is None:
        return {}, None
    file = None
    if not isinstance(pseudo_queries, Mapping):
        file = file_in(Path(pseudo_queries), EXPANSIONS)
        pseudo_queries = read_pseudo_queries(file, coerce_ids=coerce_ids)
    ids = {document.id for document in documents}
    known = {id_: queries for id_, queries in pseudo_queries.items() if id_ in ids}
    if pseudo_queries and not known:
        raise InputError(
            f"pseudo-queries of {len(pseudo_queries):,} documents, none of them in the corpus",
            expected=f"ids of the corpus, such as {min(ids)!r}",
            fix="Check --pseudo-queries, --corpus, --id-field and --limit.",
            where=file or "pseudo-queries",
        )
    return known, file
