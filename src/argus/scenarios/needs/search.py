"""Search for documents by their needs: vectors of one's own, or a retriever.

Chunks may be folded to the documents they are of: one ranks by its best chunk, among documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.types import Document, FloatArray, Query, View
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import queries as as_queries
from argus.evaluation.judged import ParentFold
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import Snapshot
from argus.jobs.workspace import Record
from argus.retrievers.opening import Answerer, answers_of
from argus.retrievers.protocol import Answers
from argus.scenarios.needs.findings import Need


class NeedSearch(Protocol):
    """Ranks of a document for its needs, and the results of a question."""

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """Return the 1-based rank of each need's document. None where it could not be asked.

        One beyond a list that ends is as if it came next.
        """
        ...

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """Return the documents that came for each question, by its id. Failed ones are not in."""
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


@dataclass
class ServedSearch:
    """A retriever. k: results that are asked for. Its answers are kept in the folder.

    name: name of the retriever, once it was asked.
    runs: results by the text of a need.
    """

    source: Answerer
    documents: Sequence[Document]
    folder: ArtifactFolder
    record: Record
    k: int
    fold: ParentFold | None
    name: str = ""
    kept: int = 0
    warning: str | None = None
    runs: dict[str, dict[str, float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """See `NeedSearch.ranks`: of the k results."""
        queries = [Query(f"need {i}", need.text) for i, need in enumerate(needs, start=1)]
        run = self.answers(queries).run
        return [
            self._place(list(self._folded(run[query.id], self.k)), need)
            if query.id in run
            else None
            for query, need in zip(queries, needs, strict=True)
        ]

    def answers(self, needs: Sequence[Query]) -> Answers:
        """Return the results of some needs. Each text is asked once."""
        known = self.runs.keys() | self.failures.keys()
        new = list({query.text: query for query in needs if query.text not in known}.values())
        if new:
            answers = self._ask(new, self.k, "needs")
            self.kept, self.warning = self.kept + answers.kept, answers.warning
            for query in new:
                if query.id in answers.run:
                    self.runs[query.text] = dict(answers.run[query.id])
                else:
                    self.failures[query.text] = answers.failed[query.id]
        run = {query.id: self.runs[query.text] for query in needs if query.text in self.runs}
        failed = {q.id: self.failures[q.text] for q in needs if q.text in self.failures}
        return Answers(run, failed, min(self.kept, len(needs)), self.warning)

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """See `NeedSearch.lists`."""
        run = self._ask(questions, depth, "judged questions").run
        return {query: list(self._folded(scores, depth)) for query, scores in run.items()}

    def _ask(self, queries: Sequence[Query], k: int, what: str) -> Answers:
        self.name, answers = answers_of(
            self.source, queries, k, documents=self.documents, folder=self.folder,
            record=self.record, what=what,
        )  # fmt: skip
        return answers

    def _folded(self, scores: dict[str, float], k: int) -> Iterator[str]:
        yield from dict.fromkeys(parent_of(self.fold, id_) for id_ in ranking(scores)[:k])

    def _place(self, ids: Sequence[str], need: Need) -> int:
        name = parent_of(self.fold, need.doc_id)
        return (ids.index(name) if name in ids else self.k) + 1


def parent_of(fold: ParentFold | None, id_: str) -> str:
    """Return the document that a chunk is of. Itself where nothing is folded."""
    return id_ if fold is None else fold.of_chunk.get(id_, id_)
