"""The records of a remedy in a store.

Each is a vector of length 1 with what it is multiplied by and what is taken off. It scores

    cosine · argus_scale - argus_penalty,

and a document as its best record: any store that groups can serve it. Which vectors these are for
a blend, scenarios and expansions is told by `argus.remedies.writing.mixtures`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from argus.data.types import FloatArray
from argus.indexes.snapshot import Snapshot
from argus.remedies.writing.mixtures import DOCUMENT, Naming, mixtures
from argus.stores.protocol import Payload, Records, WritableStore
from argus.stores.records import ENCODER, KIND, PARENT, PENALTY, REMEDY, SCALE

NOTHING = 1e-6
"""Length below which a mixture points nowhere."""


@dataclass(frozen=True)
class RemedyRecords:
    """What a remedy writes: a row per record, in every field but the first.

    names: what ids are made of; parents: ids of the user's records.
    """

    remedy: str
    names: Sequence[str]
    parents: Sequence[str]
    kinds: Sequence[str]
    vectors: FloatArray
    """(n, dim), unit rows."""
    scales: FloatArray
    penalties: FloatArray
    encoder: str
    """Fingerprint of the one that made the vectors."""

    def __len__(self) -> int:
        return len(self.names)

    def of(self, parents: Mapping[str, str]) -> RemedyRecords:
        """Return the records of some documents, under the ids of their records in a store."""
        rows = [row for row, parent in enumerate(self.parents) if parent in parents]
        return replace(
            self,
            names=[self.names[row] for row in rows],
            parents=[parents[self.parents[row]] for row in rows],
            kinds=[self.kinds[row] for row in rows],
            vectors=self.vectors[rows],
            scales=self.scales[rows],
            penalties=self.penalties[rows],
        )

    def payload(self, row: int, parent: Payload) -> dict[str, object]:
        """Return a record's payload: its parent's, so that the same filters work, and its own."""
        return {
            **parent,
            REMEDY: self.remedy,
            PARENT: self.parents[row],
            KIND: self.kinds[row],
            ENCODER: self.encoder,
            SCALE: float(self.scales[row]),
            PENALTY: float(self.penalties[row]),
        }

    def batches(
        self,
        store: WritableStore,
        payloads: Mapping[str, Payload],
        size: int,
        *,
        weight: int,
        without: Collection[str] = (),
    ) -> Iterator[Records]:
        """Yield records as a store takes them, but for those with ids of `without`.

        payloads: of the parents, by id. size, weight: how many records, and about how many bytes of
        payloads as JSON, are in a batch at most.
        """
        ids = [store.record_id(name) for name in self.names]
        rows = [row for row, id_ in enumerate(ids) if id_ not in without]
        for part in self._parts(rows, payloads, size, weight):
            yield Records(
                [ids[row] for row in part],
                self.vectors[part],
                [self.payload(row, payloads[self.parents[row]]) for row in part],
            )

    def _parts(
        self, rows: Sequence[int], payloads: Mapping[str, Payload], size: int, weight: int
    ) -> Iterator[list[int]]:
        """Yield rows in batches; one whose payload alone is over the weight goes alone."""
        weights: dict[str, int] = {}
        part: list[int] = []
        total = 0
        for row in rows:
            parent = self.parents[row]
            if parent not in weights:
                weights[parent] = len(json.dumps(payloads[parent], default=str))
            if part and (len(part) == size or total + weights[parent] > weight):
                yield part
                part, total = [], 0
            part.append(row)
            total += weights[parent]
        if part:
            yield part


def state_records(remedy: str, snapshot: Snapshot, weight: float, encoder: str) -> RemedyRecords:
    """Return the records of a state of an index; what is left of nothing when mixed is left out.

    weight: λ of its scenarios; encoder: fingerprint of the one that made its vectors.
    """
    mixed = mixtures(snapshot, weight)
    lengths = np.linalg.norm(mixed.vectors, axis=1)
    rows = np.flatnonzero(lengths > NOTHING)
    choices = [mixed.choices[row] for row in rows]
    naming = Naming(snapshot, remedy)
    kinds = [naming.kind(choice) for choice in choices]
    is_document = np.array([kind == DOCUMENT for kind in kinds], bool)
    scales = lengths[rows]
    is_unit = is_document & (np.abs(scales - 1) < 1e-4)  # by rounding alone
    return RemedyRecords(
        remedy,
        [naming.name(choice) for choice in choices],
        [snapshot.doc_ids[document] for document in mixed.documents[rows]],
        kinds,
        np.asarray(mixed.vectors[rows] / scales[:, None], np.float32),
        np.asarray(np.where(is_unit, 1.0, scales), np.float32),
        np.asarray(mixed.penalties[rows], np.float32),
        encoder,
    )
