"""Replace the superseded documents of a ranking by those that control them (CAR Theorem 3).

Every retrieved document is an anchor. In its place come the active documents of its closure, each
once, with the chain that leads from the anchor to it. Superseded documents are not served.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Real

from argus.authority.config import CHAINS, PLACES, Chains, Places
from argus.authority.relation import Authority, Link
from argus.authority.rules import one_of, require_count, require_theta
from argus.data.runs import ranking
from argus.data.types import Run
from argus.errors import InputError


@dataclass(frozen=True, slots=True)
class Hit:
    """One document to serve, and the chain that led to it.

    rank: from 1.
    score: its anchor's, lowered by the least possible if it would tie with the hit before it.
    anchor: the retrieved document that it controls: itself, where that is active.
    chain: from anchor to document, oldest first. Empty where they are one.
    """

    id: str
    rank: int
    score: float
    anchor: str
    anchor_rank: int
    chain: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Resolution of one query's ranking.

    anchors: documents that were retrieved and looked at, best first.
    retired: superseded anchor in force -> its controllers.
    unknown: retrieved documents of which there is no record. They are served as they are.
    passed_over: anchor -> a better one of the same scope whose chain was served instead
    (`Chains.FIRST`).
    """

    anchors: tuple[str, ...]
    hits: tuple[Hit, ...]
    retired: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]
    passed_over: Mapping[str, str]

    @property
    def run(self) -> dict[str, float]:
        """The hits as a ranking: document -> score."""
        return {hit.id: hit.score for hit in self.hits}


def resolve(
    run: Mapping[str, Mapping[str, float] | Sequence[str]],
    authority: Authority,
    *,
    k: int | None = None,
    anchors: int | None = None,
    places: Places | str = PLACES,
    chains: Chains | str = CHAINS,
    theta: float = 0.0,
) -> Run:
    """Return a run in which no superseded document stands in for its controllers.

    run: by query, scores by document, or documents, best first. k: documents per query to return.
    anchors: how many of each ranking are looked at (all). Both None: everything. places, chains:
    see there. theta: edges of less confidence are not followed (Def. 9). Errors as for `trace`.
    """
    if not isinstance(run, Mapping):
        got, expected = f"a run that is a {type(run).__name__}", "{query: {document: score}}"
        raise InputError(got, expected=expected, fix="Give a ranking for each query.", where="run")
    return {
        query: trace(
            scores, authority, k=k, anchors=anchors, places=places, chains=chains, theta=theta
        ).run
        for query, scores in run.items()
    }


def trace(
    scores: Mapping[str, float] | Sequence[str],
    authority: Authority,
    *,
    k: int | None = None,
    anchors: int | None = None,
    places: Places | str = PLACES,
    chains: Chains | str = CHAINS,
    theta: float = 0.0,
) -> Resolution:
    """Resolve one ranking and give the chain to every hit. Parameters as for `resolve`.

    scores: by document, or documents, best first. Raises InputError for a score that is no finite
    number, for an id that is no text, since none of a record would be like it, for a list of
    anything but different ids, and for a parameter that is none of its kind.
    """
    places, chains = one_of(Places, places), one_of(Chains, chains)
    require_theta(theta)
    for name, value in (("k", k), ("anchors", anchors)):
        require_count(name, value)
    scores = _finite(scores)
    retrieved = ranking(scores)[:anchors]
    unknown = tuple(id_ for id_ in retrieved if id_ not in authority)
    hits: dict[str, Hit] = {}
    retired: dict[str, tuple[str, ...]] = {}
    passed_over: dict[str, str] = {}
    leading: dict[frozenset[tuple[str, str]], tuple[str, Set[str]]] = {}  # by scope, best anchor
    for rank, anchor in enumerate(retrieved, 1):
        if anchor in authority and not authority.in_force(anchor):
            continue
        is_known = anchor in authority
        controlling = authority.controlling_chains([anchor], theta) if is_known else {anchor: ()}
        if anchor not in controlling:
            retired[anchor] = tuple(controlling)
        if chains is Chains.FIRST and is_known and (scope := authority.records[anchor].entities):
            best, served = leading.setdefault(scope, (anchor, controlling.keys()))
            if not controlling.keys() <= served:
                passed_over[anchor] = best
                continue
        for id_, chain in controlling.items():
            hits.setdefault(id_, Hit(id_, 0, scores[anchor], anchor, rank, chain))
    ordered = list(hits.values())
    if places is Places.FIRST:
        ordered.sort(key=lambda hit: not hit.chain)  # stable: by anchor among equals
    return Resolution(tuple(retrieved), ranked_hits(ordered, k), retired, unknown, passed_over)


def _finite(scores: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """Return a ranking as finite scores by document. The scores of a list of ids decrease."""
    if isinstance(scores, Mapping):
        for id_ in scores:
            if not isinstance(id_, str):
                got = f"{id_!r:.80} as a document"
                fix = "Give ids as the records have them, such as str(id)."
                raise InputError(got, expected="its id, as text", fix=fix, where="run")
        wrong: object = next((s for s in scores.values() if not _is_finite(s)), None)
        if wrong is None and None not in scores.values():
            return dict(scores)
        fix = "Leave out what has no score: a result without one has no rank."
        raise InputError(f"a score of {wrong!r}", expected="finite numbers", fix=fix, where="run")
    is_list = isinstance(scores, Sequence) and not isinstance(scores, str | bytes)
    if not is_list or len(set(map(str, scores))) < len(scores) or set(map(type, scores)) - {str}:
        expected = "scores by document, or different ids, best first"
        fix = "Give {document: score}, or a list of ids."
        raise InputError(f"{scores!r:.80}", expected=expected, fix=fix, where="run")
    return {id_: float(len(scores) - place) for place, id_ in enumerate(scores)}


def _is_finite(score: object) -> bool:
    try:
        return isinstance(score, Real) and math.isfinite(score)
    except OverflowError:  # a whole number or a fraction beyond all floats
        return False


def ranked_hits(ordered: Iterable[Hit], k: int | None) -> tuple[Hit, ...]:
    """Return the first k hits with ranks and strictly decreasing scores, so that none tie."""
    hits = list(islice(ordered, k))
    scores = strictly_decreasing(hit.score for hit in hits)
    return tuple(
        replace(hit, rank=rank, score=score)
        for rank, (hit, score) in enumerate(zip(hits, scores, strict=True), 1)
    )


def strictly_decreasing(scores: Iterable[float]) -> Iterator[float]:
    """Yield each score, or the next number below the one before where it is not below that."""
    last = math.inf
    for score in scores:
        last = score if score < last else math.nextafter(last, -math.inf)
        yield last
