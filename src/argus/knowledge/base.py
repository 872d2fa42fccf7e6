"""Entities and the knowledge base that holds them with their relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from argus.data.types import Document
from argus.knowledge.relations import RelationGraph


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that documents are about: ARGUS §3.1's `x` with its first paragraph `w_x`."""

    id: str
    label: str
    paragraph: str = ""

    @classmethod
    def from_document(cls, document: Document) -> Entity:
        """Take a document as the paragraph of the entity that its title names."""
        return cls(document.id, document.title, document.text)


@dataclass(frozen=True)
class KnowledgeBase:
    """Entities in a fixed order, and the undirected graph of their relations over that order."""

    entities: Sequence[Entity]
    relations: RelationGraph

    def __post_init__(self) -> None:
        if len(self.entities) != self.relations.n:
            raise ValueError(
                f"{len(self.entities)} entities, but the relation graph was built over "
                f"{self.relations.n}; build it over the same list."
            )

    @cached_property
    def has_text(self) -> npt.NDArray[np.bool_]:
        """Which entities have a paragraph, shape (n,)."""
        return np.array([bool(entity.paragraph.strip()) for entity in self.entities], bool)

    def first(self, limit: int) -> KnowledgeBase:
        """Return the first `limit` entities and the relations among them."""
        keep = np.arange(len(self.entities)) < limit
        return KnowledgeBase(self.entities[:limit], self.relations.restrict(keep))

    @cached_property
    def index(self) -> dict[str, int]:
        """Entity id to its position."""
        return {entity.id: i for i, entity in enumerate(self.entities)}
