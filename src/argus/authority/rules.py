"""Rules and edges: which type of record supersedes which, in which scope (CAR Def. 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from math import prod
from numbers import Real
from typing import TypeVar, final

from argus.authority.records import Record
from argus.authority.times import Moment
from argus.data.documents import is_count
from argus.errors import InputError

Kind = TypeVar("Kind")
Choice = TypeVar("Choice", bound=StrEnum)
_NUMBERS = re.compile(r"(\d+)")
SUPERSEDES = "supersedes"  # the relation of rules and edges that name none
MAX_SCOPES = 10_000  # of one record under one rule: the product of its numbers of values per key


class Order(StrEnum):
    """Order of two records."""

    EFFECTIVE = "effective"  # The later time of taking effect (Def. 1)
    PUBLISHED = "published"  # The later publication
    TYPE = "type"  # The type alone, for records without times
    # The name alone: a record that names another (`obsoletes`, `replaces`) supersedes it, whatever
    # the times say. A record does not supersede itself.
    NAMED = "named"


class Ties(StrEnum):
    """Order of two records of exactly one time."""

    UNDECIDED = "undecided"  # Neither supersedes the other (Def. 1); lint lists them
    ID = "id"  # The greater id is the later one, numbers in it read as numbers


@dataclass(frozen=True, slots=True)
class ScopeKey:
    """One equality of a scope test: a value of the one record is a value of the other.

    Usually both sides have one name. A superseder that names its predecessor has another: an
    opinion's `overrules` equals the earlier case's `citation`.
    """

    superseding: str
    superseded: str


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """Records of `superseding` types supersede those of `superseded` types in the same scope.

    scope: keys on which both must agree. No key makes a global rule (R10), under which all records
    share one scope. The key `_id` is a record's own id. order: the time that must be later. ties:
    order of equal times. condition: field of the superseding or superseded record
    ("superseding.severity") -> accepted values of its metadata. relation: name of the authority
    relation (Def. 10). confidence: of its edges, in (0, 1] (Def. 9). You may give types, keys and
    values as one string each.
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
            "supersessions of your own as edges (argus.authority.Edge)."
        )

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "superseding", _strings(self.superseding))
        put(self, "superseded", _strings(self.superseded))
        keys = (self.scope,) if isinstance(self.scope, (str, ScopeKey)) else self.scope
        put(self, "scope", tuple(ScopeKey(k, k) if isinstance(k, str) else k for k in keys))
        put(self, "order", one_of(Order, self.order))
        put(self, "ties", one_of(Ties, self.ties))
        put(self, "condition", {k: _strings(v) for k, v in self.condition.items()})
        if not self.name:
            put(self, "name", f"{'|'.join(self.superseding)} > {'|'.join(self.superseded)}")
        self._check()

    def _check(self) -> None:
        overlap = sorted(set(self.superseding) & set(self.superseded))
        if self.order is Order.TYPE and overlap:
            got = f"rule {self.name!r}: type {overlap[0]!r} would supersede itself"
            expected = "order: effective or published where both sides share a type"
            fix = "Say what makes one later, or name two types."
            raise InputError(got, expected=expected, fix=fix)
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
            got = f"rule {self.name!r}: ties by id, and order {self.order}"
            expected = "order: effective or published beside it"
            raise InputError(got, expected=expected, fix="Leave `ties` out: no time is looked at.")
        require_confidence(self.confidence, f"rule {self.name!r}:")
        for name in self.condition:
            side, dot, rest = name.partition(".")
            if side not in ("superseding", "superseded") or not dot or not rest:
                got = f"rule {self.name!r}: condition on {name!r}"
                fix = "Say of which of the two records the field is."
                raise InputError(got, expected="superseding.FIELD or superseded.FIELD", fix=fix)

    def can_supersede(self, record: Record) -> bool:
        """Return True if type and condition let a record supersede."""
        return record.type in self.superseding and self._meets(record, "superseding")

    def can_be_superseded(self, record: Record) -> bool:
        """Return True if type and condition let a record be superseded."""
        return record.type in self.superseded and self._meets(record, "superseded")

    def superseding_scopes(self, record: Record) -> Iterator[tuple[str, ...]]:
        """Yield the scopes, one value per key, in which a record supersedes.

        Raises InputError where there are more than MAX_SCOPES.
        """
        scopes = self._scopes(record, [key.superseding for key in self.scope])
        if self.order is not Order.NAMED or not self.can_be_superseded(record):
            return scopes
        own = set(self.superseded_scopes(record))
        return (scope for scope in scopes if scope not in own)

    def superseded_scopes(self, record: Record) -> Iterator[tuple[str, ...]]:
        """Yield the scopes in which a record can be superseded. InputError likewise."""
        return self._scopes(record, [key.superseded for key in self.scope])

    def moment(self, record: Record) -> Moment | None:
        """Return the time by which this rule orders a record, ALWAYS where no time orders."""
        if not self.is_timed:
            return ALWAYS
        return record.time if self.order is Order.EFFECTIVE else record.known

    @property
    def is_timed(self) -> bool:
        """True if times order, and not the type or a name."""
        return self.order not in (Order.TYPE, Order.NAMED)

    def holds(self, older: Record, newer: Record) -> bool:
        """Return True if `newer` supersedes `older`: one rule check of the RSSG."""
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
        """Return True if `ties: id` lets a record supersede another of the same time.

        It does if it alone can, or by its id if each of the two could.
        """
        if self.ties is not Ties.ID:
            return False
        both_ways = self.can_supersede(older) and self.can_be_superseded(newer)
        return not both_ways or id_order(newer.id) > id_order(older.id)

    def _scopes(self, record: Record, keys: list[str]) -> Iterator[tuple[str, ...]]:
        values = [tuple(dict.fromkeys(record.values(key))) for key in keys]
        n = prod(len(several) for several in values)
        if n > MAX_SCOPES:
            counts = " x ".join(
                f"{len(several)} of {key!r}" for key, several in zip(keys, values, strict=True)
            )
            got = f"record {record.id!r} has {n:,} scopes under rule {self.name!r} ({counts})"
            expected = f"at most {MAX_SCOPES:,}: values of one key times those of the next"
            fix = "Give the rule fewer keys, or one rule per key, or the record fewer values."
            raise InputError(got, expected=expected, fix=fix)
        return product(*values)

    def _meets(self, record: Record, side: str) -> bool:
        for name, allowed in self.condition.items():
            of, _, name_of_field = name.partition(".")
            if of == side and str(record.metadata.get(name_of_field)) not in allowed:
                return False
        return True


# Time of every record under a rule that orders by type or name. The interval is empty, so `before`
# holds between any two.
ALWAYS = Moment(0, 0, "")


@dataclass(frozen=True, slots=True)
class Edge:
    """One known supersession, with its source and its confidence."""

    superseder: str
    superseded: str
    rule: str = "given"
    confidence: float = 1.0
    relation: str = SUPERSEDES

    def __post_init__(self) -> None:
        for id_ in (self.superseder, self.superseded):
            if not isinstance(id_, str):
                got = f"{id_!r:.80} as an end of an edge"
                fix = "Give Edge(superseder, superseded) two ids."
                raise InputError(got, expected="the id of a document, as text", fix=fix)
        if self.superseder == self.superseded:
            got, expected = f"{self.superseder!r} supersedes itself", "two documents"
            raise InputError(got, expected=expected, fix="Remove the edge, or mend one of its ids.")
        of = f"{self.superseder!r} supersedes {self.superseded!r} with"
        require_confidence(self.confidence, of)


def id_order(id_: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts ids as people read them: r9 before r10, whatever their length."""
    bare = ((part, part.lstrip("0")) for part in _NUMBERS.split(id_))
    return tuple(
        (1, len(digits), f"{digits} {part}") if part.isdecimal() else (0, 0, part)
        for part, digits in bare
    )


def _strings(values: str | Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)


def require_theta(theta: object) -> None:
    """Raise InputError unless theta is a confidence from 0 to 1. 0 follows every edge."""
    if type(theta) is float and 0 <= theta <= 1:
        return  # the fast path: `links` calls this for every record, and isinstance(Real) is slow
    if not (isinstance(theta, Real) and not theta < 0 and theta <= 1):
        fix = "0 follows every edge; a percentage is divided by 100."
        raise InputError(f"theta={theta!r:.80}", expected="a confidence from 0 to 1", fix=fix)


def require_confidence(confidence: object, of: str) -> None:
    """Raise InputError unless a confidence is above 0 and at most 1. of: names its owner."""
    if not (isinstance(confidence, Real) and not confidence <= 0 and confidence <= 1):
        got, expected = f"{of} confidence {confidence!r:.80}", "more than 0, at most 1"
        raise InputError(got, expected=expected, fix="Leave it out if it is certain.")


def all_of(kind: type[Kind], values: Iterable[Kind]) -> Iterator[Kind]:
    """Yield values of a kind. Raise InputError for a single one and for one of another kind."""
    name = kind.__name__
    if isinstance(values, kind):
        got = f"a single {name}, {values!r:.80}"
        raise InputError(got, expected=f"a list of {name}s", fix="Put it into brackets.")
    if not isinstance(values, Iterable):
        raise InputError(
            f"{values!r:.80}", expected=f"a list of {name}s", fix="Leave it out for none."
        )
    for value in values:
        if not isinstance(value, kind):
            got = f"{value!r:.80} among {name}s"
            raise InputError(got, expected=f"{name}s alone", fix=f"Make it with {name}(...).")
        yield value


def one_of(kind: type[Choice], value: Choice | str) -> Choice:
    """Return the member of an enumeration by its name. Raise InputError for an unknown name."""
    try:
        return kind(value)
    except ValueError as error:
        names = " or ".join(repr(str(one)) for one in kind)
        got = f"{kind.__name__.lower()}={value!r:.80}"
        raise InputError(got, expected=names, fix="Leave it out for the first.") from error


def require_count(name: str, value: object) -> None:
    """Raise InputError unless a number of documents is a whole number from 1, or None for all."""
    if value is None or is_count(value):
        return
    raise InputError(
        f"{name}={value!r:.80}", expected="a whole number from 1", fix="Leave it out for all."
    )
