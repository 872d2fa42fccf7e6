"""Rank the documents that control a query whose scope is uncertain (CAR Def. 8).

p(σ | q) is a mixture of two linkers. Names: values of the records' scopes in the query text. Each
occurrence is one vote, shared by the scopes that bear the name. Anchors: the scopes of the
retrieved documents, each document with its softmaxed score, shared by its entities. A_k(q, σ) are
the anchors that have σ among their entities. The probability of a document is that of the scopes
for which it is in front(cl(A_k(q, σ))). A scope that is named but that no anchor has leads to no
document, so the probabilities then sum to less than 1: the first stage did not find it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from argus.authority.config import LatentConfig
from argus.authority.entities import Entity, ScopeNames
from argus.authority.relation import Authority
from argus.errors import InputError

Posterior = dict[Entity, float]  # p(σ | q), most likely first, ties by key and value; sums to 1


def scope_posterior(
    text: str,
    anchors: Mapping[str, float],
    authority: Authority,
    names: ScopeNames,
    config: LatentConfig | None = None,
) -> Posterior:
    """Return p(σ | q) of a query text and its first stage's documents with their scores.

    Anchors that are not in force count for nothing. Empty where the text names nothing and no
    anchor has a scope. Raises InputError for an unknown document and a score that is no number.
    """
    config = config or LatentConfig()
    anchors = {id_: score for id_, score in anchors.items() if authority.in_force(id_)}
    by_name = _shared((bearers, 1.0) for bearers in names.bearers(text))
    weights = _softmax(anchors, config.temperature)
    by_anchor = _shared((sorted(authority.record(id_).entities), w) for id_, w in weights.items())
    share = config.names if by_anchor else 1.0
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


def map_scope(posterior: Mapping[Entity, float]) -> Entity | None:
    """Return σ̂ = argmax p(σ | q), ties by key and value. None of an empty posterior."""
    return min(posterior, key=lambda entity: (-posterior[entity], entity), default=None)


def map_frontier(
    authority: Authority, posterior: Mapping[Entity, float], anchors: Mapping[str, float]
) -> dict[str, float]:
    """Return front(cl(A_k(q, σ̂))), each document with p(σ̂ | q): the MAP variant of Def. 8."""
    best = map_scope(posterior)
    return expectation(authority, {best: posterior[best]} if best else {}, anchors)


def _shared(votes: Iterable[tuple[Iterable[Entity], float]]) -> dict[Entity, float]:
    """Return the shares of votes per entity, each shared by several. They sum to 1."""
    votes_of: dict[Entity, float] = {}
    for entities, weight in votes:
        several = tuple(entities)
        for entity in several:
            votes_of[entity] = votes_of.get(entity, 0.0) + weight / len(several)
    total = math.fsum(votes_of.values())
    return {entity: value / total for entity, value in votes_of.items()} if total else {}


def _softmax(scores: Mapping[str, float], temperature: float) -> dict[str, float]:
    for id_, score in scores.items():
        if not math.isfinite(score):
            raise InputError(
                f"document {id_!r} has the score {score}",
                expected="a number",
                fix="Look at what the first stage returned.",
            )
    top = max(scores.values(), default=0.0)
    return {id_: math.exp((score - top) / temperature) for id_, score in scores.items()}
