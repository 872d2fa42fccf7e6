"""Compute frontiers under edges that hold with a probability (CAR Def. 9).

Every edge holds with its confidence, independently of the others. A rule is one edge between two
records though they share several entities. Another rule, even of the same name, and another
explicit edge (unless it repeats the first) are further chances. A record is maximal in S when no
chain of edges that hold leads from it to another record of S. With several relations, no chain of
any one of them (Def. 10). The closure at theta is `Authority.closure(ids, theta)`.

Only edges between records of S matter, and their weakly connected parts are independent. A part
with few uncertain edges is worked out over all their outcomes. A larger one is sampled. All
outcomes, or samples, go through the part at once, eight to a byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.authority.relation import Authority
from argus.errors import InputError
from argus.measures.intervals import wilson

EXACT_EDGES = 16  # uncertain edges of a part that is worked out exactly: 65,536 outcomes
MAX_LINKS = 200_000  # supersessions between the given records
MAX_DRAWS = 500_000_000  # uncertain edges times samples

Bits = npt.NDArray[np.uint8]
# superseded -> (superseder, relation) -> probability that one of their edges holds.
Links = dict[str, dict[tuple[str, str], float]]


@dataclass(frozen=True, slots=True)
class Chance:
    """Pr[maximal] of one record. samples and half_width are 0 where it is exact.

    half_width: of the 95% Wilson interval.
    """

    probability: float
    samples: int = 0
    half_width: float = 0.0


@dataclass(frozen=True, slots=True)
class SafeFrontier:
    """front_alpha(S) in the order given, with the chance of every record of S in force."""

    ids: tuple[str, ...]
    alpha: float
    chances: dict[str, Chance]

    @property
    def is_exact(self) -> bool:
        """True if nothing was sampled."""
        return not any(chance.samples for chance in self.chances.values())

    @property
    def undecided(self) -> tuple[str, ...]:
        """Records whose interval holds alpha: more samples might decide otherwise."""
        return tuple(
            id_
            for id_, chance in self.chances.items()
            if chance.samples and abs(chance.probability - self.alpha) <= chance.half_width
        )


def safe_frontier(
    authority: Authority,
    ids: Iterable[str],
    alpha: float,
    *,
    samples: int = 10_000,
    seed: int = 0,
    exact_edges: int = EXACT_EDGES,
) -> SafeFrontier:
    """Return {d in S: Pr[no d' in S with d ⇝ d'] >= alpha} for S = `ids` (Def. 9).

    exact_edges: parts with up to so many uncertain edges (at most 20) are exact. The others take
    `samples` random outcomes, and their share decides. Records not in force at the time of a view
    are not in S. Raises InputError for an unknown id, alpha outside [0, 1], no samples, and where
    too much lies between the records.
    """
    _check(alpha, samples, exact_edges)
    members = list(dict.fromkeys(filter(authority.in_force, ids)))
    links = _between(authority, members)
    rng = np.random.default_rng(seed)
    chances = dict.fromkeys(members, Chance(1.0))
    for part in _parts(links):
        inside = {id_: links[id_] for id_ in part if id_ in links}
        own = [id_ for id_ in members if id_ in part]
        chances |= _chances(inside, own, samples, rng, exact_edges)
    safe = (id_ for id_ in members if chances[id_].probability >= alpha - 1e-9)
    return SafeFrontier(tuple(safe), alpha, chances)


def _check(alpha: float, samples: int, exact_edges: int) -> None:
    if not 0 <= alpha <= 1:
        raise InputError(
            f"alpha {alpha}", expected="a probability from 0 to 1", fix="0.95 is a usual choice."
        )
    if samples < 1:
        raise InputError(
            f"{samples} samples", expected="1 or more", fix="Leave it out for the default."
        )
    if not 0 <= exact_edges <= 20:
        raise InputError(
            f"exact_edges {exact_edges}",
            expected="0 to 20: every edge more doubles the work",
            fix="Leave it out for the default.",
        )


def _between(authority: Authority, members: Sequence[str]) -> Links:
    """Return the direct supersessions on chains between members, parallel ones as one each."""
    above, below = authority.reach(members), authority.superseded_by_any(members)
    part = authority.among(id_ for id_ in above if id_ in below or above[id_] is None)
    weights: Links = {}
    looked_at = 0
    for id_ in part.records:
        for link in dict.fromkeys(part.links(id_)):  # two shared entities are one rule check
            looked_at += 1
            if looked_at > MAX_LINKS:
                raise InputError(
                    f"more than {MAX_LINKS:,} supersessions between {len(members):,} records",
                    expected="few enough to weigh every one of them",
                    fix="Ask for fewer records at once, or of narrower scopes; the closure at a "
                    "threshold (theta) has no such limit.",
                )
            key, others = (link.superseder, link.relation), weights.setdefault(id_, {})
            others[key] = 1 - (1 - others.get(key, 0.0)) * (1 - link.confidence)
    return weights


def _parts(links: Links) -> list[set[str]]:
    """Return the weakly connected parts."""
    near: dict[str, set[str]] = {}
    for older, above in links.items():
        for newer, _ in above:
            near.setdefault(older, set()).add(newer)
            near.setdefault(newer, set()).add(older)
    parts, seen = [], set[str]()
    for start in near:
        if start in seen:
            continue
        part, todo = {start}, [start]
        while todo:
            more = near[todo.pop()] - part
            part |= more
            todo += more
        seen |= part
        parts.append(part)
    return parts


def _chances(
    links: Links, members: list[str], samples: int, rng: np.random.Generator, exact_edges: int
) -> dict[str, Chance]:
    """Return Pr[maximal] of the members of one part."""
    uncertain = [p for above in links.values() for p in above.values() if p < 1]
    n = len(uncertain)
    if n <= exact_edges:
        outcomes = np.arange(2**n)
        weights = np.ones(2**n)
        holds = []
        for i, p in enumerate(uncertain):
            on = (outcomes >> i & 1).astype(bool)
            weights *= np.where(on, p, 1 - p)
            holds.append(np.packbits(on))
        dominated = _dominated(links, set(members), holds, 2**n)
        return {
            id_: Chance(float(np.clip(weights[~_flags(dominated[id_], 2**n)].sum(), 0, 1)))
            for id_ in members
        }
    if n * samples > MAX_DRAWS:
        raise InputError(
            f"{n:,} uncertain supersessions in one part, {samples:,} samples",
            expected=f"at most {MAX_DRAWS:,} draws",
            fix="Take fewer samples, or ask for fewer records at once.",
        )
    holds = [np.packbits(rng.random(samples) < p) for p in uncertain]
    dominated = _dominated(links, set(members), holds, samples)
    chances = {}
    for id_ in members:
        share = 1 - int(_flags(dominated[id_], samples).sum()) / samples
        low, high = wilson(share, samples)
        chances[id_] = Chance(share, samples, float(high - low) / 2)
    return chances


def _dominated(links: Links, members: set[str], holds: list[Bits], n: int) -> dict[str, Bits]:
    """Return for every record in which of n outcomes a chain leads from it to a member.

    holds: per uncertain edge, in the order of `links`, the outcomes in which it holds, packed.
    """
    always = np.packbits(np.ones(n, bool))
    never = np.zeros_like(always)
    edges: dict[str, list[tuple[str, str, Bits]]] = {}
    place = iter(holds)
    for older, above in links.items():
        edges[older] = [
            (newer, name, next(place) if p < 1 else always) for (newer, name), p in above.items()
        ]
    # Per record and relation: the outcomes in which a chain leads from it to a member.
    reaches: dict[str, dict[str, Bits]] = {}
    for id_ in _newest_first(links):
        own: dict[str, Bits] = {}
        for newer, name, on in edges.get(id_, ()):
            further = always if newer in members else reaches[newer].get(name, never)
            own[name] = own.get(name, never) | (on & further)
        reaches[id_] = own
    return {
        id_: np.bitwise_or.reduce([never, *reaches[id_].values()]) for id_ in members | set(links)
    }


def _newest_first(links: Links) -> list[str]:
    """Return the records in such an order that superseders come first. There are no cycles."""
    done: dict[str, None] = {}
    for start in links:
        todo = [start]
        while todo:
            id_ = todo[-1]
            waiting = [newer for newer, _ in links.get(id_, ()) if newer not in done]
            if waiting:
                todo += waiting
            else:
                done[todo.pop()] = None
    return list(done)


def _flags(bits: Bits, n: int) -> npt.NDArray[np.bool_]:
    return np.unpackbits(bits, count=n).astype(bool)
