"""How far a corpus holds the words of a question, and which document holds most of them."""

from __future__ import annotations

from collections.abc import Sequence

from argus.data.types import Document
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import STEMMED
from argus.progress import progress
from argus.traffic.questions.sample import LookedAt


def measure_support(questions: Sequence[LookedAt], documents: Sequence[Document]) -> bool:
    """Fill in support and nearest document of each question; return whether there was a corpus."""
    asking = [one for one in questions if one.text is not None]
    if not documents or not asking:
        return False
    only = frozenset(word for one in asking for word in STEMMED.queries(one.text or ""))
    index = LexicalIndex.build(
        [d.id for d in documents], [d.content for d in documents], STEMMED, only=only
    )
    with progress("looking up words", len(asking)) as advance:
        for one in asking:
            hits = index.search([one.text or ""], 1)
            one.support = min(1.0, hits.coverage[0])
            one.nearest = hits.ids[0][0] if hits.ids[0] else None
            advance(1)
    return True
