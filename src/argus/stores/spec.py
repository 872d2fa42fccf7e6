"""Stores as they are named on the command line: `KIND:PLACE/COLLECTION`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from argus.errors import InputError

KINDS = ("qdrant", "chroma", "pgvector", "lancedb", "milvus", "faiss", "sqlite-vec")
EXAMPLES = (
    "qdrant:http://127.0.0.1:6333/docs, chroma:FOLDER/docs, "
    "pgvector:postgresql://USER@HOST/DATABASE/TABLE, lancedb:FOLDER/docs, milvus:FILE.db/docs, "
    "faiss:FILE.index, sqlite-vec:FILE.db/TABLE"
)


_USER = re.compile(r"(?<=:)//[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """A store by its name. place: address, folder or file; collection: "" where it is one."""

    kind: str
    place: str
    collection: str

    def __str__(self) -> str:
        """Return the name without user and password."""
        return f"{self.kind}:{shown(self.place)}" + (f"/{self.collection}" * bool(self.collection))


def is_store(text: str) -> bool:
    """Return whether a text names a store: it begins with a kind and a colon."""
    return text.partition(":")[0] in KINDS and ":" in text


def parse_store(text: str) -> StoreSpec:
    """Return kind, place and collection. Raises InputError for what names no store."""
    kind, colon, rest = text.partition(":")
    if kind not in KINDS or not colon or not rest:
        raise InputError(
            f"{shown(text)!r} names no store",
            expected=f"such as {EXAMPLES}",
            fix=f"Begin with one of {', '.join(KINDS)}.",
            where="STORE",
        )
    if kind == "faiss":
        return StoreSpec(kind, rest, "")
    place, slash, collection = rest.rpartition("/")
    if not slash or not place or not collection:
        raise InputError(
            f"{shown(text)!r} names no collection",
            expected=f"such as {EXAMPLES}",
            fix="Write it after the last slash.",
            where="STORE",
        )
    return StoreSpec(kind, place, collection)


def shown(place: str) -> str:
    """Return an address without user and password."""
    return _USER.sub("//", place)
