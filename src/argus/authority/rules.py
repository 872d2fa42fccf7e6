"""Rules: which type of record supersedes which, in which scope, ordered by what (CAR Def. 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from math import prod
from typing import final

from argus.authority.confidence import require_confidence
from argus.authority.given import one_of
from argus.authority.records import Record
from argus.authority.times import Moment
from argus.errors import InputError

_NUMBERS = re.compile(r"(\d+)")
SUPERSEDES = "supersedes"
"""The relation of rules and edges that name none."""
MOST_SCOPES = 10_000
"""Scopes of one record under one rule: the product of its numbers of values of every key."""


class Order(StrEnum):
    """What makes one record come after another."""

    EFFECTIVE = "effective"
    """The later time of taking effect (Def. 1)."""
    PUBLISHED = "published"
    """The later publication."""
    TYPE = "type"
    """The type alone, for records without times: whatever has the superseding type."""
    NAMED = "named"
    """The name alone: a record that names another (`obsoletes`, `replaces`) supersedes it, whatever
    the times say. What a record names of itself says nothing."""


class Ties(StrEnum):
    """What becomes of two records of exactly one time."""

    UNDECIDED = "undecided"
    """Neither supersedes the other (Def. 1); lint lists them."""
    ID = "id"
    """The greater id is the later one, numbers in it read as numbers."""


@dataclass(frozen=True, slots=True)
class ScopeKey:
    """One equality of a scope test: a value of the one record is a value of the other.

    Usually both sides have one name. A superseder that names what it replaces has another: an
    opinion's `overrules` equals the earlier case's `citation`.
    """

    superseding: str
    superseded: str


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """Records of `superseding` types supersede those of `superseded` types in the same scope.

    scope: keys on which both must agree, all of them; none is a global rule (R10), under which all
    records share one scope; the key `_id` is a record's own id. order: what must be later; ties:
    what decides equal times. condition: field of the superseding or superseded record
    ("superseding.severity") -> values of its metadata that count. relation: the name of the
    authority relation (Def. 10); confidence: of its edges, in (0, 1] (Def. 9).
    Types, keys and values may be given as one string each.
    """

    superseding: tuple[str, ...]
    superseded: tuple[str, ...]
    scope: tuple[ScopeKey, ...] = ()
    name: str = ""
    order: Order = Order.EFFECTIVE
    condition: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    relation: str = SUPERSEDES
    confidence: float = 1.0
    ties: Ties = Ties.UNDECIDED

    def __init_subclass__(cls) -> None:
        raise TypeError(
            f"{cls.__name__} subclasses Rule, whose methods nothing calls. Set its fields, or give "
            "supersessions of your own as edges (argus.Edge)."
        )

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "superseding", _strings(self.superseding))
        put(self, "superseded", _strings(self.superseded))
        put(self, "scope", tuple(_scope_key(key) for key in _items(self.scope)))
        put(self, "order", one_of(Order, self.order))
        put(self, "ties", one_of(Ties, self.ties))
        put(self, "condition", {k: _strings(v) for k, v in self.condition.items()})
        if not self.name:
            put(self, "name", f"{'|'.join(self.superseding)} > {'|'.join(self.superseded)}")
        self._check()

    def _check(self) -> None:
        overlap = sorted(set(self.superseding) & set(self.superseded))
        if self.order is Order.TYPE and overlap:
            raise InputError(
                f"rule {self.name!r}: type {overlap[0]!r} would supersede itself",
                expected="order: effective or published where both sides share a type",
                fix="Say what makes one later, or name two types.",
            )
        names = any(key.superseding != key.superseded for key in self.scope)
        if self.order is Order.NAMED and overlap and not names:
            raise InputError(
                f"rule {self.name!r}: order named, and no key by which one {overlap[0]!r} names "
                "the other",
                expected="a scope key of two names, such as "
                "{superseding: obsoletes, superseded: number}",
                fix="Say in `scope` which key holds the names, or order by time.",
            )
        if self.ties is Ties.ID and not self.is_timed:
            raise InputError(
                f"rule {self.name!r}: ties by id, and order {self.order}",
                expected="order: effective or published beside it",
                fix="Leave `ties` out: no time is looked at.",
            )
        require_confidence(self.confidence, f"rule {self.name!r}:")
        for name in self.condition:
            side, dot, rest = name.partition(".")
            if side not in ("superseding", "superseded") or not dot or not rest:
                raise InputError(
                    f"rule {self.name!r}: condition on {name!r}",
                    expected="superseding.FIELD or superseded.FIELD",
                    fix="Say of which of the two records the field is.",
                )

    def can_supersede(self, record: Record) -> bool:
        """Return whether type and condition let a record be the superseding one."""
        return record.type in self.superseding and self._meets(record, "superseding")

    def can_be_superseded(self, record: Record) -> bool:
        """Return whether type and condition let a record be the superseded one."""
        return record.type in self.superseded and self._meets(record, "superseded")

    def superseding_scopes(self, record: Record) -> Iterator[tuple[str, ...]]:
        """Yield the scopes, one value per key, in which a record would supersede; none: no key.

        Raises InputError where there are more than MOST_SCOPES.
        """
        scopes = self._scopes(record, [key.superseding for key in self.scope])
        if self.order is not Order.NAMED or not self.can_be_superseded(record):
            return scopes
        own = set(self.superseded_scopes(record))
        return (scope for scope in scopes if scope not in own)

    def superseded_scopes(self, record: Record) -> Iterator[tuple[str, ...]]:
        """Yield the scopes in which a record would be superseded; InputError likewise."""
        return self._scopes(record, [key.superseded for key in self.scope])

    def moment(self, record: Record) -> Moment | None:
        """Return the time of a record that orders under this rule; ALWAYS where none does."""
        if not self.is_timed:
            return ALWAYS
        return record.time if self.order is Order.EFFECTIVE else record.known

    @property
    def is_timed(self) -> bool:
        """Whether times order, and not the type or a name."""
        return self.order not in (Order.TYPE, Order.NAMED)

    def holds(self, older: Record, newer: Record) -> bool:
        """Return whether `newer` supersedes `older`: one rule check, as the RSSG makes them."""
        if older.id == newer.id:
            return False
        if not (self.can_supersede(newer) and self.can_be_superseded(older)):
            return False
        first, second = self.moment(older), self.moment(newer)
        if first is None or second is None:
            return False
        if not first.before(second) and not (first == second and self.ties_over(older, newer)):
            return False
        scopes = set(self.superseded_scopes(older))
        return any(scope in scopes for scope in self.superseding_scopes(newer))

    def ties_over(self, older: Record, newer: Record) -> bool:
        """Return whether, at one time, a record supersedes another: `ties: id` decides.

        It does where it alone can, or by its id where each of the two could.
        """
        if self.ties is not Ties.ID:
            return False
        both_ways = self.can_supersede(older) and self.can_be_superseded(newer)
        return not both_ways or id_order(newer.id) > id_order(older.id)

    def _scopes(self, record: Record, keys: list[str]) -> Iterator[tuple[str, ...]]:
        values = [tuple(dict.fromkeys(record.values(key))) for key in keys]
        n = prod(len(several) for several in values)
        if n > MOST_SCOPES:
            counts = " x ".join(
                f"{len(several)} of {key!r}" for key, several in zip(keys, values, strict=True)
            )
            raise InputError(
                f"record {record.id!r} has {n:,} scopes under rule {self.name!r} ({counts})",
                expected=f"at most {MOST_SCOPES:,}: values of one key times those of the next",
                fix="Give the rule fewer keys, or one rule per key, or the record fewer values.",
            )
        return product(*values)

    def _meets(self, record: Record, side: str) -> bool:
        for name, allowed in self.condition.items():
            of, _, name_of_field = name.partition(".")
            if of == side and str(record.metadata.get(name_of_field)) not in allowed:
                return False
        return True


ALWAYS = Moment(0, 0, "")
"""The time of every record under a rule that orders by type or name: never certainly after
another's, but `before` holds between any two, since the interval is empty."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One supersession that is known as such, with where it comes from and how sure it is."""

    superseder: str
    superseded: str
    rule: str = "given"
    confidence: float = 1.0
    relation: str = SUPERSEDES

    def __post_init__(self) -> None:
        for id_ in (self.superseder, self.superseded):
            if not isinstance(id_, str):
                raise InputError(
                    f"{id_!r:.80} as an end of an edge", expected="the id of a document, as text",
                    fix="Give Edge(superseder, superseded) two ids.",
                )  # fmt: skip
        if self.superseder == self.superseded:
            raise InputError(
                f"{self.superseder!r} supersedes itself",
                expected="two documents",
                fix="Remove the edge, or mend one of its ids.",
            )
        of = f"{self.superseder!r} supersedes {self.superseded!r} with"
        require_confidence(self.confidence, of)


def id_order(id_: str) -> tuple[tuple[int, int, str], ...]:
    """Return what sorts ids as people read them: r9 before r10, however many digits they have."""
    bare = ((part, part.lstrip("0")) for part in _NUMBERS.split(id_))
    return tuple(
        (1, len(digits), f"{digits} {part}") if part.isdecimal() else (0, 0, part)
        for part, digits in bare
    )


def _strings(values: str | Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)


def _items(values: str | ScopeKey | Iterable[str | ScopeKey]) -> tuple[str | ScopeKey, ...]:
    return (values,) if isinstance(values, (str, ScopeKey)) else tuple(values)


def _scope_key(key: str | ScopeKey) -> ScopeKey:
    return ScopeKey(key, key) if isinstance(key, str) else key
