"""Values as PostgreSQL takes them: vectors as numbers, and what a column of JSON holds.

Sent as text, the vectors of 10,000 records took ten times as long to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from argus.data.types import FloatArray

if TYPE_CHECKING:
    import psycopg


class SentVector(bytes):
    """A vector as pgvector's `vector_recv` takes it: its length, two unused bytes, numbers."""


def sent(vector: FloatArray, numbers: str) -> SentVector:
    """Return a vector to write. numbers: their type, big-endian."""
    return SentVector(len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(numbers).tobytes())


def register_vectors(connection: psycopg.Connection[Any], kind: str) -> None:
    """Have a connection send vectors as the type `kind` (vector or halfvec), in binary."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    row = connection.execute("SELECT to_regtype(%s)::oid", [kind]).fetchone()

    class VectorDumper(Dumper):
        format = Format.BINARY
        oid = row[0] if row and row[0] else 0

        def dump(self, obj: SentVector) -> bytes:
            return bytes(obj)

    connection.adapters.register_dumper(SentVector, VectorDumper)


@contextmanager
def prepared(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Have statements prepared for a while: writing many rows takes half as long.

    Searches never are: a plan that is kept no longer hears of `enable_indexscan`.
    """
    before, connection.prepare_threshold = connection.prepare_threshold, 0
    try:
        yield
    finally:
        connection.prepare_threshold = before


def as_column(value: Any, kind: str) -> Any:
    """Return a payload's value for a column of a type: what JSON holds is told from an array."""
    if value is not None and kind in ("json[]", "jsonb[]"):
        return [as_column(part, kind[:-2]) for part in value]
    if value is None or kind not in ("json", "jsonb"):
        return value
    from psycopg.types.json import Json, Jsonb

    return (Jsonb if kind == "jsonb" else Json)(value)
