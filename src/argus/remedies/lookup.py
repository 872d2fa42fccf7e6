"""Find what a reference knowledge base says of an entity (ARGUS §5.2, §D.3 step 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from argus.data.types import Document
from argus.indexes.lexical import LexicalIndex
from argus.knowledge.names import name_key, names_of
from argus.remedies.config import K_AUG


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
    """BM25 over the passages of a knowledge base, and their names.

    Passages without text are never found: a title alone says nothing of what bears it.
    """

    def __init__(self, passages: Sequence[Document], words: LexicalIndex | None = None) -> None:
        """words: an index over the same passages, where there is one."""
        self._passages = {p.id: p for p in passages if p.text.strip()}
        self._words = words

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

    def by_name(self, entities: Sequence[str], k: int = K_AUG) -> list[list[Passage]]:
        """Return the first k passages that bear each surface form as a name.

        For mentions that no finder linked. Names are those that a gazetteer takes, compared as it
        does by default: title, title less a final parenthesis, aliases, in the same case. Raises
        InputError for aliases of another kind.
        """
        return self.by_title([self._bearers.get(name_key(entity), ()) for entity in entities], k)

    @cached_property
    def _lexical(self) -> LexicalIndex:
        """BM25 over the passages; built at the first question where there is none of just these."""
        if self._words is not None and set(self._words.ids) == self._passages.keys():
            return self._words
        texts = [p.content for p in self._passages.values()]
        return LexicalIndex.build(list(self._passages), texts)

    @cached_property
    def _bearers(self) -> dict[str, list[str]]:
        """Each name to the ids of the passages that bear it, in their order."""
        bearers: dict[str, list[str]] = {}
        for passage in self._passages.values():
            for name in dict.fromkeys(map(name_key, names_of(passage))):
                bearers.setdefault(name, []).append(passage.id)
        return bearers
