"""Resolving by scope and time alone, without rules: the paper's "two-stage, anchor only".

A scope-indexed algorithm (CAR Def. 14): of each anchor's whole scope it serves what is latest,
whatever its type. Right where a scope holds one chain, and wrong as soon as anything newer shares
the scope (Remark 4); the bound of Proposition 2 is about such algorithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from argus.authority.records import Record
from argus.authority.resolve import falling
from argus.data.runs import ranking
from argus.data.types import Run
from argus.errors import InputError

Scope = frozenset[tuple[str, str]]


class FullScopes:
    """Whole scope -> its latest records. Types, texts and rules are not looked at.

    For an earlier time give the records that were in force then.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._scopes: dict[str, Scope] = {}
        timed: dict[Scope, list[tuple[int, int, str]]] = {}
        for record in records:
            scope = self._scopes[record.id] = record.entities
            if record.time is not None:
                timed.setdefault(scope, []).append((record.time.start, record.time.end, record.id))
        self._latest = {scope: _latest(members) for scope, members in timed.items() if scope}

    def __contains__(self, id_: object) -> bool:
        return id_ in self._scopes

    def scope(self, id_: str) -> Scope:
        """Return the whole scope of a record; InputError where there is none."""
        found = self._scopes.get(id_)
        if found is None:
            raise InputError(
                f"no record {id_!r}",
                expected=f"the id of one of the {len(self._scopes):,} records",
                fix="Check that run and records are of one corpus.",
            )
        return found

    def latest(self, scope: Scope) -> tuple[str, ...]:
        """Return the latest records of a whole scope, the latest start first, ties by id.

        Several where times are equal or overlap, none where nothing in it has a time.
        """
        return self._latest.get(scope, ())


def latest_in_scope(index: FullScopes, anchor: str) -> list[str]:
    """Return the latest records of an anchor's scope.

    The anchor itself where it has no scope, or nothing in its scope has a time. Raises InputError
    for an unknown anchor.
    """
    return list(index.latest(index.scope(anchor))) or [anchor]


def rank_latest(
    scores: Mapping[str, float],
    index: FullScopes,
    *,
    k: int | None = None,
    anchors: int | None = None,
) -> dict[str, float]:
    """Return one ranking with the latest of its scope in each document's place, each once.

    k: documents to return; anchors: how many are looked at; None: all. Documents without record
    are served as they are. Scores are those of the anchors, falling strictly.
    """
    for name, value in (("k", k), ("anchors", anchors)):
        if value is not None and value < 1:
            raise InputError(
                f"{name}={value}", expected="a whole number from 1", fix="Leave it out for all."
            )
    served: dict[str, float] = {}
    for anchor in ranking(dict(scores))[:anchors]:
        for id_ in latest_in_scope(index, anchor) if anchor in index else [anchor]:
            served.setdefault(id_, scores[anchor])
    ids = list(served)[:k]
    return dict(zip(ids, falling(served[id_] for id_ in ids), strict=True))


def resolve_by_scope(
    run: Run, index: FullScopes, *, k: int | None = None, anchors: int | None = None
) -> Run:
    """Return a run with the latest of its scope in each document's place; see `rank_latest`."""
    return {
        query: rank_latest(scores, index, k=k, anchors=anchors) for query, scores in run.items()
    }


def _latest(members: list[tuple[int, int, str]]) -> tuple[str, ...]:
    """Return the ids after which no member certainly comes; members: (start, end, id)."""
    last = max(start for start, _, _ in members)
    found = sorted((-start, id_) for start, end, id_ in members if end > last)
    return tuple(id_ for _, id_ in found)
