"""The receipt of a repair: what every repaired document gained, and who paid for it.

The repaired documents are asked for by their own risk queries: the names of their entities at risk.
Before and after are two states of one index, ranked exactly over all documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.indexes.snapshot import Snapshot
from argus.remedies.diagnose import Risk


@dataclass(frozen=True)
class Receipt:
    """Ranks of the repaired documents for their risk queries. Arrays have shape (n_risks,)."""

    risks: Sequence[Risk]
    before: IntArray
    """1-based rank of the document when it is asked for by the entity's name."""
    after: IntArray
    k: int
    fell: Mapping[str, int]
    """Document to the number of risk queries in whose top k it was before, and is no longer."""
    rose: Mapping[str, int]
    """Document to the number of risk queries into whose top k it came."""

    @property
    def recovered(self) -> IntArray:
        """Positions of the entities whose document came into the top k."""
        return np.flatnonzero((self.before > self.k) & (self.after <= self.k))

    @property
    def lost(self) -> IntArray:
        """Positions of the entities whose own document fell out of the top k."""
        return np.flatnonzero((self.before <= self.k) & (self.after > self.k))

    def found(self, ranks: IntArray) -> float | None:
        """Return the share of risk queries that bring their document into the top k."""
        return float((ranks <= self.k).mean()) if len(ranks) else None


def write_receipt(
    risks: Sequence[Risk],
    names: Mapping[str, FloatArray],
    before: Snapshot,
    after: Snapshot,
    *,
    k: int = 10,
) -> Receipt:
    """Ask both states for every (document, entity) at risk by the entity's name.

    names: entity to its vector as a query, shape (dim,). A document counts as fallen once per
    query, however many documents asked it. Raises InputError for a document that is not indexed.
    """
    risks = [risk for risk in risks if risk.entity in names]
    if not risks:
        empty = np.zeros(0, np.int64)
        return Receipt([], empty, empty, k, {}, {})
    queries = np.stack([names[risk.entity] for risk in risks])
    targets = [risk.doc_id for risk in risks]
    asked = list(dict.fromkeys(risk.entity for risk in risks))
    distinct = np.stack([names[entity] for entity in asked])
    fell: Counter[str] = Counter()
    rose: Counter[str] = Counter()
    lists = zip(before.search(distinct, k).doc_ids, after.search(distinct, k).doc_ids, strict=True)
    for earlier, later in lists:
        fell.update(set(earlier) - set(later))
        rose.update(set(later) - set(earlier))
    return Receipt(
        risks, before.ranks(queries, targets), after.ranks(queries, targets), k, fell, rose
    )
