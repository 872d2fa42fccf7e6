"""Links: single supersessions, and the chains that they make."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """One direct supersession, and under which rule."""

    superseded: str
    superseder: str
    rule: str
    relation: str
    confidence: float = 1.0
    number: int | None = None
    """Of the rule among the rules, since two may have one name; None of an explicit edge."""


def chain_to(id_: str, reached: dict[str, Link | None]) -> list[Link]:
    """Return the links that led to a record of `reach`, oldest first."""
    links: list[Link] = []
    link = reached.get(id_)
    while link is not None:
        links.append(link)
        link = reached[link.superseded]
    return links[::-1]


def reach(ids: Iterable[str], links: Callable[[str], Iterable[Link]]) -> dict[str, Link | None]:
    """Return all that the links of these records lead to, nearest first, each with its first link.

    The records themselves come first, with None. links: what supersedes a record directly.
    """
    reached: dict[str, Link | None] = dict.fromkeys(ids)
    queue = deque(reached)
    while queue:
        for link in links(queue.popleft()):
            if link.superseder not in reached:
                reached[link.superseder] = link
                queue.append(link.superseder)
    return reached
