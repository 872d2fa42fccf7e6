"""Answers under CAR's variants: uncertain edges (Def. 9) and latent scopes (Def. 8)."""

from __future__ import annotations

from collections.abc import Mapping

from argus.authority.entities import ScopeNames
from argus.authority.jobs.config import LatentScope, VariantConfig
from argus.authority.jobs.summary import ScopeChance
from argus.authority.latent import Posterior, expectation, map_frontier, scope_posterior
from argus.authority.links import Link, chain_to
from argus.authority.relation import Authority
from argus.authority.resolve import Hit, Resolution, ranked_hits
from argus.authority.uncertain import SafeFrontier, safe_frontier
from argus.errors import InputError

SHOWN = 10
"""Scopes of a posterior that an answer names."""


def safely(
    scores: Mapping[str, float], authority: Authority, alpha: float, *, k: int
) -> tuple[Resolution, SafeFrontier]:
    """Serve front_alpha(cl(A)) of anchors A: what is probably not superseded, in anchors' places.

    scores: of the anchors in force, best first. Documents without record are served as they are.
    """
    known = [id_ for id_ in scores if id_ in authority]
    frontier = safe_frontier(authority, authority.closure(known), alpha)
    safe = set(frontier.ids)
    hits: dict[str, Hit] = {}
    retired: dict[str, tuple[str, ...]] = {}
    for rank, (anchor, score) in enumerate(scores.items(), 1):
        reached: dict[str, Link | None] = {anchor: None}
        if anchor in authority:
            reached = authority.reach([anchor])
        serving = {i: chain_to(i, reached) for i in reached if i in safe or i not in authority}
        if anchor not in serving:
            retired[anchor] = tuple(serving)
        for id_, chain in serving.items():
            hits.setdefault(id_, Hit(id_, 0, score, anchor, rank, tuple(chain)))
    unknown = tuple(id_ for id_ in scores if id_ not in authority)
    return Resolution(tuple(scores), ranked_hits(hits.values(), k), retired, unknown, {}), frontier


def by_scope(
    query: str, scores: Mapping[str, float], authority: Authority, config: VariantConfig, *, k: int
) -> tuple[Resolution, Posterior]:
    """Serve the documents that control under the scopes which the question may have, likely first.

    The score of a document is its probability: that of the scopes for which it controls
    (expectation), or that of the likeliest scope (map). Raises InputError where no scope is told.
    """
    anchors = {id_: score for id_, score in scores.items() if id_ in authority}
    names = ScopeNames(r for r in authority.records.values() if authority.in_force(r.id))
    posterior = scope_posterior(query, anchors, authority, names, config.latent)
    if not posterior:
        raise InputError(
            "no scope: the question names none, and no document found has one",
            expected="records with scopes",
            fix="Leave it out to serve what controls all that was found.",
            where="--scope",
        )
    serve = map_frontier if config.scope is LatentScope.MAP else expectation
    chances = serve(authority, posterior, anchors)
    paths: dict[str, tuple[str, int, tuple[Link, ...]]] = {}
    retired: dict[str, tuple[str, ...]] = {}
    for rank, anchor in enumerate(anchors, 1):
        controlling = authority.controlling_chains([anchor])
        if anchor not in controlling:
            retired[anchor] = tuple(controlling)
        for id_, chain in controlling.items():
            paths.setdefault(id_, (anchor, rank, chain))
    hits = [Hit(id_, 0, p, *paths[id_]) for id_, p in chances.items()]
    unknown = tuple(id_ for id_ in scores if id_ not in authority)
    return Resolution(tuple(scores), ranked_hits(hits, k), retired, unknown, {}), posterior


def scope_chances(posterior: Posterior) -> list[ScopeChance]:
    """Return the likeliest scopes as JSON has them."""
    return [
        {"key": key, "value": value, "probability": probability}
        for (key, value), probability in list(posterior.items())[:SHOWN]
    ]
