"""Define the interface of a vector database (store), its records, and the remedies' fields.

`Store`: facts, all records in constant memory, and search by vectors. One module per product
implements it, and `argus.stores.spec` opens one by name. Nothing is copied. `WritableStore` keeps
fields beside vectors, too, so that remedies can write records of their own into another collection
of the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeVar, runtime_checkable

from argus.data.types import FloatArray
from argus.errors import InputError

Payload = Mapping[str, Any]  # a store's own fields: any JSON
Filter = Mapping[str, Any]
"""Field to the value that it must hold, all of them. Values are text, numbers or booleans."""
Hits = list[tuple[str, float]]
"""Ids with the store's own scores, best first."""
Entries = tuple[Sequence[str], Sequence[Payload]]
"""Ids and payloads of some records, without their vectors."""
S = TypeVar("S", bound="WritableStore")

# Marks a collection that Argus made. An empty one may be removed.
MARK = "made by Argus for the records of remedies"


class Metric(StrEnum):
    """Similarity or distance that a store ranks by."""

    COSINE = "cosine"
    DOT = "dot"
    L2 = "l2"


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """A store's description of itself. Counts are of records.

    vector_field: the one that is searched, "" where a store has one without a name. index: such as
    "hnsw (m=16, ef_construct=100)", or "exact". is_exact: a plain search compares every vector.
    """

    records: int
    dim: int
    metric: Metric
    vector_field: str
    index: str
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Records:
    """Some records, in the store's order.

    ids: may repeat, where the store has none of its own and a column is taken for them.
    vectors: (n, dim). A row that has no whole vector is NaN, and `broken` says why by its row.
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

    Every method raises ArgusError where the store refuses or cannot be reached.
    """

    @property
    def name(self) -> str:
        """Its name, without user and password."""

    def describe(self) -> StoreFacts:
        """Return its facts as they are now."""

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all records, `size` at a time, in constant memory."""

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each of (n, dim) vectors, as the store serves them.

        exact: compare every vector, where the store can. Ask `can_search_exactly` first.
        """

    @property
    def can_search_exactly(self) -> bool:
        """Whether `exact` is the store's own. Else it is computed from records that are read."""

    def upsert(self, records: Records) -> None:
        """Write records. Those with known ids replace the ones there."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records. One that is not there is no error, one text in place of ids is."""

    def close(self) -> None:
        """Let go of files and connections."""


@runtime_checkable
class Interruptible(Protocol):
    """A store whose search can be stopped from another thread, where it takes too long."""

    def interrupt(self) -> None:
        """Stop the search that is under way. Where there is none, do nothing."""


@runtime_checkable
class WritableStore(Store, Protocol):
    """A store that keeps payloads, and in which collections can be made and removed."""

    @property
    def collection(self) -> str:
        """The name of this collection or table in the store."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The fields that a record's payload can have, None where it can have any."""

    def record_id(self, name: str) -> str:
        """Return the id that a record of this name has here: the name, or a UUID made of it.

        Raises InputError where ids are whole numbers.
        """

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all records that a filter matches, `size` at a time, without their vectors."""

    def sibling(self: S, name: str) -> S | None:
        """Open another collection of the store, None where there is none.

        It shares this one's connection and is closed with it.
        """

    def make_sibling(self: S, name: str) -> S:
        """Make an empty collection that says MARK, ranked by cosine.

        It has this one's dimension and fields, and FIELDS. Ids are texts where the store has such.
        """

    def drop_sibling(self, name: str) -> bool:
        """Remove a collection, if it says MARK and is empty, and return whether it was removed."""


def writable(store: Store) -> WritableStore:
    """Return a store as one that takes records of remedies. Raises InputError where it cannot."""
    if isinstance(store, WritableStore):
        return store
    raise InputError(
        "a store that holds vectors alone" if store.name.startswith("faiss:") else "this store",
        expected="one that keeps fields beside vectors: Qdrant, Chroma, pgvector, LanceDB, Milvus "
        "or sqlite-vec",
        fix="Build an index (argus index build), repair it (argus tune apply blend --index), and "
        "serve that folder.",
        where=store.name,
    )


def sibling_name(store: str, collection: str) -> str:
    """Return the name of another collection of a store. store: this one's whole name."""
    place, slash, _ = store.rpartition("/")
    return f"{place}{slash}{collection}"


REMEDY, PARENT, KIND = "argus_remedy", "argus_parent", "argus_kind"
SCALE = "argus_scale"
ENCODER = "argus_encoder"  # fingerprint of the encoder of the vector, which has to embed queries
TEXTS = (REMEDY, PARENT, KIND, ENCODER)
# Fields of a remedy's records beside the payload of their parents. Flat, so any store filters.
FIELDS = (*TEXTS, SCALE)
NAN, ZERO = "a value that is no number", "all zeros"


def whole_rows(records: Records, rows: Sequence[int]) -> tuple[list[int], dict[int, str]]:
    """Return the rows that hold vectors to search by, and reasons for the others."""
    import numpy as np

    members = set(rows)
    broken = {row: why for row, why in records.broken.items() if row in members}
    odd = np.flatnonzero(~np.isfinite(records.vectors).all(axis=1))
    zero = np.flatnonzero(~records.vectors.any(axis=1))
    for those, why in ((odd, NAN), (zero, ZERO)):
        broken |= {row: why for row in those.tolist() if row in members and row not in broken}
    return [row for row in rows if row not in broken], broken


def shown_rows(records: Records, matching: Filter | None) -> list[int]:
    """Return the rows that a filter shows. All where there is none."""
    rows = range(len(records.ids))
    return [row for row in rows if not matching or matches(records.payloads[row], matching)]


def matches(payload: Payload, matching: Filter) -> bool:
    """Return whether a payload holds the values of a filter, in a list of values too.

    UUIDs, dates and decimals go by their text.
    """
    return all(
        any(expected in (value, str(value)) for value in values_of(payload, key))
        for key, expected in matching.items()
    )


def values_of(payload: Payload, key: str) -> list[Any]:
    """Return the values of a field, named as it is or by a dotted path into it."""
    value: Any = payload.get(key)
    if value is None and "." in key:
        value = payload
        for name in key.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def is_of_remedy(payload: Payload) -> bool:
    """Return whether a record is a remedy's, and no document of the user's."""
    return bool(payload.get(REMEDY))
