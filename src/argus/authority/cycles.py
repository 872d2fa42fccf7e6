"""Cycles in an authority relation: two records that supersede each other control nothing.

Rules that order by one time cannot make a cycle. Two times, orders by type or by name, and explicit
edges can. Strongly connected components find them without pairs: a suffix of a sorted bucket is one
node that leads to its first record and to the next suffix.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from argus.authority.heads import Bucket
from argus.authority.links import Link, chain_to, reach
from argus.authority.places import Place
from argus.authority.rules import Edge, Order, Rule
from argus.errors import InputError

Edges = Mapping[str, Sequence[Edge]]
"""Explicit edges by superseded id."""
Links = Callable[[str, dict[Place, int] | None], Iterable[Link]]
"""What supersedes a record directly, as `Authority.links`: less what has been read of each place,
where that is given."""


def can_cycle(rules: Sequence[Rule], edges: Edges) -> bool:
    """Return whether some records would make a cycle under such rules, or with these edges."""
    if edges:
        return True
    orders = {rule.order for rule in rules}
    if orders == {Order.TYPE}:
        return _types_cycle(rules)
    return len(orders) > 1 or Order.NAMED in orders


def cyclic_records(ids: Iterable[str], buckets: Mapping[Place, Bucket], edges: Edges) -> list[str]:
    """Return one record of every cycle. ids: all records that are in buckets and edges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names = list(ids)
    number = {id_: i for i, id_ in enumerate(names)}
    sources: list[int] = []
    targets: list[int] = []
    n = len(names)
    for bucket in buckets.values():
        starts = list(bucket.superseding)
        for i, (_, id_) in enumerate(starts):
            sources += [n + i, n + i]
            targets += [number[id_], n + i + 1]
        for end, id_ in bucket.superseded:
            sources.append(number[id_])
            targets.append(n + bisect_left(starts, (end, "")))
        n += len(starts) + 1
    for several in edges.values():
        sources += [number[edge.superseded] for edge in several]
        targets += [number[edge.superseder] for edge in several]
    graph = coo_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(n, n))
    _, labels = connected_components(graph, directed=True, connection="strong")
    own = labels[: len(names)]
    members: dict[int, str] = {}
    for i in np.flatnonzero(np.bincount(own)[own] > 1).tolist():
        members.setdefault(int(own[i]), names[i])
    return list(members.values())


def require_no_cycle(ids: Iterable[str], links: Links) -> None:
    """Raise InputError with the chain where one leads from one of these records back to it."""
    for id_ in ids:
        chain = _cycle(id_, links)
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


def _types_cycle(rules: Sequence[Rule]) -> bool:
    """Return whether rules that order by type lead from a type back to it."""
    above: dict[str, set[str]] = {}
    for rule in rules:
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


def _cycle(id_: str, links: Links) -> list[Link]:
    """Return a shortest chain from a record back to itself; none where there is none."""
    covered: dict[Place, int] = {}
    reached = reach([id_], lambda member: links(member, covered))
    for member in reached:
        for link in links(member, None):
            if link.superseder == id_:
                return [*chain_to(member, reached), link]
    return []
