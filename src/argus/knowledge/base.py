"""Define an entity with its paragraph, and a knowledge base: entities and their relations.

`argus.knowledge.load` makes a `KnowledgeBase` from a file, a corpus or a built knowledge base.
`argus research audit` and `probe predict` read it. The relations are a graph over the positions of
the entities (`argus.knowledge.relations`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from argus.data.documents import check_limit
from argus.data.types import Document
from argus.knowledge.relations import RelationGraph

BATCH_ROWS = 10_000
WHITE_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))
"""Characters that str.strip removes. Arrow by itself knows other characters as white space."""


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that documents are about: ARGUS §3.1's `x` with its first paragraph `w_x`."""

    id: str
    label: str
    paragraph: str = ""
    embedded: str = ""
    """The text that was embedded, where its vector comes with the corpus."""

    @classmethod
    def from_document(cls, document: Document, *, embedded: bool = False) -> Entity:
        """Take a document as the paragraph of the entity that its title names."""
        content = document.content if embedded else ""
        return cls(document.id, document.title, document.text, content)


class ArrowEntities(Sequence[Entity]):
    """Entities that lie in Arrow columns and are made when they are asked for.

    Millions take the memory of their texts. table: columns id, label, paragraph. Null is empty.
    """

    def __init__(self, table: pa.Table) -> None:
        names = ("id", "label", "paragraph")
        columns = {name: table[name].fill_null("") for name in names}
        self._table = pa.table(columns)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, at: int) -> Entity: ...

    @overload
    def __getitem__(self, at: slice) -> ArrowEntities: ...

    def __getitem__(self, at: int | slice) -> Entity | ArrowEntities:
        if isinstance(at, slice):
            return ArrowEntities(self._table.take(np.arange(len(self))[at]))
        return Entity(*(column[at].as_py() for column in self._table.columns))

    def __iter__(self) -> Iterator[Entity]:
        for batch in self._table.to_batches(max_chunksize=BATCH_ROWS):
            columns = (column.to_pylist() for column in batch.columns)
            yield from map(Entity, *columns)

    @property
    def ids(self) -> list[str]:
        """The ids, in order."""
        ids: list[str] = self._table["id"].to_pylist()
        return ids

    @property
    def has_text(self) -> npt.NDArray[np.bool_]:
        """Mask of entities whose paragraph is more than white space, shape (n,)."""
        paragraphs = self._table.select(["paragraph"]).to_batches(max_chunksize=BATCH_ROWS)
        trimmed = (pc.utf8_trim(batch[0], characters=WHITE_SPACE) for batch in paragraphs)
        parts = [pc.not_equal(part, "").to_numpy(zero_copy_only=False) for part in trimmed]
        return np.concatenate([np.zeros(0, bool), *parts])


@dataclass(frozen=True)
class KnowledgeBase:
    """Entities in a fixed order, and the undirected graph of their relations over that order.

    targets: which entities an audit is about, shape (n,). None where all are. The others are there
    as what they are related to, and as neutrals.
    """

    entities: Sequence[Entity]
    relations: RelationGraph
    targets: npt.NDArray[np.bool_] | None = None

    @cached_property
    def has_text(self) -> npt.NDArray[np.bool_]:
        """Mask of entities with a paragraph, shape (n,)."""
        if isinstance(self.entities, ArrowEntities):
            return self.entities.has_text
        return np.array([bool(entity.paragraph.strip()) for entity in self.entities], bool)

    def first(self, limit: int) -> KnowledgeBase:
        """Return the first `limit` entities and the relations among them."""
        check_limit(limit)
        keep = np.arange(len(self.entities)) < limit
        targets = None if self.targets is None else self.targets[:limit]
        return KnowledgeBase(self.entities[:limit], self.relations.restrict(keep), targets)

    @cached_property
    def is_embedded(self) -> bool:
        """Whether the vectors of entities come with the corpus: nothing of them is pooled here."""
        return not isinstance(self.entities, ArrowEntities) and any(
            entity.embedded for entity in self.entities
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """Entity id to its position."""
        return {id_: i for i, id_ in enumerate(ids_of(self.entities))}


def ids_of(entities: Sequence[Entity]) -> list[str]:
    """Return the ids of entities, in order."""
    if isinstance(entities, ArrowEntities):
        return entities.ids
    return [entity.id for entity in entities]
