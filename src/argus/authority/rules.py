"""Define records, and the rules and edges that say which record supersedes which (CAR Def. 1).

A `Record` is a document with type, scope and time. A `Rule` holds for all records of its types that
share a scope: the later one supersedes. An `Edge` is one known pair. `domains` reads records and
rules from files. `relation` answers questions about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from itertools import product
from numbers import Real
from pathlib import Path

from argus.authority.times import Moment, parse_moment
from argus.data.types import Document
from argus.errors import InputError, Location

Values = str | tuple[str, ...]
OWN_ID = "_id"  # the scope key that every record has: its id, for records that name others by id


@dataclass(frozen=True, slots=True)
class Record:
    """One document as the authority relation sees it.

    scope: sigma(d), a set of entities as key -> value, or a tuple of values. time: when it takes
    effect. published: when it became known. None means with `time`. Rules say which of the two
    orders. Raises InputError for a scope value that is not text.
    """

    id: str
    type: str
    time: Moment | None = None
    scope: Mapping[str, Values] = field(default_factory=dict)
    text: str = ""
    title: str = ""
    published: Moment | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(type(values) is not str for values in self.scope.values()):
            scope = {key: self._texts(key, values) for key, values in self.scope.items()}
            object.__setattr__(self, "scope", scope)

    def _texts(self, key: str, values: object) -> Values:
        """Return the values of a scope key as one text or a tuple of texts."""
        if isinstance(values, str):
            return values
        if isinstance(values, Iterable) and not isinstance(values, Mapping):
            texts = tuple(sorted(values, key=str) if isinstance(values, Set) else values)
            if all(isinstance(text, str) for text in texts):
                return texts
        got = f"{values!r:.80} as {key!r} in the scope of {self.id!r}"
        fix = "Give numbers as text, and leave out a key that has no value."
        raise InputError(got, expected="a text, or a list of texts", fix=fix)

    @classmethod
    def of(
        cls,
        id_: str,
        type_: str,
        scope: Mapping[str, Values],
        *,
        time: str | date | None = None,
        published: str | date | None = None,
        text: str = "",
        title: str = "",
        metadata: Mapping[str, object] | None = None,
    ) -> Record:
        """Make a record of plain values: times as text or dates, as `parse_moment` reads them."""
        known = parse_moment(published, where=f"published of {id_!r}")
        moment = parse_moment(time, where=f"time of {id_!r}")
        return cls(id_, type_, moment, scope, text, title, known, metadata or {})

    def values(self, key: str) -> tuple[str, ...]:
        """Return the entities of a scope key, none where the record lacks it."""
        value = self.scope.get(key, self.id if key == OWN_ID else ())
        return (value,) if isinstance(value, str) else value

    @property
    def known(self) -> Moment | None:
        """Publication, or else the time of taking effect."""
        return self.published or self.time

    @property
    def entities(self) -> frozenset[tuple[str, str]]:
        """sigma(d) as a set of (key, value)."""
        return frozenset((key, value) for key in self.scope for value in self.values(key))

    @property
    def document(self) -> Document:
        """Document for a retriever: id, title and text, without the scope."""
        return Document(self.id, self.text, self.title)


def find_record(records: Mapping[str, Record], id_: str) -> Record:
    """Return a record by its id. Raise InputError if there is none."""
    entry = records.get(id_)
    if entry is None:
        expected = f"the id of one of the {len(records):,} records"
        fix = "Check that these ids and the records are of one corpus."
        raise InputError(f"no record {id_!r}", expected=expected, fix=fix)
    return entry


@contextmanager
def located(where: Location | Path | str | None) -> Iterator[None]:
    """Add a place to each InputError that names none."""
    try:
        yield
    except InputError as error:
        if error.where is not None:
            raise
        raise InputError(error.got, expected=error.expected, fix=error.fix, where=where) from error


def corpus_of(records: Iterable[Record]) -> list[Document]:
    """Return the documents for a retriever, ordered by id, with the fields of CAR's Appendix D.

    They hold no metadata of their own, which may reveal the gold.
    """
    return [
        Document(
            r.id, r.text, r.title,
            metadata={
                "type": r.type, "event_type": r.type,
                "timestamp": None if r.time is None else str(r.time),
                "entities": {k: v if isinstance(v, str) else list(v) for k, v in r.scope.items()},
            },
        )
        for r in sorted(records, key=lambda r: r.id)
    ]  # fmt: skip


SUPERSEDES = "supersedes"  # the relation of rules and edges that name none


class Order(StrEnum):
    """Order of two records."""

    EFFECTIVE = "effective"  # The later time of taking effect (Def. 1)
    PUBLISHED = "published"  # The later publication
    TYPE = "type"  # The type alone, for records without times
    # The name alone: a record that names another (`obsoletes`, `replaces`) supersedes it, whatever
    # the times say. A record does not supersede itself.
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class ScopeKey:
    """One equality of a scope test: a value of the one record is a value of the other.

    Usually both sides have one name. A superseder that names its predecessor has another: an
    opinion's `overrules` equals the earlier case's `citation`.
    """

    superseding: str
    superseded: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Records of `superseding` types supersede those of `superseded` types in the same scope.

    scope: keys on which both must agree. No key makes a global rule (R10), under which all records
    share one scope. The key `_id` is a record's own id. order: the time that must be later.
    condition: field of the superseding or superseded record
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

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "superseding", _strings(self.superseding))
        put(self, "superseded", _strings(self.superseded))
        keys = (self.scope,) if isinstance(self.scope, (str, ScopeKey)) else self.scope
        put(self, "scope", tuple(ScopeKey(k, k) if isinstance(k, str) else k for k in keys))
        put(self, "order", Order(self.order))
        put(self, "condition", {k: _strings(v) for k, v in self.condition.items()})
        if not self.name:
            put(self, "name", f"{'|'.join(self.superseding)} > {'|'.join(self.superseded)}")
        overlap = set(self.superseding) & set(self.superseded)
        names = any(key.superseding != key.superseded for key in self.scope)
        if overlap and not self.is_timed and not (self.order is Order.NAMED and names):
            got = f"rule {self.name!r}: type {min(overlap)!r} would supersede itself"
            expected = "two types, or an order by time; for order named a scope key of two names, "
            expected += "such as {superseding: obsoletes, superseded: number}"
            raise InputError(got, expected=expected, fix="Say what makes one of the two later.")
        require_confidence(self.confidence, f"rule {self.name!r}:")
        for name in self.condition:
            if not re.fullmatch(r"(superseding|superseded)\..+", name):
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
        """Yield the scopes, one value per key, in which a record supersedes."""
        scopes = self._scopes(record, [key.superseding for key in self.scope])
        if self.order is not Order.NAMED or not self.can_be_superseded(record):
            return scopes
        own = set(self.superseded_scopes(record))
        return (scope for scope in scopes if scope not in own)

    def superseded_scopes(self, record: Record) -> Iterator[tuple[str, ...]]:
        """Yield the scopes in which a record can be superseded."""
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

    def _scopes(self, record: Record, keys: list[str]) -> Iterator[tuple[str, ...]]:
        return product(*(dict.fromkeys(record.values(key)) for key in keys))

    def _meets(self, record: Record, side: str) -> bool:
        for name, allowed in self.condition.items():
            of, field = name.split(".", 1)
            if of == side and str(record.metadata.get(field)) not in allowed:
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
        if self.superseder == self.superseded:
            got, expected = f"{self.superseder!r} supersedes itself", "two documents"
            raise InputError(got, expected=expected, fix="Remove the edge, or mend one of its ids.")
        of = f"{self.superseder!r} supersedes {self.superseded!r} with"
        require_confidence(self.confidence, of)


def _strings(values: str | Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)


def require_confidence(confidence: object, of: str) -> None:
    """Raise InputError unless a confidence is above 0 and at most 1. of: names its owner."""
    if not (isinstance(confidence, Real) and not confidence <= 0 and confidence <= 1):
        got, expected = f"{of} confidence {confidence!r:.80}", "more than 0, at most 1"
        raise InputError(got, expected=expected, fix="Leave it out if it is certain.")
