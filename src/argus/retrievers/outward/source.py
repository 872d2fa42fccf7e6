"""What an adapter asks: an index with its remedies, any retriever of Argus, or what makes one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.arguments import check_unique, text_in
from argus.data.provenance import absorb
from argus.data.runs import finite_scores, ranking
from argus.data.types import Document, Query, Run
from argus.encoders import Encoder
from argus.errors import InputError
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.spec import IndexSpec
from argus.retrievers.protocol import Retriever

Maker = Callable[[Sequence[Document]], Retriever]
"""Makes a retriever of a corpus: builds an index, repairs it."""
Source = Retriever | Maker | IndexSpec | Path | str
"""An index by its name (`PATH@STATE`) or open, another retriever, or a maker of one."""
Mark = tuple[bytes, tuple[str, int] | None]
LARGEST = 1e38
"""Of a score that is told as it is: 32 bits hold somewhat more, for those that fall below it."""
FIRST = 64
"""Queries that are asked at once."""


class Backend:
    """A source, and the corpus that it was last held against.

    Raises InputError for what is no retriever and makes none, and as `open_retriever` does.
    """

    def __init__(self, source: Source, encoder: Encoder | str | None = None) -> None:
        self._maker: Maker | None = None
        self._retriever: Retriever | None = None
        self._taken: Mark | None = None
        if isinstance(source, str | Path | IndexSpec):
            self._retriever = open_retriever(source, encoder)
        elif isinstance(source, Retriever) and not isinstance(source, type):  # which makes one
            self._retriever = source
        elif callable(source):
            self._maker = source
        else:
            raise InputError(
                f"a {type(source).__name__}",
                expected="an index (PATH@STATE or open), a retriever with name and search(queries, "
                "k), or a function that makes one of documents",
                fix="Open it with argus.open_retriever.", where="source",
            )  # fmt: skip

    @property
    def retriever(self) -> Retriever:
        """What answers; InputError before a maker was given a corpus."""
        if self._retriever is None:
            raise InputError(
                "no corpus yet", expected="the corpus before the first query",
                fix="Call index(corpus) or search with a corpus first.", where=self.name,
            )  # fmt: skip
        return self._retriever

    @property
    def index(self) -> IndexRetriever | None:
        """The index that answers; None for another retriever, and before one is made."""
        return self._retriever if isinstance(self._retriever, IndexRetriever) else None

    @property
    def name(self) -> str:
        """What reports call it."""
        if self._retriever is not None:
            return self._retriever.name
        return getattr(self._maker, "__name__", type(self._maker).__name__)

    def take(self, documents: Sequence[Document]) -> None:
        """Make the retriever of a corpus, or see that an index is of it; once for equal corpora.

        Raises InputError where an index lacks a document that has text, or holds another.
        """
        if self._maker is None and self.index is None:
            return
        taken = self._mark(documents)
        if taken == self._taken:
            return
        self._taken = None
        if self._maker is not None:
            self._retriever = self._maker(documents)
        elif self.index is not None:
            _check_corpus(self.index, documents)
        self._taken = taken

    def _mark(self, documents: Iterable[Document]) -> Mark:
        """Return what tells this corpus, and the state of an index that is held against it."""
        digest = hashlib.blake2b(digest_size=16)
        for document in documents:
            absorb(digest, document.id, document.title, document.text)
        index = self.index.index if self._maker is None and self.index is not None else None
        return digest.digest(), None if index is None else (index.made, index.version)

    def run(self, queries: Sequence[Query], k: int) -> Run:
        """Return the k best documents per query, best first, with scores that differ.

        They fall by rank even in 32 bits: trec_eval, which all these evaluators end in, ranks equal
        scores by falling id, and Argus by rising. Raises InputError for a query id that is given
        twice, and for a score that is no finite number.
        """
        check_unique(queries)
        run: Run = {}
        for first in range(0, len(queries), FIRST):
            run |= self.retriever.search(queries[first : first + FIRST], k)
        run = finite_scores(run, self.name)
        return {query.id: falling(run.get(query.id, {})) for query in queries}

    def rerank(
        self, queries: Sequence[Query], candidates: Mapping[str, Collection[str]], k: int, most: int
    ) -> Run:
        """Return the k best of each query's candidates; most: documents there are."""
        deep = self.run([query for query in queries if candidates.get(query.id)], most)
        return {
            query.id: dict(
                [
                    (doc, score) for doc, score in deep.get(query.id, {}).items()
                    if doc in candidates[query.id]
                ][:k]
            )
            for query in queries
        }  # fmt: skip


def falling(scores: dict[str, float]) -> dict[str, float]:
    """Return scores in the order of their ranking, each lower than the one before, in 32 bits.

    scores: finite. Where they do not go into 32 bits, whole numbers that fall stand for them.
    """
    ranks, lower = ranking(scores), dict[str, float]()
    if any(abs(score) > LARGEST for score in scores.values()):
        return {document: float(len(ranks) - i) for i, document in enumerate(ranks)}
    last = np.float32(np.inf)
    for document in ranks:
        score = np.float32(scores[document])
        if score >= last:
            score = np.nextafter(last, np.float32(-np.inf))
        lower[document] = float(score)
        last = score
    return lower


def _check_corpus(retriever: IndexRetriever, documents: Iterable[Document]) -> None:
    texts = {document.id: document.content for document in documents}
    indexed = ids_in(retriever)
    lacking = sorted(id_ for id_ in texts.keys() - indexed if texts[id_].strip())
    others = sorted(indexed - texts.keys())
    if lacking or others:
        what = "lacks" if lacking else "holds beside it"
        ids = lacking or others
        raise InputError(
            f"{what} {len(ids):,} documents, such as {ids[0]!r}",
            expected=f"the index of this corpus, of {len(texts):,} documents",
            fix="Index this corpus; or give a function that makes a retriever of documents.",
            where=retriever.index.path,
        )


def ids_in(retriever: IndexRetriever) -> set[str]:
    """Return the ids of the documents of an index, in its state."""
    return set(retriever.index.rows(retriever.as_of)["doc_id"].to_pylist())


def document_of(id_: object, row: Any) -> Document:
    """Return a document of a row with text and, it may be, a title; raises InputError."""
    where = f"document {id_}"
    if not isinstance(row, Mapping):
        raise InputError(
            f"{row!r:.60}",
            expected="a row with text and, it may be, a title",
            fix="For a text alone: {'text': ...}.",
            where=where,
        )
    text, title = (text_in(row.get(field) or "", where) for field in ("text", "title"))
    return Document(str(id_), text, title)


def query_of(id_: object, text: object) -> Query:
    """Return a query; InputError for what is no text, such as a conversation."""
    return Query(str(id_), text_in(text, f"query {id_}"))


def rows_in(rows: Any, what: str, expected: str) -> Iterable[tuple[object, Any]]:
    """Return ids with what stands under them; InputError for a list, which has no ids."""
    if not isinstance(rows, Mapping):
        raise InputError(
            f"{what} in a {type(rows).__name__}", expected=expected, fix="Give each an id."
        )
    return rows.items()
