"""Exposure: is every document brought back by its own title and its own sentences.

Needs no graph and no questions. Each probe is a known-item search. The lists of other
documents' probes show which documents surface everywhere (hubs) and which never do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.data.types import IntArray
from argus.retrievability.concentration import gini, lorenz, skewness

TITLE, SENTENCE, QUERY = "title", "sentence", "query"
BEYOND = np.iinfo(np.int64).max
"""Rank of a document that is not in a list that ends: deeper than any."""


@dataclass(frozen=True)
class Probes:
    """Searches that were made. One row per query. All arrays have shape (n_queries, ...)."""

    kind: npt.NDArray[np.str_]
    """"title", "sentence", or "query" for a given query that belongs to no document."""
    target: IntArray
    """Row of the document that the probe should bring back. -1 for given queries."""
    text: Sequence[str]
    rank: IntArray
    """1-based rank of the target. 0 where there is none, BEYOND where a retriever's list ends."""
    top: IntArray
    """Rows returned, best first, shape (n_queries, k). -1 after the end, and for strange ids."""


@dataclass(frozen=True)
class FailedProbe:
    """A probe without an answer. target: row of its document, -1 for a query of none."""

    kind: str
    target: int
    reason: str


class Concentration(TypedDict):
    """How unevenly retrievals are spread over documents (see `argus.retrievability.concentration`).

    gini: Gini coefficient, 0 (all alike) to 1.
    skewness: skewness of how often a document comes back.
    lorenz: Lorenz curve, at equal steps of the share of documents.
    """

    gini: float
    skewness: float
    lorenz: list[float]


class Success(TypedDict):
    """How often probes bring their document back. None where there is no probe.

    probes: probes that were asked.
    success_at_1: share that brings its document first. None without probes.
    success_at_k: share that brings it into the top k. None without probes.
    mrr: mean reciprocal rank. None without probes.
    """

    probes: int
    success_at_1: float | None
    success_at_k: float | None
    mrr: float | None


@dataclass(frozen=True)
class Exposure:
    """Figures of n documents from the probes. Arrays have shape (n,)."""

    k: int
    retrieved_by_own: IntArray
    """Own probes that bring the document back within k."""
    own_probes: IntArray
    retrieved_by_others: IntArray
    """Top-k lists of other documents' probes, and of given queries, that hold the document."""
    title_rank: IntArray
    """Rank under its own title, the best of several. 0 where it has none."""
    sentence_rank: npt.NDArray[np.float64]
    """Median rank under its own held-out sentences. NaN where it has none, infinite if BEYOND."""

    @property
    def never(self) -> npt.NDArray[np.bool_]:
        """Documents that no query at all brought back."""
        return np.asarray(self.retrieved_by_own + self.retrieved_by_others == 0)

    def concentration(self) -> Concentration:
        """Return Gini, Lorenz curve and hubness skew of the retrievals by others."""
        counts = self.retrieved_by_others
        return {
            "gini": gini(counts),
            "skewness": skewness(counts),
            "lorenz": lorenz(counts).round(5).tolist(),
        }


def summarise_probes(probes: Probes, n: int, *, k: int) -> Exposure:
    """Count, per document, the probes that brought it back."""
    theirs = (probes.top != probes.target[:, None]) & (probes.top >= 0)  # (n_queries, k)
    others = np.bincount(probes.top[theirs], minlength=n)
    own = probes.target >= 0
    hit = own & (probes.rank <= k)
    title = np.flatnonzero(probes.kind == TITLE)
    title = title[np.argsort(-probes.rank[title], kind="stable")]  # the best of several stays
    title_rank = np.zeros(n, np.int64)
    title_rank[probes.target[title]] = probes.rank[title]
    return Exposure(
        k=k,
        retrieved_by_own=np.bincount(probes.target[hit], minlength=n),
        own_probes=np.bincount(probes.target[own], minlength=n),
        retrieved_by_others=others,
        title_rank=title_rank,
        sentence_rank=_medians(probes, n),
    )


def success(probes: Probes, kind: str, *, k: int) -> Success:
    """Return success@1, success@k and mean reciprocal rank of one kind of probe."""
    ranks = probes.rank[probes.kind == kind]
    if not len(ranks):
        return {"probes": 0, "success_at_1": None, "success_at_k": None, "mrr": None}
    return {
        "probes": len(ranks),
        "success_at_1": float((ranks == 1).mean()),
        "success_at_k": float((ranks <= k).mean()),
        "mrr": float((1 / ranks).mean()),
    }


def displaced_by(probes: Probes, i: int, *, top: int = 3, of: IntArray | None = None) -> list[int]:
    """Return the documents at the head of probe i's list, its target left out.

    of: the group of each document. Those of the target's are left out, and of another's all but
    the first.
    """
    rows = [int(row) for row in probes.top[i] if row not in (probes.target[i], -1)]
    if of is None:
        return rows[:top]
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(int(of[row]), row)
    return [row for group, row in first.items() if group != of[probes.target[i]]][:top]


def _medians(probes: Probes, n: int) -> npt.NDArray[np.float64]:
    rows = np.flatnonzero(probes.kind == SENTENCE)
    out = np.full(n, np.nan)
    if len(rows):
        order = rows[np.argsort(probes.target[rows], kind="stable")]
        owners, starts = np.unique(probes.target[order], return_index=True)
        ranks = np.where(probes.rank == BEYOND, np.inf, probes.rank)[order]
        for owner, own in zip(owners, np.split(ranks, starts[1:]), strict=True):
            out[owner] = np.median(own)
    return out
