"""Find what a reference knowledge base says of an entity (ARGUS §5.2, §D.3 step 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.data.types import Document
from argus.indexes.lexical import LexicalIndex

K_AUG = 2
"""Passages per entity, k_Aug of ARGUS §5.2."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of the knowledge base that was looked up for an entity."""

    document: Document
    linked: bool
    """Whether it bears the entity's name (title or alias); else BM25 found it."""

    @property
    def id(self) -> str:
        """Id in the knowledge base."""
        return self.document.id


class PassageLookup:
    """BM25 over the passages of a knowledge base, and their names."""

    def __init__(self, passages: Sequence[Document]) -> None:
        self._passages = {p.id: p for p in passages if p.content.strip()}
        self._lexical = LexicalIndex.build(
            list(self._passages), [p.content for p in self._passages.values()]
        )

    def by_words(self, entities: Sequence[str], k: int = K_AUG) -> list[list[Passage]]:
        """Return the k best passages for each surface form, by BM25 (ARGUS §D.3)."""
        hits = self._lexical.search(entities, k)
        return [[Passage(self._passages[i], False) for i in ids] for ids in hits.ids]

    def by_title(self, entity_ids: Sequence[Sequence[str]], k: int = K_AUG) -> list[list[Passage]]:
        """Return the first k passages that bear each entity's name: what the gazetteer linked."""
        return [
            [Passage(self._passages[i], True) for i in ids if i in self._passages][:k]
            for ids in entity_ids
        ]
