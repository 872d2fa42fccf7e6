"""Relevance against authority for one query's scores, as CAR defines it (Def. 4, Corollary 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from argus.authority.relation import Authority
from argus.errors import InputError


@dataclass(frozen=True, slots=True)
class Divergence:
    """Distance between the most relevant document of a query and the documents that control it.

    top: d1: the document in force with the highest score, ties by id.
    frontier: F(q) = front(cl({d1})), best score first, ties by id, never empty.
    delta: Δ(q) = s(d1) - max over F(q) of s, at least 0, infinite where nothing of F(q) is scored.
    n_plus: N+(q): documents that score strictly above the best-scoring of F(q), which is c*. From k
    on, controlling-hit@k of a ranking by these scores is 0 (Corollary 1).
    n_plus_all: documents that score strictly above the worst-scoring of F(q). From k on, TCA@k is
    0: it needs all of F(q).
    """

    top: str
    frontier: tuple[str, ...]
    delta: float
    n_plus: int
    n_plus_all: int


def divergence(scores: Mapping[str, float], authority: Authority) -> Divergence:
    """Return Δ(q) and N+(q) of one query's scores (Def. 4, Corollary 1).

    Documents that are not listed stand below all listed ones: where a run was cut above F(q), Δ is
    infinite and N+ is the length of the run, as Corollary 1 needs. A document without a record
    controls itself. Documents that are not in force are left out. Raises InputError where nothing
    is scored.
    """
    there = {i: s for i, s in scores.items() if i not in authority or authority.in_force(i)}
    values = np.array(list(there.values()), np.float64)
    if not there or not np.isfinite(values.max()):
        expected = "a finite score for one document at least"
        fix = "Leave out queries for which nothing was retrieved."
        raise InputError("no document in force is scored", expected=expected, fix=fix)
    best = float(values.max())
    top = min(id_ for id_, score in there.items() if score == best)
    frontier = authority.controlling([top]) if top in authority else [top]
    score = {c: float(there.get(c, -math.inf)) for c in frontier}
    ordered = sorted(frontier, key=lambda c: (-score[c], c))
    above, above_all = (int((values > score[c]).sum()) for c in (ordered[0], ordered[-1]))
    return Divergence(top, tuple(ordered), best - score[ordered[0]], above, above_all)
