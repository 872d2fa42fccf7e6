"""What CAR measures of one query, from scores and the authority relation (sections 2, 3.1, 3.7).

Divergence of relevance from authority (Def. 4, Corollary 1) and ambiguity of scope (Def. 5,
Proposition 2); the factors of TCA (Proposition 1) are counted in `benchmarks.metrics`. Where the
printed statement leaves a case open, the docstring says what is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.authority.entities import Entity, EntityIndex
from argus.authority.relation import Authority
from argus.errors import InputError

Scores = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Divergence:
    """How far what is relevant to one query is from what controls it."""

    top: str
    """d1: the document in force with the highest score, ties by id."""
    frontier: tuple[str, ...]
    """F(q) = front(cl({d1})), best score first, ties by id; never empty."""
    delta: float
    """Δ(q) = s(d1) - max over F(q) of s, at least 0; infinite where nothing of F(q) is scored."""
    n_plus: int
    """N+(q): documents that score strictly above the best-scoring of F(q)."""
    n_plus_all: int
    """Documents that score strictly above the worst-scoring of F(q): TCA needs all of F(q)."""

    @property
    def controlling(self) -> str:
        """c*: the best-scoring of the documents that control d1."""
        return self.frontier[0]

    def excludes_hit(self, k: int) -> bool:
        """Return whether Corollary 1 rules out controlling-hit@k of a ranking by these scores."""
        return self.n_plus >= _at_least_one(k)

    def excludes_tca(self, k: int) -> bool:
        """Return whether these scores rule out TCA@k: a document of F(q) is past the first k."""
        return self.n_plus_all >= _at_least_one(k)


def divergence(
    scores: Mapping[str, float],
    authority: Authority,
    *,
    absent: float = -math.inf,
    theta: float = 0.0,
) -> Divergence:
    """Return Δ(q) and N+(q) of one query's scores (Def. 4, Corollary 1).

    absent: score of the documents that are not listed, at most the lowest that is. By default they
    stand below all that are: where a run was cut above F(q), Δ is infinite and N+ its length, which
    is what Corollary 1 needs of that run. Give 0.0 for BM25 runs, which list scores above 0.
    Documents without record are controlled by themselves; what is not in force is left out.
    Raises InputError where nothing is scored, and for scores that are no numbers.
    """
    ids = [id_ for id_ in scores if _counts(id_, authority)]
    values = np.fromiter((scores[id_] for id_ in ids), np.float64, len(ids))
    return _divergence(values, ids, {id_: i for i, id_ in enumerate(ids)}, authority, absent, theta)


def divergences(
    rows: Iterable[Scores], ids: Sequence[str], authority: Authority, *, theta: float = 0.0
) -> Iterator[Divergence]:
    """Yield Δ(q) and N+(q) per query from scores of a whole corpus, one row after the other.

    rows: each of shape (len(ids),), in the order of `ids`. Otherwise as `divergence`; documents of
    F(q) that are not among `ids` cannot be retrieved and stand below all that are.
    """
    numbers = [i for i, id_ in enumerate(ids) if _counts(id_, authority)]
    names = [ids[i] for i in numbers]
    position = {id_: i for i, id_ in enumerate(names)}
    columns = np.array(numbers, np.int64)
    for row in rows:
        if row.shape != (len(ids),):
            raise InputError(
                f"scores of shape {row.shape}",
                expected=f"({len(ids)},), one score per document",
                fix="Give the ids in the order of the scores.",
            )
        yield _divergence(row[columns], names, position, authority, -math.inf, theta)


def _divergence(
    values: Scores,
    ids: Sequence[str],
    position: Mapping[str, int],
    authority: Authority,
    absent: float,
    theta: float,
) -> Divergence:
    """Return Δ and N+ for values aligned with ids; position: id -> index into both."""
    _check_scores(values, absent)
    best = float(values.max())
    top = min(ids[i] for i in np.flatnonzero(values == best).tolist())
    frontier = authority.controlling([top], theta) if top in authority else [top]
    score = {c: float(values[position[c]]) if c in position else absent for c in frontier}
    ordered = sorted(frontier, key=lambda c: (-score[c], c))
    above, above_all = (int((values > score[c]).sum()) for c in (ordered[0], ordered[-1]))
    return Divergence(top, tuple(ordered), best - score[ordered[0]], above, above_all)


def _check_scores(values: Scores, absent: float) -> None:
    if not len(values):
        raise InputError(
            "no document in force is scored",
            expected="a score for one document at least",
            fix="Leave out queries for which nothing was retrieved.",
        )
    if np.isnan(values).any() or math.isnan(absent) or not np.isfinite(values.max()):
        raise InputError(
            "a score that is no number, or a highest score that is infinite",
            expected="finite scores",
            fix="Look at what the retriever computes for this query.",
        )
    if absent > values.min():
        raise InputError(
            f"absent={absent}, above the lowest score {values.min()}",
            expected="documents that are not listed to score no higher than those that are",
            fix="List them, or leave `absent` out.",
        )


@dataclass(frozen=True, slots=True)
class ScopeAmbiguity:
    """How many documents share a query's scope for each that its anchors' chains hold (Def. 5)."""

    documents: int
    """|D_σ(q)|."""
    closure: int
    """|cl(A(q))|."""

    @property
    def kappa(self) -> float:
        """κ(q) = |D_σ(q)| / |cl(A(q))|, infinite without anchors.

        At least 1 where D_σ holds the closure, as the paper has it; less where a chain leaves the
        scope, as it may where scopes have several keys or the query names another scope.
        """
        return self.documents / self.closure if self.closure else math.inf

    @property
    def phi(self) -> float:
        """φ(q) = min(1, 1/κ(q)); 0 where no document is in the scope, or no anchor was found."""
        return min(1.0, self.closure / self.documents) if self.documents else 0.0


def scope_ambiguity(
    anchors: Iterable[str],
    authority: Authority,
    index: EntityIndex,
    scope: Iterable[Entity] | None = None,
) -> ScopeAmbiguity:
    """Return κ(q) and φ(q) of the anchors A(q), of what is in force.

    scope: σ(q), as (key, value); None takes the scopes of the anchors. Raises InputError for an
    unknown anchor.
    """
    ids = list(dict.fromkeys(anchors))
    if scope is None:
        scope = {entity for id_ in ids for entity in index.entities(authority.record(id_))}
    sharing = [id_ for id_ in index.sharing(scope) if authority.in_force(id_)]
    return ScopeAmbiguity(len(sharing), len(authority.closure(ids)))


def scope_ceiling(
    ambiguities: Sequence[ScopeAmbiguity], anchored: Sequence[bool], *, chains: int = 1
) -> float:
    """Return Proposition 2's bound, the mean of φ(q)·R_anchor(q) over queries.

    anchored: whether a gold anchor was retrieved. chains: of how many chains the algorithm serves
    the heads; the printed bound is for one, with m of them it is min(1, m·φ). It holds in the mean
    over exchangeable chains of equal length with the anchor at the bottom; an algorithm can beat it
    on a corpus whose times tell the chains apart. Raises InputError without queries.
    """
    if not ambiguities or len(ambiguities) != len(anchored):
        raise InputError(
            f"{len(ambiguities)} ambiguities for {len(anchored)} queries",
            expected="one of each per query, and a query at least",
            fix="Give both for the same queries.",
        )
    pairs = zip(ambiguities, anchored, strict=True)
    bounds = (min(1.0, chains * a.phi) for a, has_anchor in pairs if has_anchor)
    return math.fsum(bounds) / len(ambiguities)


def _counts(id_: str, authority: Authority) -> bool:
    return id_ not in authority or authority.in_force(id_)


def _at_least_one(k: int) -> int:
    if k < 1:
        raise InputError(f"k={k}", expected="a whole number from 1", fix="Give how many are read.")
    return k
