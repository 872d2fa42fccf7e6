"""The results of two systems for one question, and which of them both bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.data.types import Query
from argus.indexes.retriever import IndexRetriever
from argus.service.page.compare.systems import System
from argus.service.page.holding import WarmIndexes
from argus.service.page.titles import text_of


@dataclass(frozen=True, slots=True)
class Ranked:
    """A result. other: its place in the other list; None where that lacks it."""

    rank: int
    id: str
    title: str
    text: str
    score: float
    other: int | None


@dataclass(frozen=True, slots=True)
class Answered:
    """The results of one system, with its name."""

    system: System
    ranked_by: str
    results: tuple[Ranked, ...]


Found = tuple[str, list[tuple[str, str, str, float]]]
"""What ranked, and per result id, title, text and score."""


def side_by_side(
    question: str, both: Sequence[System], k: int, warm: WarmIndexes
) -> list[Answered]:
    """Return the k best results of each system."""
    answers = [_ask(question, system, k, warm) for system in both]
    places = [{row[0]: rank for rank, row in enumerate(rows, 1)} for _, rows in answers]
    return [
        Answered(system, ranked_by, tuple(
            Ranked(rank, *row, places[1 - side].get(row[0])) for rank, row in enumerate(rows, 1)
        ))
        for side, (system, (ranked_by, rows)) in enumerate(zip(both, answers, strict=True))
    ]  # fmt: skip


def _ask(question: str, system: System, k: int, warm: WarmIndexes) -> Found:
    if system.spec is None:
        service = warm.service
        searcher = service.beside[system.beside] if system.beside else service.searcher
        (answer,) = searcher.answer([question], k)
        rows = [(h["id"], h["title"], h["text"], h["score"]) for h in answer.hits]
        return answer.ranked_by, rows
    held = warm.retriever(system.spec)
    retriever = IndexRetriever(held.index, held.encoder, held.as_of, system.hybrid)
    scores = retriever.search([Query("query", question)], k)["query"]
    snapshot = warm.snapshot(system.spec)
    texts = {id_: text_of(snapshot, id_) for id_ in scores}
    return retriever.name, [(i, texts[i].title, texts[i].text, s) for i, s in scores.items()]
