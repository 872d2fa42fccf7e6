"""What remedies say of the search of an index beyond its views, as `index.json` holds it.

The numbers of a blend or a correction lie in `remedies/ID/` (`argus.indexes.prescribed`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.reading import record_of
from argus.indexes.blend import Blend
from argus.indexes.weighing import check_weight

REMEDIES = "remedies"
"""Folder of an index that keeps, by remedy, how its views came about, and its recipe's numbers."""


class BlendRecord(TypedDict):
    """The fields of a `Blend`.

    weight: weight λ of a document's own vector against its best sentence.
    hubs: how much of a document's hubness is taken off its score; 0: nothing.
    bm25: what BM25 counts against the vectors; 0: nothing.
    smoothing: how much of its nearest documents is added to a document; 0: nothing.
    """

    weight: float
    hubs: float
    bm25: float
    smoothing: float


class RecipeRecord(TypedDict):
    """A recipe in index.json."""

    remedy: str
    added: int
    blend: NotRequired[BlendRecord]
    corrects: NotRequired[bool]
    weight: NotRequired[float]
    relied_on: NotRequired[list[str]]


@dataclass(frozen=True)
class Recipe:
    """What one remedy says of the search. added: number of the state as of which it counts."""

    remedy: str
    added: int
    blend: Blend | None = None
    corrects: bool = False
    """Whether it has a correction of queries."""
    weight: float | None = None
    """λ of documents against their scenarios; None where it says nothing of it."""
    relied_on: tuple[str, ...] = ()
    """Remedies that hold sentences of its blend."""

    def record(self) -> RecipeRecord:
        """Return it as it stands in index.json."""
        record: RecipeRecord = {"remedy": self.remedy, "added": self.added}
        if self.blend is not None:
            record["blend"] = record_of(BlendRecord, self.blend)
        if self.corrects:
            record["corrects"] = True
        if self.weight is not None:
            record["weight"] = self.weight
        if self.relied_on:
            record["relied_on"] = list(self.relied_on)
        return record

    @classmethod
    def of(cls, record: RecipeRecord) -> Recipe:
        """Return a recipe from its record; InputError for a weight that none has."""
        blend, weight = record.get("blend"), record.get("weight")
        return cls(
            record["remedy"], record["added"],
            None if blend is None else Blend(**blend), record.get("corrects", False),
            None if weight is None else check_weight(weight),
            tuple(record.get("relied_on", ())),
        )  # fmt: skip
