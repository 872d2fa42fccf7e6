"""The receipt of a repair: what every document at risk gained, and who paid for it.

Documents at risk, repaired or not, are asked for by their risk queries: the names of their
entities at risk. Before and after are two states of one index, ranked exactly over all documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.indexes.snapshot import Snapshot
from argus.remedies.diagnosis.diagnose import Risk
from argus.settings import TOP_K


@dataclass(frozen=True)
class Receipt:
    """Ranks of all documents at risk for their risk queries. Arrays have shape (n_risks,)."""

    risks: Sequence[Risk]
    asked: npt.NDArray[np.bool_]
    """Whether the entity's name has a vector to ask by; else the risk query failed."""
    before: IntArray
    """1-based rank of the document when it is asked for by the entity's name; 0 if not asked."""
    after: IntArray
    k: int
    fell: Mapping[str, int]
    """Document to the number of risk queries in whose top k it was before, and is no longer."""
    rose: Mapping[str, int]
    """Document to the number of risk queries into whose top k it came."""

    @property
    def recovered(self) -> IntArray:
        """Positions of the entities whose document came into the top k."""
        return np.flatnonzero(self.asked & (self.before > self.k) & (self.after <= self.k))

    @property
    def lost(self) -> IntArray:
        """Positions of the entities whose own document fell out of the top k."""
        return np.flatnonzero(self.asked & (self.before <= self.k) & (self.after > self.k))

    def of(self, mask: npt.NDArray[np.bool_]) -> Receipt:
        """Return the receipt of some of the entities; mask: (n_risks,)."""
        risks = [risk for risk, inside in zip(self.risks, mask, strict=True) if inside]
        return replace(
            self, risks=risks, asked=self.asked[mask], before=self.before[mask],
            after=self.after[mask],
        )  # fmt: skip

    def share_in_top(self, ranks: IntArray) -> float | None:
        """Return the share of risk queries asked that bring their document into the top k."""
        return float((ranks[self.asked] <= self.k).mean()) if self.asked.any() else None


def write_receipt(
    risks: Sequence[Risk],
    names: Mapping[str, FloatArray],
    before: Snapshot,
    after: Snapshot,
    *,
    k: int = TOP_K,
) -> Receipt:
    """Ask both states for every (document, entity) at risk by the entity's name.

    names: entity to its vector as a query, shape (dim,); an entity without one stays in the receipt
    as not asked. A document counts as fallen once per query, however many documents asked it.
    Raises InputError for a document that is not indexed.
    """
    with_vector = np.array([risk.entity in names for risk in risks], bool)
    ranks = np.zeros((2, len(risks)), np.int64)
    if not with_vector.any():
        return Receipt(risks, with_vector, ranks[0], ranks[1], k, {}, {})
    askable = [risk for risk in risks if risk.entity in names]
    queries = np.stack([names[risk.entity] for risk in askable])
    targets = [risk.doc_id for risk in askable]
    distinct = np.stack([names[entity] for entity in dict.fromkeys(r.entity for r in askable)])
    fell: Counter[str] = Counter()
    rose: Counter[str] = Counter()
    lists = zip(before.search(distinct, k).doc_ids, after.search(distinct, k).doc_ids, strict=True)
    for earlier, later in lists:
        fell.update(set(earlier) - set(later))
        rose.update(set(later) - set(earlier))
    ranks[:, with_vector] = before.ranks(queries, targets), after.ranks(queries, targets)
    return Receipt(risks, with_vector, ranks[0], ranks[1], k, fell, rose)
