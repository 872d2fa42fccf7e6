"""Answers of a search: passages with the n-grams that found them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HitKey:
    """An n-gram by which a passage was found: its text, corpus count, weight, and view."""

    text: str
    count: int
    weight: float
    view: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. title, text: as the index's tokens say."""

    doc_id: str
    score: float
    title: str
    text: str
    keys: list[HitKey]


@dataclass(frozen=True)
class Answer:
    """The passages found for one question, best first."""

    query_id: str
    hits: list[Hit] = field(default_factory=list)

    def scores(self) -> dict[str, float]:
        """Return document id to score."""
        return {hit.doc_id: hit.score for hit in self.hits}
