"""A few documents, and a search by shared words that every retriever here is made of."""

from __future__ import annotations

import pytest

from argus.data.types import Document

DOCUMENTS = [
    Document("tea", "Tea is made of leaves and hot water.", "Tea"),
    Document("coffee", "Coffee is made of roasted beans and hot water.", "Coffee"),
    Document("ska", "Ska came from Jamaica, before reggae.", "Ska"),
]


def by_words(query: str, k: int) -> list[tuple[str, float]]:
    """Return ids with the number of words that they share with a query, best first."""
    words = set(query.lower().split())
    counts = [(d.id, float(len(words & set(d.content.lower().split())))) for d in DOCUMENTS]
    return sorted(counts, key=lambda pair: -pair[1])[:k]


@pytest.fixture
def documents() -> list[Document]:
    return list(DOCUMENTS)
