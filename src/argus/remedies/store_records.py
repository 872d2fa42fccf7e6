"""Turn a state of an index into records for a vector store.

A record is a unit vector with a scale and a penalty. It scores `cosine · argus_scale -
argus_penalty`, and a document scores as its best record, so any store that groups can serve it.

With o a document's own views, t its sentences and s its scenarios, an index scores in cosines

    μ·(λ·max o + (1-λ)·max(o, t)) + (1-μ)·max s - penalty

(`argus.indexes.fold`, where μ is λ of scenarios). A sum of maxima is the maximum of all sums, and
each of these is the product of the query with one vector, μ·(λ·o + (1-λ)·t) + (1-μ)·s. So every
choice of one view of each kind is a record, and only rounding is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import Snapshot

DOCUMENT = "document"  # kind of the record of a document's own vector
MIN_LENGTH = 1e-6  # a shorter mixture has no direction
NONE = -1  # row of a kind of view that a choice leaves out
Choice = tuple[int, int, int]  # rows of an own view, a sentence and a scenario


@dataclass(frozen=True)
class RemedyRecords:
    """The records of a remedy: one row per record in every field but `remedy` and `encoder`."""

    remedy: str
    names: Sequence[str]  # a store makes ids of them
    parents: Sequence[str]  # ids of the user's records
    kinds: Sequence[str]
    vectors: FloatArray  # (n, dim), unit rows
    scales: FloatArray
    penalties: FloatArray
    encoder: str  # fingerprint of the encoder of the vectors

    def __len__(self) -> int:
        return len(self.names)


def state_records(
    remedy: str,
    snapshot: Snapshot,
    weight: float,
    encoder: str,
    parents: Mapping[str, str] | None = None,
) -> RemedyRecords:
    """Return the records of a state of an index. Mixtures of length 0 are left out.

    weight: λ of its scenarios. encoder: fingerprint of the encoder of its vectors. parents: the id
    of each document's record in a store. Documents without one are left out. None has all, by their
    own ids. A record's name joins the ids of its views, without a document's own view beside
    others, and the remedy.
    """
    parents = {id_: id_ for id_ in snapshot.doc_ids} if parents is None else parents
    layout = snapshot.layout(weight)
    choices: list[Choice] = []
    documents: list[int] = []
    for document in range(len(snapshot)):
        own = list(_choices(snapshot, document, layout.sentence_weight, weight))
        choices += own
        documents += [document] * len(own)
    vectors = _mix(snapshot, choices, layout.sentence_weight, weight)
    lengths = np.linalg.norm(vectors, axis=1)
    of_parents = np.array([snapshot.doc_ids[document] in parents for document in documents], bool)
    rows = np.flatnonzero((lengths > MIN_LENGTH) & of_parents)
    view_ids: list[str] = snapshot.columns["id"].to_pylist()
    view_kinds: list[str] = snapshot.columns["kind"].to_pylist()
    names, kinds = [], []
    for choice in (choices[row] for row in rows):
        views = [row for row in choice if row != NONE]
        kind = view_kinds[views[-1]]
        kinds.append(DOCUMENT if kind == ORIGINAL else kind)
        sides = [row for row in views if view_kinds[row] != ORIGINAL] or views
        name = "+".join(view_ids[row] for row in sides)
        names.append(name if f"#{remedy}" in name else f"{name}#{remedy}")
    scales = lengths[rows]
    is_document = np.array([kind == DOCUMENT for kind in kinds], bool)
    is_unit = is_document & (np.abs(scales - 1) < 1e-4)  # by rounding alone
    of = np.array(documents, np.int64)[rows]
    penalty = np.zeros(len(of)) if layout.penalty is None else layout.penalty[of]
    owners = [parents[snapshot.doc_ids[document]] for document in of]
    unit = np.asarray(vectors[rows] / scales[:, None], np.float32)
    factors = np.asarray(np.where(is_unit, 1.0, scales), np.float32)
    penalties = np.asarray(penalty, np.float32)
    return RemedyRecords(remedy, names, owners, kinds, unit, factors, penalties, encoder)


def _choices(
    snapshot: Snapshot, document: int, of_sentences: float, of_scenarios: float
) -> Iterator[Choice]:
    """Yield the choices that can be a document's best, without those of weight 0."""
    rows = range(int(snapshot.starts[document]), int(snapshot.starts[document + 1]))
    sentences, scenarios = (
        [] if mask is None else [row for row in rows if mask[row]]
        for mask in (snapshot.sentence_rows, snapshot.scenario_rows)
    )
    own = [row for row in rows if row not in {*sentences, *scenarios}]
    bases = [(row, NONE) for row in own]
    if of_sentences < 1 or not bases:
        mixed_with = (own if of_sentences > 0 else own[:1]) or [NONE]
        bases += [(row, sentence) for row in mixed_with for sentence in sentences]
    if not scenarios or (of_scenarios == 1 and bases):
        yield from ((*base, NONE) for base in bases)
        return
    for base in (bases if of_scenarios > 0 else bases[:1]) or [(NONE, NONE)]:
        yield from ((*base, scenario) for scenario in scenarios)


def _mix(
    snapshot: Snapshot, choices: Sequence[Choice], of_sentences: float, of_scenarios: float
) -> FloatArray:
    """Return the mixed vectors of choices, (n_choices, dim), not of unit length.

    A kind that is left out leaves its share to the other.
    """

    def share(first: IntArray, second: IntArray, weight: float) -> np.ndarray:
        return np.where(first == NONE, 0.0, np.where(second == NONE, 1.0, weight))

    own, sentence, scenario = np.array(choices, np.int64).reshape(-1, 3).T
    of_own = share(own, sentence, of_sentences)
    base = share(np.maximum(own, sentence), scenario, of_scenarios)
    out: FloatArray = np.zeros((len(choices), snapshot.dim), np.float32)
    shares = ((own, base * of_own), (sentence, base * (1 - of_own)), (scenario, 1 - base))
    for rows, factor in shares:
        there = rows != NONE
        out[there] += factor[there, None].astype(np.float32) * snapshot.vectors[rows[there]]
    return out
