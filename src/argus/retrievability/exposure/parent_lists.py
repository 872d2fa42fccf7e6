"""A retriever's results folded to the documents that its chunks are of.

Folding makes a list shorter. Where one of k results holds neither the document that was asked for
nor k documents, it is not known to be a miss: the retriever is asked again, deeper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.runs import ranking
from argus.data.types import Query, Run
from argus.errors import ArgusError
from argus.retrievability.exposure.parents import DocumentLists, Parents
from argus.retrievability.exposure.probes import BEYOND
from argus.retrievability.exposure.retriever_probes import RankedProbes
from argus.retrievability.exposure.summary import SomeAnswersFacts
from argus.retrievers.config import DEEPER
from argus.retrievers.protocol import Answers

Ask = Callable[[Sequence[Query], int], Answers]


@dataclass(frozen=True)
class ParentAnswers:
    """A retriever's answers as lists of documents."""

    lists: DocumentLists
    undecided: int
    """Probes whose list ends before it holds k documents, or their own."""
    whole_documents: int
    """Results within k, over all lists, that are a document and not a chunk."""

    def facts(self) -> SomeAnswersFacts:
        """Return the summary's figures."""
        return {"whole_documents": self.whole_documents, "undecided": self.undecided}


def fold_answers(
    ranked: RankedProbes, run: Run, parents: Parents, k: int, ask: Ask | None
) -> ParentAnswers:
    """Rank every probe's document among the documents of its list.

    ask: asks the same retriever again. None where nobody can.
    """
    target = ranked.probes.target
    own = np.where(target >= 0, parents.groups.of[target], -1).tolist()
    fold = _Fold.of(ranked, parents)
    results = [ranking(run[query.id]) for query in ranked.queries]
    first = [fold.documents(ids) for ids in results]
    lists = dict(enumerate(first))
    open_ = [
        i
        for i, document in enumerate(own)
        if document >= 0 and document not in first[i] and len(first[i]) < k <= len(results[i])
    ]
    if open_ and ask is not None:
        deeper = _asked(ask, [ranked.queries[i] for i in open_], DEEPER * k)
        again = {i: fold.documents(ranking(deeper.get(ranked.queries[i].id, {}))) for i in open_}
        lists |= {i: documents for i, documents in again.items() if documents}
    ranks = [_rank(lists[i], document) for i, document in enumerate(own)]
    undecided = sum(ranks[i] == BEYOND and len(lists[i]) < k for i in open_)
    top = np.full((len(first), k), -1, np.int64)
    for i, ids in enumerate(results):  # a run may be deeper, but figures are of k chunks
        rows = [row for row in fold.documents(ids[:k]) if isinstance(row, int)]
        top[i, : len(rows)] = rows
    whole = sum(fold.whole_documents(ids[:k]) for ids in results)
    return ParentAnswers(DocumentLists(np.array(ranks, np.int64), top), undecided, whole)


@dataclass(frozen=True)
class _Fold:
    """Ids of results to positions of documents."""

    chunks: Mapping[str, int]
    documents_by_id: Mapping[str, int]

    @classmethod
    def of(cls, ranked: RankedProbes, parents: Parents) -> _Fold:
        of = parents.groups.of.tolist()
        chunks = {d.id: of[row] for row, d in enumerate(ranked.searched.documents)}
        return cls(chunks, {id_: place for place, id_ in enumerate(parents.ids)})

    def documents(self, ids: Sequence[str]) -> list[int | str]:
        """Return documents, each in its first place. Of anything else, the id."""
        return list(dict.fromkeys(map(self._document, ids)))

    def _document(self, id_: str) -> int | str:
        place = self.chunks.get(id_)
        return self.documents_by_id.get(id_, id_) if place is None else place

    def whole_documents(self, ids: Sequence[str]) -> int:
        """Return how many of some results are documents, and no chunks."""
        return sum(id_ in self.documents_by_id for id_ in ids if id_ not in self.chunks)


def _asked(ask: Ask, queries: Sequence[Query], k: int) -> Run:
    """Return deeper lists. A retriever that gives none has none."""
    try:
        return ask(queries, k).run
    except ArgusError:
        return {}


def _rank(documents: Sequence[int | str], document: int) -> int:
    if document < 0:
        return 0
    return documents.index(document) + 1 if document in documents else int(BEYOND)
