"""Find the documents in force when supersessions or a question's subject are uncertain (Python).

`safe_frontier`: ids and edges with confidences -> ids not superseded with probability >= alpha (CAR
Def. 9). Each edge holds by its confidence, independently of the others. With several relations, no
chain of any one of them may hold (Def. 10). Small parts of the graph are worked out exactly, larger
ones are sampled. The closure at theta is that of the rules and edges of this confidence or more
(`AuthoritySource.theta`).

`scope_posterior`: a question and its first results -> p(scope | question), a weighted mix of two
clues: names in the question, and scores of the results. `expectation` and `map_frontier` turn it
into a ranking of documents in force (CAR Def. 8). A named scope that no result has leads to no
document, so the probabilities then sum to less than 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from argus.authority.relation import Authority
from argus.authority.theory import Entity, ScopeNames
from argus.errors import InputError
from argus.measures.intervals import wilson

MAX_LINKS = 200_000  # supersessions between the given records
EXACT_EDGES = 16  # uncertain edges of a part that is worked out exactly: 65,536 outcomes

Bits = npt.NDArray[np.uint8]
# superseded -> (superseder, relation) -> probability that one of their edges holds.
Links = dict[str, dict[tuple[str, str], float]]


class Chance(NamedTuple):
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
    are not in S. Raises InputError for an unknown id, and alpha outside [0, 1].
    """
    if not 0 <= alpha <= 1:
        expected, fix = "a probability from 0 to 1", "0.95 is a usual choice."
        raise InputError(f"alpha {alpha}", expected=expected, fix=fix)
    members = list(dict.fromkeys(filter(authority.in_force, ids)))
    links = _links_between(authority, members)
    rng = np.random.default_rng(seed)
    chances = dict.fromkeys(members, Chance(1.0))
    part_of: dict[str, set[str]] = {}  # the weakly connected parts
    for older, above in links.items():
        for newer, _ in above:
            first, second = (part_of.setdefault(id_, {id_}) for id_ in (older, newer))
            if first is not second:
                first |= second
                part_of.update(dict.fromkeys(second, first))
    for part in {id(part): part for part in part_of.values()}.values():
        inside = {id_: above for id_, above in links.items() if id_ in part}
        own = part.intersection(members)
        uncertain = [p for above in inside.values() for p in above.values() if p < 1]
        if len(uncertain) > exact_edges:
            holds = [np.packbits(rng.random(samples) < p) for p in uncertain]
            for id_, dominated in _dominated(inside, own, holds, samples).items():
                share = 1 - int(dominated.sum()) / samples
                low, high = wilson(share, samples)
                chances[id_] = Chance(share, samples, float(high - low) / 2)
            continue
        outcomes = np.arange(2 ** len(uncertain))
        weights, holds = np.ones(len(outcomes)), []
        for i, p in enumerate(uncertain):
            on = (outcomes >> i & 1).astype(bool)
            weights *= np.where(on, p, 1 - p)
            holds.append(np.packbits(on))
        for id_, dominated in _dominated(inside, own, holds, len(outcomes)).items():
            chances[id_] = Chance(float(np.clip(weights[~dominated].sum(), 0, 1)))
    safe = (id_ for id_ in members if chances[id_].probability >= alpha - 1e-9)
    return SafeFrontier(tuple(safe), alpha, chances)


def _links_between(authority: Authority, members: Sequence[str]) -> Links:
    """Return the direct supersessions on chains between members, parallel ones as one each."""
    above, below = authority.reach(members), authority.superseded_by_any(members)
    part = authority.among(id_ for id_ in above if id_ in below or above[id_] is None)
    weights: Links = {}
    n = 0
    for id_ in part.records:
        for link in dict.fromkeys(part.links(id_)):  # two shared entities are one rule check
            n += 1
            if n > MAX_LINKS:
                got = f"more than {MAX_LINKS:,} supersessions between {len(members):,} records"
                raise InputError(got, expected="fewer to weigh", fix="Ask for fewer records.")
            key, others = (link.superseder, link.relation), weights.setdefault(id_, {})
            others[key] = 1 - (1 - others.get(key, 0.0)) * (1 - link.confidence)
    return weights


def _dominated(
    links: Links, members: set[str], holds: list[Bits], n: int
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return for every member in which of n outcomes a chain leads from it to another.

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
    newest_first = TopologicalSorter({old: [new for new, _ in links[old]] for old in links})
    for id_ in newest_first.static_order():
        own: dict[str, Bits] = {}
        for newer, name, on in edges.get(id_, ()):
            further = always if newer in members else reaches[newer].get(name, never)
            own[name] = own.get(name, never) | (on & further)
        reaches[id_] = own
    return {
        id_: np.unpackbits(np.bitwise_or.reduce([never, *reaches[id_].values()]), count=n) > 0
        for id_ in members
    }


Posterior = dict[Entity, float]  # p(σ | q), most likely first, ties by key and value; sums to 1


def scope_posterior(
    text: str,
    anchors: Mapping[str, float],
    authority: Authority,
    names: ScopeNames,
    *,
    named: float = 0.5,
    temperature: float = 1.0,
) -> Posterior:
    """Return p(σ | q) of a query text and its first stage's documents with their scores.

    named: weight of the names in the query, where it has any. The anchors have the rest.
    temperature: divisor of the scores before the softmax. Use about 1 for BM25, 0.05 for cosines.
    Anchors that are not in force count for nothing. Empty where the text names nothing and no
    anchor has a scope. Raises InputError for an unknown document and a score that is no number.
    """
    anchors = {id_: score for id_, score in anchors.items() if authority.in_force(id_)}
    by_name = _shared((bearers, 1.0) for bearers in names.bearers(text))
    top = max(anchors.values(), default=0.0)
    weights = {id_: math.exp((score - top) / temperature) for id_, score in anchors.items()}
    by_anchor = _shared((sorted(authority.record(id_).entities), w) for id_, w in weights.items())
    share = named if by_anchor else 1.0
    if not by_name:
        share = 0.0
    mixed = {
        entity: share * by_name.get(entity, 0.0) + (1 - share) * by_anchor.get(entity, 0.0)
        for entity in {*by_name, *by_anchor}
    }
    ordered = sorted(mixed.items(), key=lambda item: (-item[1], item[0]))
    return {entity: p for entity, p in ordered if p > 0}


def expectation(
    authority: Authority, posterior: Mapping[Entity, float], anchors: Mapping[str, float]
) -> dict[str, float]:
    """Return E over σ of 1[d in front(cl(A_k(q, σ)))]: the documents of one query's run.

    Most probable first, ties by id. Raises InputError for an unknown anchor.
    """
    chances: dict[str, float] = {}
    fronts: dict[tuple[str, ...], list[str]] = {}
    members: dict[Entity, list[str]] = {}  # A_k(q, σ) of every σ that an anchor has
    for id_ in anchors:
        for entity in authority.record(id_).entities:
            members.setdefault(entity, []).append(id_)
    for entity, probability in posterior.items():
        inside = tuple(members.get(entity, ()))
        if inside not in fronts:
            fronts[inside] = authority.controlling(inside)
        for id_ in fronts[inside]:
            chances[id_] = chances.get(id_, 0.0) + probability
    return dict(sorted(chances.items(), key=lambda item: (-item[1], item[0])))


def map_frontier(
    authority: Authority, posterior: Mapping[Entity, float], anchors: Mapping[str, float]
) -> dict[str, float]:
    """Return front(cl(A_k(q, σ̂))), each document with p(σ̂ | q): the MAP variant of Def. 8.

    σ̂ = argmax p(σ | q), ties by key and value. Empty of an empty posterior.
    """
    best = sorted(posterior, key=lambda entity: (-posterior[entity], entity))[:1]
    return expectation(authority, {entity: posterior[entity] for entity in best}, anchors)


def _shared(votes: Iterable[tuple[Iterable[Entity], float]]) -> dict[Entity, float]:
    """Return the shares of votes per entity, each shared by several. They sum to 1."""
    votes_of: dict[Entity, float] = {}
    for entities, weight in votes:
        several = tuple(entities)
        for entity in several:
            votes_of[entity] = votes_of.get(entity, 0.0) + weight / len(several)
    total = math.fsum(votes_of.values())
    return {entity: value / total for entity, value in votes_of.items()} if total else {}
