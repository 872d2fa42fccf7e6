"""What every vector store can do here, and what is known of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from argus.data.types import FloatArray

Payload = Mapping[str, Any]  # a store's own fields: any JSON
Filter = Mapping[str, Any]
"""Field to the value that it must hold, all of them; values are text, numbers or booleans."""
Hits = list[tuple[str, float]]
"""Ids with the store's own scores, best first."""


class Metric(StrEnum):
    """By what a store ranks."""

    COSINE = "cosine"
    DOT = "dot"
    L2 = "l2"


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What a store says of itself. Counts are of records."""

    records: int
    dim: int
    metric: Metric
    vector_field: str
    """The field that is searched; "" where a store has one without a name."""
    vector_fields: tuple[str, ...]
    index: str
    """How it searches, such as "hnsw (m=16, ef_construct=100)", or "exact"."""
    is_exact: bool
    """Whether a plain search compares every vector already."""


@dataclass(frozen=True, slots=True)
class Records:
    """Some records, in the store's order.

    ids: may repeat, where the store has none of its own and a column is taken for them.
    vectors: (n, dim); a row that has no whole vector is NaN, and `broken` says why by its row.
    """

    ids: Sequence[str]
    vectors: FloatArray
    payloads: Sequence[Payload]
    broken: Mapping[int, str] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[str, FloatArray, Payload]]:
        """Yield id, vector and payload of each."""
        return zip(self.ids, self.vectors, self.payloads, strict=True)


class Store(Protocol):
    """One collection, table or index of vectors. Ids are text here, whatever they are there.

    Every method raises ArgusError for what the store refuses or where it cannot be reached.
    """

    @property
    def name(self) -> str:
        """How a person names it, without user and password."""

    def describe(self) -> StoreFacts:
        """Return what is known of it now."""

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all records, `size` at a time, in constant memory."""

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each of (n, dim) vectors, as the store serves them.

        exact: compare every vector, where the store can; ask `can_search_exactly` first.
        """

    @property
    def can_search_exactly(self) -> bool:
        """Whether `exact` is the store's own; else it is computed from what is read."""

    def upsert(self, records: Records) -> None:
        """Write records, those with known ids in the place of what is there."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records; one that is not there is no error, one text in place of ids is."""

    def close(self) -> None:
        """Let go of files and connections."""


@runtime_checkable
class Interruptible(Protocol):
    """A store whose search can be stopped from another thread, where it takes too long."""

    def interrupt(self) -> None:
        """Stop the search that is under way; where there is none, do nothing."""
