"""The records as a retriever is given them that asks for the corpus (CAR Appendix D)."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import TypedDict

from argus.authority.records import Record


class CorpusDocument(TypedDict):
    """A document as a retriever is given it. Other metadata is kept back: it may tell the gold."""

    doc_id: str
    _id: str
    """The same."""
    type: str
    event_type: str
    """The same as the type, as CAR's own retrievers call it."""
    timestamp: str | None
    entities: dict[str, str | list[str]]
    title: str
    text: str


def corpus_of(records: Iterable[Record]) -> list[CorpusDocument]:
    """Return the corpus as a retriever is given it, ordered by id."""
    return [
        {
            "doc_id": r.id,
            "_id": r.id,
            "type": r.type,
            "event_type": r.type,
            "timestamp": None if r.time is None else str(r.time),
            "entities": {key: _plain(value) for key, value in r.scope.items()},
            "title": r.title,
            "text": r.text,
        }
        for r in sorted(records, key=lambda r: r.id)
    ]


def _plain(value: str | tuple[str, ...]) -> str | list[str]:
    return value if isinstance(value, str) else list(value)
