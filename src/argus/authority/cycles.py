"""Cycles in an authority relation: two records that supersede each other control nothing.

Rules that order by one time cannot make a cycle. Two times, orders by type, and explicit edges
can. Strongly connected components find them without pairs: a suffix of a sorted bucket is one node
that leads to its first record and to the next suffix.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from argus.authority.links import Link, chain_to
from argus.authority.rules import Order
from argus.errors import InputError

if TYPE_CHECKING:
    from argus.authority.relation import Authority


def require_order(authority: Authority, id_: str | None = None) -> None:
    """Raise InputError with the offending chain where ⇝ has a cycle; through `id_`, if given."""
    if not _could_cycle(authority) or (id_ is not None and _is_an_end(authority, id_)):
        return
    members = [id_] if id_ is not None else _members(authority)
    for member in members:
        chain = _cycle(authority, member)
        if chain:
            raise InputError(
                f"a cycle of {len(chain)}: {describe(chain)}",
                expected="an order: what supersedes a record is not superseded by it",
                fix="Mend a time or remove an edge of the chain, or let a rule order by one time.",
            )


def describe(chain: list[Link]) -> str:
    """Return a chain in words: "a, superseded by b (rule), superseded by c (rule)"."""
    if not chain:
        return ""
    steps = "".join(f", superseded by {link.superseder!r} ({link.rule})" for link in chain)
    return f"{chain[0].superseded!r}{steps}"


def _could_cycle(authority: Authority) -> bool:
    if authority.edges:
        return True
    orders = {rule.order for rule in authority.rules}
    if orders == {Order.TYPE}:
        return _types_cycle(authority)
    return len(orders) > 1


def _is_an_end(authority: Authority, id_: str) -> bool:
    """Return whether nothing supersedes a record, or it supersedes nothing."""
    return authority.is_active(id_) or next(authority.older(id_), None) is None


def _types_cycle(authority: Authority) -> bool:
    """Return whether rules that order by type lead from a type back to it."""
    above: dict[str, set[str]] = {}
    for rule in authority.rules:
        for older in rule.superseded:
            above.setdefault(older, set()).update(rule.superseding)
    for start in above:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for newer in above.get(todo.pop(), ()):
                if newer == start:
                    return True
                if newer not in seen:
                    seen.add(newer)
                    todo.append(newer)
    return False


def _members(authority: Authority) -> list[str]:
    """Return one record of every cycle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ids = list(authority.records)
    number = {id_: i for i, id_ in enumerate(ids)}
    sources: list[int] = []
    targets: list[int] = []
    suffixes: dict[object, int] = {}
    n = len(ids)
    for place, bucket in authority.index.buckets.items():
        suffixes[place] = n
        for i, (_, id_) in enumerate(bucket.superseding):
            sources += [n + i, n + i]
            targets += [number[id_], n + i + 1]
        n += len(bucket.superseding) + 1
        starts = list(bucket.superseding)
        for end, id_ in bucket.superseded:
            sources.append(number[id_])
            targets.append(suffixes[place] + bisect_left(starts, (end, "")))
    for edges in authority.edges.values():
        sources += [number[edge.superseded] for edge in edges]
        targets += [number[edge.superseder] for edge in edges]
    graph = coo_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(n, n))
    _, labels = connected_components(graph, directed=True, connection="strong")
    counts = np.bincount(labels[: len(ids)])
    found: dict[int, str] = {}
    for i in np.flatnonzero(counts[labels[: len(ids)]] > 1).tolist():
        found.setdefault(int(labels[i]), ids[i])
    return list(found.values())


def _cycle(authority: Authority, id_: str) -> list[Link]:
    """Return a shortest chain from a record back to itself; none where there is none."""
    reached = authority.reach([id_])
    for member in reached:
        for link in authority.links(member):
            if link.superseder == id_:
                return [*chain_to(member, reached), link]
    return []
