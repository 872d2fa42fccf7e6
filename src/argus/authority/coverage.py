"""What rules find in the records: who takes part, who cannot and why, what stays undecided."""

from __future__ import annotations

import difflib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from typing_extensions import TypedDict

from argus.authority.heads import Bucket
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Order, Rule, Ties
from argus.errors import InputError

MOST_PAIRS = 1_000
"""Undecided pairs of one rule that are listed."""
TYPES = 8
"""That no rule names, of those that are told."""


@dataclass(frozen=True)
class RuleCoverage:
    """One rule and what it makes of the records."""

    rule: str
    order: Order
    superseding: int
    """Records that can supersede under it."""
    superseded: int
    """Records that can be superseded under it."""
    retired: int
    """Records that are superseded under it, directly."""
    edges: int
    """Direct supersessions, counted without being made; one of two scopes counts twice."""
    undecided: int
    """Records that a superseding record of their scope neither follows nor precedes for certain."""
    pairs: tuple[tuple[str, str], ...]
    """The first of them, each with such a record; of two that could go either way, one pair."""
    no_scope: tuple[str, ...]
    """Records of its types that lack one of its scope keys: it does not apply to them."""
    no_time: tuple[str, ...]
    """Records of its types that lack the time by which it orders: likewise."""
    absent: tuple[str, ...]
    """Types that it names and no record has."""


def cover(authority: Authority) -> list[RuleCoverage]:
    """Count per rule what takes part in it, what it retires, and what it cannot decide.

    Over all records, whatever the time of a view.
    """
    tallies = [_Tally() for _ in authority.rules]
    for (number, _), bucket in authority.index.buckets.items():
        tallies[number].add(bucket, authority.records, authority.rules[number])
    coverage = authority.index.coverage(authority.records.values())
    types = {record.type for record in authority.records.values()}
    return [
        RuleCoverage(
            rule.name, rule.order, entry.superseding, entry.superseded,
            len(tally.retired), tally.edges, len(tally.undecided), tuple(tally.pairs),
            tuple(entry.no_scope), tuple(entry.no_time),
            tuple(t for t in (*rule.superseding, *rule.superseded) if t not in types),
        )
        for rule, entry, tally in zip(authority.rules, coverage, tallies, strict=True)
    ]  # fmt: skip


def require_covered(authority: Authority) -> list[RuleCoverage]:
    """Return the coverage; InputError for a rule that no record can come under.

    Such a rule is a typo more often than a plan: no record is of a type of one side, or none of
    them has its scope key or its time. One of several types may be absent, unless it is nearly the
    name of one that is there.
    """
    covered = cover(authority)
    types = list(dict.fromkeys(record.type for record in authority.records.values()))
    for rule, entry in zip(authority.rules, covered, strict=True):
        named = {*rule.superseding, *rule.superseded}
        for type_ in entry.absent:
            unused = [known for known in types if known not in named]
            if set(_side(rule, type_)) <= set(entry.absent) or _close(type_, unused):
                raise _unknown_type(rule, type_, types)
    for rule, entry in zip(authority.rules, covered, strict=True):
        for side, n in (("superseding", entry.superseding), ("superseded", entry.superseded)):
            if n == 0:
                _refuse(authority, rule, side)
    return covered


def _side(rule: Rule, type_: str) -> tuple[str, ...]:
    return rule.superseding if type_ in rule.superseding else rule.superseded


def _close(name: str, names: list[str]) -> list[str]:
    return difflib.get_close_matches(name, names, n=1)


def _unknown_type(rule: Rule, type_: str, types: list[str]) -> InputError:
    close = _close(type_, types)
    shown = ", ".join(map(repr, sorted(types)[:20])) or "none"
    return InputError(
        f"rule {rule.name!r}: no record is of type {type_!r}",
        expected=f"one of the types of the records: {shown}",
        fix=f"Did you mean {close[0]!r}?" if close else "Mend the rule, or give all records.",
    )


def _refuse(authority: Authority, rule: Rule, side: str) -> None:
    """Raise InputError saying what all records of one side of a rule lack, if it is one thing."""
    types = rule.superseding if side == "superseding" else rule.superseded
    matches = rule.can_supersede if side == "superseding" else rule.can_be_superseded
    records = [r for r in authority.records.values() if r.type in types]
    meeting = [r for r in records if matches(r)]
    where = f"rule {rule.name!r}: of {len(records):,} records of type {' or '.join(types)}"
    if not meeting:
        raise InputError(
            f"{where}, none meets its condition {dict(rule.condition)}",
            expected="some that do",
            fix="Look at the metadata of one of them, and mend the condition.",
        )
    for key in rule.scope:
        name = getattr(key, side)
        if not any(record.values(name) for record in meeting):
            keys = sorted({k for record in meeting for k in record.scope})
            close = _close(name, keys)
            fix = f"Did you mean {close[0]!r}?" if close else "Mend the rule or the records."
            if not close and any(name in record.metadata for record in meeting):
                fix = (
                    "It is a column: put it into the records' `entities`, or say in the rules "
                    f"file where it is (`records:`, `scope: {{{name}: {name}}}`: docs/records.md)."
                )
            raise InputError(
                f"{where}, none has the scope key {name!r}",
                expected=f"one of their keys: {', '.join(map(repr, keys[:20])) or 'none'}",
                fix=fix,
            )
    if all(rule.moment(record) is None for record in meeting):
        missing = "publication time" if rule.order is Order.PUBLISHED else "time"
        raise InputError(
            f"{where}, none has a {missing}",
            expected=f"times, since the rule orders by {rule.order}",
            fix="Say `order: type` where the type alone decides, or name the column of the time.",
        )


@dataclass
class _Tally:
    """What the buckets of one rule come to; a record of several buckets counts once."""

    retired: set[str] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)
    pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    edges: int = 0

    def add(self, bucket: Bucket, records: Mapping[str, Record], rule: Rule) -> None:
        """Count one bucket by its sorted times; no pair is made."""
        superseding = list(bucket.superseding)
        if not rule.is_timed:
            if superseding:
                self.retired.update(id_ for _, id_ in bucket.superseded)
            self.edges += len(bucket.superseded) * len(superseding)
            return
        starts = [start for start, _ in superseding]
        ends = sorted(_end(records[id_], rule) for _, id_ in superseding)
        own = {id_ for _, id_ in superseding}
        for end, id_ in bucket.superseded:
            moment = rule.moment(records[id_])
            first = bisect_left(starts, end)
            earlier = bisect_right(ends, moment.start) if moment is not None else 0
            self.edges += len(starts) - first
            if first < len(starts):
                self.retired.add(id_)
            doubts = first - earlier - (id_ in own)
            if doubts and moment is not None:
                begun = (superseding[i][1] for i in range(first - 1, -1, -1))
                others = (o for o in begun if o != id_ and _end(records[o], rule) > moment.start)
                self._doubt(id_, islice(others, doubts), records, rule)

    def _doubt(
        self, id_: str, others: Iterable[str], records: Mapping[str, Record], rule: Rule
    ) -> None:
        """Note a record as undecided, with who it is undecided to, unless ties are decided."""
        for other in others:
            if id_ in self.undecided and len(self.pairs) >= MOST_PAIRS:
                return
            if rule.ties is Ties.ID and rule.moment(records[other]) == rule.moment(records[id_]):
                continue
            self.undecided.add(id_)
            if (other, id_) not in self.pairs and len(self.pairs) < MOST_PAIRS:
                self.pairs[id_, other] = None


def _end(record: Record, rule: Rule) -> int:
    moment = rule.moment(record)
    return moment.end if moment is not None else 0


class UnruledType(TypedDict):
    """A type that no rule names.

    type: type that records have.
    records: records of the type.
    instead: type of a rule that it is nearly the name of; None without.
    """

    type: str
    records: int
    instead: str | None


def unruled_types(
    records: Iterable[Record], rules: Iterable[Rule], edges: Iterable[Edge] = ()
) -> list[UnruledType]:
    """Return the types of records that no rule names, the most frequent first.

    Nothing is said where there are no rules, and of records that an explicit edge names.
    """
    named = dict.fromkeys(t for rule in rules for t in (*rule.superseding, *rule.superseded))
    if not named:
        return []
    linked = {id_ for edge in edges for id_ in (edge.superseder, edge.superseded)}
    types = Counter(r.type for r in records if r.id not in linked and r.type not in named)
    letters = {_letters(name): name for name in named}
    return [
        {"type": type_, "records": n, "instead": _instead(type_, letters)}
        for type_, n in types.most_common()
    ]


def unruled_lines(types: Sequence[UnruledType]) -> Iterator[str]:
    """Yield a line for each of the first types that no rule names."""
    for entry in types[:TYPES]:
        meant = f": is {entry['instead']!r} meant?" if entry["instead"] else ""
        of_type = f"{entry['records']:,} records are of type {entry['type']!r}"
        yield f"{of_type}, which no rule names{meant}"
    if len(types) > TYPES:
        yield f"and {len(types) - TYPES:,} more types that no rule names"


def _instead(type_: str, letters: Mapping[str, str]) -> str | None:
    """Return the type of the rules that one is probably meant to be, if any: by its letters."""
    close = difflib.get_close_matches(_letters(type_), letters, n=1, cutoff=0.8)
    return letters[close[0]] if close else None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
