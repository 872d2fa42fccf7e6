"""What an explanation is made of, and what every check is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, View
from argus.evaluation.parents import ParentFold
from argus.explanation.evidence import Evidence
from argus.explanation.records import (
    ExplanationRecord,
)
from argus.indexes.blend import SENTENCE
from argus.indexes.fold import (
    SCENARIO,
    exact,
    mix,
    mix_sentences,
    pair_products,
)
from argus.indexes.retriever import IndexRetriever
from argus.indexes.snapshot import Snapshot, rows_to_views
from argus.indexes.views import ORIGINAL

E_co = TypeVar("E_co", bound=Evidence, covariant=True)

Float64Array = npt.NDArray[np.float64]


class Cause(StrEnum):
    """Why a document may not come back."""

    ABSENT = "not in index"
    APPROXIMATE = "approximate-search loss"
    VECTOR = "prefix or pooling mismatch"
    WINDOW = "beyond the window"
    SUPERSEDED = "superseded"
    HUBS = "displaced by hubs"
    BLEND = "blend"
    LEXICAL = "lexical gap"
    ENTITIES = "low predicted RPS"
    CORPUS = "not in the corpus"
    IDENTIFIERS = "identifiers"
    MATCHES = "matched terms"


LIKELY = (Cause.LEXICAL, Cause.ENTITIES)
"""Causes that make absence likely; the others are faults wherever they are found."""


class Verdict(StrEnum):
    """What was concluded of a cause."""

    FOUND = "found"
    RULED_OUT = "ruled out"
    UNCHECKED = "could not check"


@dataclass(frozen=True)
class Finding(Generic[E_co]):
    """One cause: what was concluded, from what, and what to do about it."""

    cause: Cause
    state: Verdict
    summary: str
    evidence: E_co
    advice: str = ""
    decisive: bool | None = None
    """Whether mending this alone brings the document into the top k, as computed; None where that
    was not computed."""

    def harmless(self) -> Finding[E_co]:
        """Return what makes absence likely as ruled out, where the document is within k."""
        if self.cause not in LIKELY or self.state is not Verdict.FOUND or self.decisive:
            return self
        summary = f"no harm here, though {self.summary}"
        return replace(self, state=Verdict.RULED_OUT, summary=summary, advice="")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the document stands in one ranking; None for what is beyond what was looked at."""

    rank: int | None
    score: float | None
    of: int
    """How many documents this ranking was followed for."""


@dataclass(frozen=True, slots=True)
class ScoredView:
    """One view of the document under this query."""

    id: str
    kind: str
    score: float
    source: str


@dataclass(frozen=True)
class Standing:
    """Where the document stands, and what is missing to the top k of the ranking that counts."""

    ranked_by: str
    """"dense", "approximate" or "fused": the ranking that a search of this index would return."""
    rank: int | None
    came_back: bool
    dense: Place
    approximate: Place | None
    """None where there is no approximate index."""
    bm25: Place
    fused: Place
    fusion: str
    views: list[ScoredView]
    """Best first; empty for a document that is not in the index."""
    kth_score: float | None
    """Score of the last of the top k, in the ranking that counts."""
    gap: float | None
    """Score that is missing to it; 0 where the document came back."""


@dataclass(frozen=True)
class Explanation:
    """Why a document came back for a query, or did not."""

    query: str
    query_id: str | None
    doc_id: str
    chunk: str | None
    """Of a document whose chunks are searched the one that comes first, which is explained."""
    index: str
    encoder: str
    k: int
    verdict: str
    cause: Cause | None
    """The most probable cause; None where the document came back or no check explains it."""
    came_back: bool
    standing: Standing
    findings: list[Finding[Evidence]]

    def as_dict(self) -> ExplanationRecord:
        """Return everything as plain JSON values."""
        return cast(ExplanationRecord, asdict(self))


@dataclass(frozen=True)
class Case:
    """One query and one document in one state of an index."""

    query: str
    doc_id: str
    k: int
    retriever: IndexRetriever
    snapshot: Snapshot
    vector: FloatArray
    """What is searched for, shape (1, dim), unit row: the query's, corrected where that counts."""
    uncorrected: FloatArray
    """The query's own vector, shape (1, dim)."""
    fold: ParentFold | None = None
    """Of chunks to documents: what ranks are documents then, each at its first chunk."""

    @property
    def present(self) -> bool:
        """Whether this state of the index holds the document."""
        return bool(self.rows)

    @cached_property
    def rows(self) -> range:
        """Rows of the document's views; empty where it is not in this state."""
        return self.snapshot.rows_of(self.doc_id) if self.holds(self.doc_id) else range(0)

    def holds(self, doc_id: str) -> bool:
        """Return whether this state of the index holds a document."""
        return doc_id in self.snapshot

    @cached_property
    def views(self) -> list[View]:
        """The document's views, in row order."""
        return list(rows_to_views(self.snapshot.columns.slice(self.rows.start, len(self.rows))))

    @cached_property
    def original(self) -> int | None:
        """Row of the document's own text; None where it has none."""
        own = (
            row for row, view in zip(self.rows, self.views, strict=True) if view.kind == ORIGINAL
        )
        return next(own, None)

    @cached_property
    def text(self) -> str:
        """The document's own text; "" where there is none."""
        return "" if self.original is None else self.views[self.original - self.rows.start].text

    @cached_property
    def best(self) -> FloatArray:
        """Score of every document, shape (n_documents,)."""
        scores: FloatArray = self.snapshot.document_scores(self.vector, self.weight)[0]
        return scores

    @cached_property
    def score(self) -> float:
        """The document's own score, scenarios included; it must be present."""
        at = self.snapshot.positions([self.doc_id])
        layout = self.snapshot.layout(self.weight)
        zero = np.zeros(1, np.int64)
        return float(exact(self.vector, self.snapshot.vectors, layout, zero, at)[2][0])

    @cached_property
    def rivals(self) -> FloatArray:
        """Scores of all other documents, best first."""
        scores = self.best
        if self.fold is not None:
            ranked = self.ranking(self.snapshot, self.vector)
            return np.array([s for id_, s in ranked.items() if id_ != self.doc_id], np.float32)
        if self.present:
            scores = np.delete(scores, int(self.snapshot.positions([self.doc_id])[0]))
        descending: FloatArray = np.sort(scores)[::-1]
        return descending

    def of_documents(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return a ranking, best first, with the first chunk of each document alone."""
        if self.fold is None:
            return dict(scores)
        first: dict[str, str] = {}
        for chunk in scores:
            first.setdefault(self.fold.of_chunk.get(chunk, chunk), chunk)
        own = self.fold.of_chunk.get(self.doc_id, self.doc_id)
        return {self.doc_id if p == own else c: scores[c] for p, c in first.items()}

    def ranking(self, snapshot: Snapshot, vector: FloatArray) -> dict[str, float]:
        """Return the exact score of every document for a vector, (1, dim), best first."""
        scores = snapshot.document_scores(vector, self.weight)[0]
        order = np.argsort(-scores, kind="stable").tolist()
        return self.of_documents({snapshot.doc_ids[i]: float(scores[i]) for i in order})

    @property
    def size(self) -> int:
        """How many documents this state of the index holds."""
        return len(self.snapshot) if self.fold is None else len(self.rivals) + self.present

    @property
    def weight(self) -> float:
        """λ of the search that is explained."""
        return self.retriever.weight

    def top(self, k: int) -> dict[str, float]:
        """Return the first k documents of an exact search, weighed as the retriever does."""
        if self.fold is not None:
            return dict(islice(self.ranking(self.snapshot, self.vector).items(), k))
        return self.snapshot.search(self.vector, k, self.weight).run([""])[""]

    def rank(self, doc_id: str, query: FloatArray | None = None) -> int:
        """Return the exact rank of a document for the query, or for another vector, (1, dim)."""
        vector = self.vector if query is None else query
        return self.rank_in(self.snapshot, doc_id, vector)

    def rank_in(self, snapshot: Snapshot, doc_id: str, vector: FloatArray) -> int:
        """Return the exact rank of a document in a state, such as this one with another blend."""
        if self.fold is not None:
            return list(self.ranking(snapshot, vector)).index(doc_id) + 1
        return int(snapshot.ranks(vector, [doc_id], self.weight)[0])

    def folded(self, doc_id: str, scored: Iterable[tuple[str, float]]) -> float:
        """Return the score of a document whose views have these kinds and scores."""
        best = dict.fromkeys((SCENARIO, SENTENCE, ORIGINAL), -np.inf)
        for kind, score in scored:
            side = kind if kind in best else ORIGINAL
            best[side] = max(best[side], score)
        own, sentence, scenario = (np.array(best[kind]) for kind in (ORIGINAL, SENTENCE, SCENARIO))
        blended = mix_sentences(own, sentence, self.snapshot.layout(self.weight).mixed.weight)
        return float(mix(blended, scenario, self.weight)) - self.penalty(doc_id)

    def penalty(self, doc_id: str) -> float:
        """Return what a blend takes off a document's score."""
        penalty = self.snapshot.layout(self.weight).mixed.penalty
        return 0.0 if penalty is None else float(penalty[self.snapshot.positions([doc_id])[0]])

    def rank_of_score(self, score: float) -> int:
        """Return the dense rank that the document would have with this score."""
        return 1 + int((self.rivals > score).sum())

    def scores_with(self, vectors: FloatArray) -> Float64Array:
        """Return the query's score of each row of `vectors`, (n, dim)."""
        rows = np.arange(len(vectors))
        return pair_products(self.vector, vectors, np.zeros(len(vectors), np.int64), rows)
