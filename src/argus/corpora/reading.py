"""The records of a store as documents, read once, in the store's order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.corpora.payloads import Payloads
from argus.data.corpus import whole_documents
from argus.data.fields import FieldNames
from argus.data.provenance import content_hash
from argus.data.types import Document, FloatArray
from argus.errors import InputError
from argus.progress import progress
from argus.stores.protocol import Records, Store, StoreFacts
from argus.stores.vectors import whole_rows
from argus.stores.writable import is_of_remedy

READ = 1_000
"""Records that are read at once."""


@dataclass(frozen=True)
class Reading:
    """What was read. Arrays have a row per document."""

    name: str
    facts: StoreFacts
    expected: int
    """As many records as it said that there are, or as were wanted."""
    documents: list[Document]
    vectors: FloatArray | None
    """Unit rows, all zeros where there is no whole vector; None where they are not wanted."""
    norms: npt.NDArray[np.float32]
    """Lengths of the vectors as they are; 0 where there is no whole one."""
    broken: dict[int, str]
    """Row to why it has no vector to be found by."""
    sha256: str
    """Of ids, titles, texts and vectors, whatever order they are read in."""

    @property
    def shortest(self) -> float | None:
        """The least norm of a whole vector; None where there is none."""
        return round(float(self.norms[self.norms > 0].min()), 4) if self.norms.any() else None

    @property
    def longest(self) -> float | None:
        """The greatest."""
        return round(float(self.norms.max()), 4) if self.norms.any() else None


def read_store(
    store: Store, fields: FieldNames, limit: int | None = None, *, with_vectors: bool = True
) -> Reading:
    """Read the first `limit` records, or all of them, a page at a time.

    Records that a remedy wrote among them are no documents. Raises InputError for records without
    texts, of ids that repeat, and for a store that changes while it is read.
    """
    facts = store.describe()
    gathered = _Gathered(Payloads(fields, store.name), facts, limit, with_vectors=with_vectors)
    with progress(f"reading {store.name}", gathered.expected) as advance:
        for records in store.iterate(READ):
            gathered.add(records)
            advance(len(records.ids))
            if gathered.is_full:
                break
    after = store.describe().records
    if after != facts.records:
        raise InputError(
            f"it held {facts.records:,} records before it was read, and {after:,} after",
            expected="a store that stays as it is while it is read",
            fix="Run this again when nothing is written to it.",
            where=store.name,
        )
    return gathered.reading()


def without_remedies(records: Records) -> Records:
    """Return the records that no remedy wrote."""
    rows = [i for i, payload in enumerate(records.payloads) if not is_of_remedy(payload)]
    if len(rows) == len(records.ids):
        return records
    broken = {new: records.broken[row] for new, row in enumerate(rows) if row in records.broken}
    ids, payloads = [records.ids[i] for i in rows], [records.payloads[i] for i in rows]
    return Records(ids, records.vectors[rows], payloads, broken)


class _Gathered:
    """Records as they come, until the limit."""

    def __init__(
        self, payloads: Payloads, facts: StoreFacts, limit: int | None, *, with_vectors: bool
    ) -> None:
        self._payloads, self._facts, self._limit = payloads, facts, limit
        self.expected = min(facts.records, limit or facts.records)
        size = self.expected if with_vectors else 0
        self._vectors = np.zeros((size, facts.dim), np.float32)
        self._with_vectors = with_vectors
        self._of_remedies = 0
        self._documents: list[Document] = []
        self._hashes: list[bytes] = []
        self._norms: list[npt.NDArray[np.float32]] = []
        self._broken: dict[int, str] = {}

    @property
    def is_full(self) -> bool:
        """Whether as many were read as are wanted."""
        return self._limit is not None and len(self._documents) >= self._limit

    def add(self, records: Records) -> None:
        """Take a page."""
        whole, records = records, without_remedies(records)
        self._of_remedies += len(whole.ids) - len(records.ids)
        n = len(records.ids)
        if self._limit is not None:
            n = min(n, self._limit - len(self._documents))
        if not self._documents:
            self._payloads.refuse_textless(records.payloads[:n])
        first = len(self._documents)
        for id_, vector, payload in list(records.rows())[:n]:
            document = self._payloads.document(id_, payload)
            self._documents.append(document)
            parts = (document.id, document.title, document.text, vector.tobytes())
            self._hashes.append(content_hash(*parts))
        self._keep(records, n, first)

    def _keep(self, records: Records, n: int, first: int) -> None:
        """Keep the vectors of a page, scaled to length 1, and which of them are broken."""
        rows, broken = whole_rows(records, range(n))
        self._broken |= {first + row: why for row, why in broken.items()}
        norms = np.zeros(n, np.float32)
        norms[rows] = np.linalg.norm(records.vectors[rows], axis=1)
        self._norms.append(norms)
        if not self._with_vectors:
            return
        if first + n > len(self._vectors):  # more than it said before
            more = np.zeros((first + n, self._vectors.shape[1]), np.float32)
            more[:first] = self._vectors[:first]
            self._vectors = more
        places = np.array(rows, np.int64)
        self._vectors[first + places] = records.vectors[rows] / norms[rows, None]

    def reading(self) -> Reading:
        """Return all of them; InputError where there is none, or an id stands twice."""
        name, n = self._payloads.store, len(self._documents)
        if not n:
            raise InputError(
                "no record in it", expected="at least one",
                fix="Check the collection's name.", where=name,
            )  # fmt: skip
        repeated = n - len({document.id for document in self._documents})
        if repeated:
            raise InputError(
                f"{repeated:,} of {n:,} records have an id that another has",
                expected="one record per id",
                fix="Name the field of the records' own ids (--store-id, --id-field); or run this "
                "again when nothing is written to the store.",
                where=name,
            )
        expected = min(self._facts.records - self._of_remedies, self.expected)
        return Reading(
            name, self._facts, expected, list(whole_documents(tuple(self._documents))),
            self._vectors[:n] if self._with_vectors else None,
            np.concatenate(self._norms), self._broken,
            hashlib.sha256(b"".join(sorted(self._hashes))).hexdigest(),
        )  # fmt: skip
