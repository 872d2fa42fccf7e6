"""Fold chunks to their documents, and slice documents by fields of their payload.

A document scores as its best chunk. An id that is no chunk of the corpus, such as a judged
document, stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from argus.corpora.opening import read_corpus
from argus.data.fields import parent_ids
from argus.data.types import Document, Qrels, Run
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.summary import FoldFigures
from argus.evaluation.systems import System
from argus.measures.slices import Slicing, slicings
from argus.retrievers.config import DEEPER


@dataclass(frozen=True)
class ParentFold:
    """The document of every chunk. field: the field that names it."""

    field: str
    of_chunk: Mapping[str, str]
    parents: frozenset[str]

    @classmethod
    def of(cls, field: str | None, chunks: Sequence[Document] | None) -> ParentFold | None:
        """Return the fold by a field. None without one.

        Raises InputError without a corpus, and if no chunk has the field.
        """
        if field is None:
            return None
        if chunks is None:
            raise InputError(
                f"{field!r} without a corpus",
                expected="the corpus of chunks, which tells the document of each",
                fix="Give it with --corpus.",
                where="--parent-field",
            )
        names = parent_ids(chunks, field)
        of_chunk = {chunk.id: name for chunk, name in zip(chunks, names, strict=True)}
        return cls(field, of_chunk, frozenset(names))

    @classmethod
    def of_corpus(cls, source: ChunkedCorpus | None) -> ParentFold | None:
        """Read a corpus and return its fold. None without a field.

        Raises InputError as `of` does.
        """
        if source is None or source.parent_field is None:
            return None
        corpus = source.corpus
        documents = None if corpus is None else read_corpus(corpus, source.fields)
        return cls.of(source.parent_field, documents)

    def figures(self) -> FoldFigures:
        """Return its part of the summary."""
        chunks, documents = len(self.of_chunk), len(self.parents)
        return {"field": self.field, "chunks": chunks, "documents": documents}

    def run(self, run: Run) -> Run:
        """Return a run of documents."""
        return {query: self.best(scores) for query, scores in run.items()}

    def best(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the highest value of each document's chunks."""
        best: dict[str, float] = {}
        for chunk, value in values.items():
            parent = self.of_chunk.get(chunk, chunk)
            best[parent] = max(value, best.get(parent, value))
        return best

    def chunks_of(self, id_: str) -> frozenset[str]:
        """Return a document and its chunks. Of a chunk, its document and that one's chunks."""
        parent = self.of_chunk.get(id_, id_)
        return frozenset([parent, *(c for c, own in self.of_chunk.items() if own == parent)])

    def ids(self, chunks: Iterable[str]) -> frozenset[str]:
        """Return the documents of some chunks."""
        return frozenset(self.of_chunk.get(chunk, chunk) for chunk in chunks)

    def qrels(self, qrels: Qrels) -> Qrels:
        """Return judgements of documents. Each has the highest grade of itself and its chunks."""
        folded: Qrels = {}
        for query, grades in qrels.items():
            own = folded.setdefault(query, {})
            for id_, grade in grades.items():
                parent = id_ if id_ in self.parents else self.of_chunk.get(id_, id_)
                own[parent] = max(grade, own.get(parent, grade))
        return folded

    def documents(self, chunks: Sequence[Document]) -> list[Document]:
        """Return the documents, each with the texts of its chunks and their first title."""
        own: dict[str, list[Document]] = {}
        for chunk in chunks:
            own.setdefault(self.of_chunk[chunk.id], []).append(chunk)
        return [
            Document(
                parent,
                "\n".join(chunk.text for chunk in parts),
                next((chunk.title for chunk in parts if chunk.title.strip()), ""),
            )
            for parent, parts in own.items()
        ]


def fold_system(system: System, fold: ParentFold) -> System:
    """Return a system whose results are documents."""
    run, ids = fold.run(system.run), system.documents
    return replace(
        system,
        run=run,
        documents=None if ids is None else fold.ids(ids),
        longest=system.longest and max(map(len, run.values()), default=0),
    )


def deeper(k: int, fold: ParentFold | None) -> int:
    """Return how many results to ask for, so that k documents are among them."""
    return k if fold is None else DEEPER * k


@dataclass(frozen=True)
class Slicer:
    """The slices of documents. rows: positions of each document and its chunks in the corpus."""

    slicings: Sequence[Slicing]
    rows: Mapping[str, Sequence[int]]

    @classmethod
    def by(
        cls, fields: Sequence[str], corpus: Sequence[Document] | None, fold: ParentFold | None
    ) -> Slicer | None:
        """Slice a corpus by fields. Return None without fields.

        fold: a document is in the slices of all of its chunks. Raises InputError without a corpus,
        and as `argus.data.fields.payload_values` does.
        """
        if not fields:
            return None
        if corpus is None:
            raise InputError(
                f"{fields[0]!r} without a corpus",
                expected="the corpus, whose payload tells it",
                fix="Give it with --corpus.",
                where="--by",
            )
        of_chunk = {} if fold is None else fold.of_chunk
        rows: dict[str, list[int]] = {}
        for row, document in enumerate(corpus):
            rows.setdefault(of_chunk.get(document.id, document.id), []).append(row)
        return cls(slicings(corpus, fields), rows)

    def of(self, groups: Iterable[Iterable[str]]) -> list[Slicing]:
        """Return the slices of groups of documents. A group is in those of all its documents."""
        members = [[row for id_ in ids for row in self.rows.get(id_, ())] for ids in groups]
        return [slicing.of(members) for slicing in self.slicings]
