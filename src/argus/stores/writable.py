"""Stores in which remedies keep records of their own, in a collection beside the user's."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from argus.errors import InputError
from argus.stores.protocol import Filter, Payload, Store

S = TypeVar("S", bound="WritableStore")
REMEDY, PARENT, KIND = "argus_remedy", "argus_parent", "argus_kind"
SCALE, PENALTY = "argus_scale", "argus_penalty"
ENCODER = "argus_encoder"
"""Fingerprint of the encoder that made the vector, and has to embed queries."""
TEXTS, NUMBERS = (REMEDY, PARENT, KIND, ENCODER), (SCALE, PENALTY)
FIELDS = (*TEXTS, *NUMBERS)
"""What a remedy's records say beside the payload of their parents; flat, so that any store takes
and filters them."""
MARK = "made by Argus for the records of remedies"
"""How a collection says that Argus made it: one that is empty and says so may be removed."""
Entries = tuple[Sequence[str], Sequence[Payload]]
"""Ids and payloads of some records, without their vectors."""


@runtime_checkable
class WritableStore(Store, Protocol):
    """A store that keeps payloads, and in which collections can be made and removed."""

    @property
    def collection(self) -> str:
        """The name of this collection or table in the store."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The fields that a record's payload can have; None where it can have any."""

    def record_id(self, name: str) -> str:
        """Return the id that a record of this name has here: the name, or a UUID made of it.

        Raises InputError where ids are whole numbers.
        """

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all records that a filter matches, `size` at a time, without their vectors."""

    def sibling(self: S, name: str) -> S | None:
        """Open another collection of the store; None where there is none.

        It shares this one's connection and is closed with it.
        """

    def make_sibling(self: S, name: str) -> S:
        """Make an empty collection that says MARK, ranked by cosine.

        It has this one's dimension and fields, and FIELDS; ids are texts where the store has such.
        """

    def drop_sibling(self, name: str) -> bool:
        """Remove a collection, if it says MARK and is empty; return whether it was removed."""


def writable(store: Store) -> WritableStore:
    """Return a store as one that takes records of remedies; InputError where it cannot."""
    if isinstance(store, WritableStore):
        return store
    raise InputError(
        "a store that holds vectors alone" if store.name.startswith("faiss:") else "this store",
        expected="one that keeps fields beside vectors: Qdrant, Chroma, pgvector, LanceDB, Milvus "
        "or sqlite-vec",
        fix="Build an index (argus index build), repair it (argus remedy blend --index), and "
        "serve that folder.",
        where=store.name,
    )


def sibling_name(store: str, collection: str) -> str:
    """Return how a person names another collection of a store. store: this one's whole name."""
    place, slash, _ = store.rpartition("/")
    return f"{place}{slash}{collection}"


def uuid_of(name: str) -> str:
    """Return the id of a record where ids are UUIDs: always the same of a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def numbers_refused(store: str) -> InputError:
    """Return what is raised where the ids of a collection are whole numbers."""
    return InputError(
        "its ids are whole numbers",
        expected="a collection whose ids are texts or UUIDs, for the records of a remedy",
        fix="Leave --into out: Argus makes a collection of its own.",
        where=store,
    )


def is_of_remedy(payload: Mapping[str, object]) -> bool:
    """Return whether a record is a remedy's, and no document of the user's."""
    return bool(payload.get(REMEDY))
