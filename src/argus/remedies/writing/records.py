"""The records of a remedy in a store.

With d a document's vector and t that of one of its sentences, a blend scores a document by the
best of `q·d` and `λ·(q·d) + (1-λ)·(q·t)`, less β·r(d) (`argus.indexes.blend`). The latter is `q·m`
with m = λ·d + (1-λ)·t, so each sentence is one record whose vector is m at length 1, with its
length as scale, and each document one more with its own vector. A record scores

    cosine · argus_scale - argus_penalty,

and a document as its best record: any store that groups can serve it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.types import FloatArray, IntArray, View
from argus.stores.protocol import Payload, Records
from argus.stores.writable import ENCODER, KIND, PARENT, PENALTY, REMEDY, SCALE, WritableStore

DOCUMENT = "document"
"""Kind of the record that stands for a document's own vector."""
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


def blend_records(
    remedy: str,
    ids: Sequence[str],
    documents: FloatArray,
    penalties: FloatArray,
    views: Sequence[View],
    sentences: FloatArray,
    weight: float,
    encoder: str,
) -> RemedyRecords:
    """Return the records of a blend.

    ids, documents (n, dim), penalties (n,): of the documents; views, sentences (m, dim): of their
    sentences; weight: λ; encoder: its fingerprint. A sentence that points against its
    document, so that nothing is left of both, is left out.
    """
    place = {doc: row for row, doc in enumerate(ids)}
    owner: IntArray = np.array([place[view.doc_id] for view in views], np.int64)
    mixed = weight * documents[owner] + (1 - weight) * sentences
    lengths = np.linalg.norm(mixed, axis=1)
    rows = np.flatnonzero(lengths > NOTHING).tolist()
    own = np.linalg.norm(documents, axis=1)
    scales = np.concatenate([_lengths(own), lengths[rows]])
    whole = np.concatenate([documents / own[:, None], mixed[rows] / lengths[rows, None]])
    return RemedyRecords(
        remedy,
        [f"{doc}#{remedy}" for doc in ids] + [views[row].id for row in rows],
        [*ids, *(views[row].doc_id for row in rows)],
        [DOCUMENT] * len(ids) + [views[row].kind for row in rows],
        np.asarray(whole, np.float32),
        np.asarray(scales, np.float32),
        np.asarray(np.concatenate([penalties, penalties[owner[rows]]]), np.float32),
        encoder,
    )


def _lengths(norms: FloatArray) -> FloatArray:
    """Return lengths of documents' vectors: 1 where only rounding says otherwise."""
    return np.asarray(np.where(np.abs(norms - 1) < 1e-4, 1.0, norms), np.float32)
