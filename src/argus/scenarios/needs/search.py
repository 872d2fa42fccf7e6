"""Who is asked for documents by their needs: vectors of one's own, or a retriever.

Chunks may be folded to the documents they are of: one ranks by its best chunk, among documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from argus.data.artifacts import ArtifactFolder
from argus.data.runs import ranking
from argus.data.types import Document, FloatArray, Query, View
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import queries as as_queries
from argus.evaluation.parents import ParentFold
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ORIGINAL
from argus.jobs.workspace import Record
from argus.retrievers.asking import Answerer, answers_of
from argus.scenarios.needs.findings import Need


class NeedSearch(Protocol):
    """Where a document stands for its needs, and what comes for a question."""

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """Return the 1-based rank of each need's document; None where it could not be asked.

        One beyond a list that ends is as if it came next.
        """
        ...

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """Return the documents that came for each question, by its id; failed ones are not in."""
        ...


@dataclass(frozen=True)
class VectorSearch:
    """An index of documents alone, in memory."""

    model: Encoder
    store: EmbeddingStore
    snapshot: Snapshot
    fold: ParentFold | None

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        vectors: FloatArray,
        model: Encoder,
        store: EmbeddingStore,
        fold: ParentFold | None,
    ) -> VectorSearch:
        """Index documents. vectors: (n_documents, dim), unit rows."""
        views = [View(id_, parent_of(fold, id_), ORIGINAL, "") for id_ in ids]
        return cls(model, store, Snapshot.of(views, vectors), fold)

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """See `NeedSearch.ranks`: of all documents."""
        names = [parent_of(self.fold, need.doc_id) for need in needs]
        rows = [i for i, name in enumerate(names) if name in self.snapshot]
        texts = as_queries([needs[i].text for i in rows])
        queries = embed(texts, self.model, self.store, what="needs")
        with_vector = [i for i, ok in zip(rows, queries.ok, strict=True) if ok]
        ranks: list[int | None] = [None] * len(needs)
        places = self.snapshot.ranks(queries.vectors, [names[i] for i in with_vector])
        for i, rank in zip(with_vector, places.tolist(), strict=True):
            ranks[i] = rank
        return ranks

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """See `NeedSearch.lists`."""
        texts = as_queries([question.text for question in questions])
        queries = embed(texts, self.model, self.store, what="questions")
        ids = [q.id for q, ok in zip(questions, queries.ok, strict=True) if ok]
        top = self.snapshot.search(queries.vectors, depth)
        return dict(zip(ids, top.doc_ids, strict=True))


@dataclass(frozen=True)
class ServedSearch:
    """A retriever. k: results that are asked for; its answers are kept in the folder."""

    source: Answerer
    documents: Sequence[Document]
    folder: ArtifactFolder
    record: Record
    k: int
    fold: ParentFold | None

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """See `NeedSearch.ranks`: of the k results."""
        queries = [Query(f"need {i}", need.text) for i, need in enumerate(needs, start=1)]
        lists = self._asked(queries, self.k, "needs") if queries else {}
        return [
            self._place(lists[query.id], need) if query.id in lists else None
            for query, need in zip(queries, needs, strict=True)
        ]

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """See `NeedSearch.lists`."""
        return self._asked(questions, depth, "judged questions")

    def _asked(self, queries: Sequence[Query], k: int, what: str) -> dict[str, list[str]]:
        _, answers = answers_of(
            self.source, queries, k, documents=self.documents, folder=self.folder,
            record=self.record, what=what,
        )  # fmt: skip
        return {
            query: list(dict.fromkeys(self._folded(ranking(scores)[:k])))
            for query, scores in answers.run.items()
        }

    def _folded(self, ids: Sequence[str]) -> Iterator[str]:
        for id_ in ids:
            yield parent_of(self.fold, id_)

    def _place(self, ids: Sequence[str], need: Need) -> int:
        name = parent_of(self.fold, need.doc_id)
        return (ids.index(name) if name in ids else self.k) + 1


def parent_of(fold: ParentFold | None, id_: str) -> str:
    """Return the document that a chunk is of; itself where nothing is folded."""
    return id_ if fold is None else fold.of_chunk.get(id_, id_)
