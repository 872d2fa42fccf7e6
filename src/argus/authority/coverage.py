"""What rules find in the records: who takes part, who cannot and why, what stays undecided."""

from __future__ import annotations

import difflib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Order, Rule
from argus.authority.scopes import Bucket
from argus.errors import InputError


@dataclass(frozen=True)
class RuleCoverage:
    """One rule and what it makes of the records."""

    rule: str
    superseding: int
    """Records that can supersede under it."""
    superseded: int
    """Records that can be superseded under it."""
    retired: int
    """Records that are superseded under it, directly."""
    edges: int
    """Direct supersessions: pairs, counted without being made."""
    undecided: int
    """Pairs in one scope whose times do not tell which is later: neither supersedes the other."""
    no_scope: tuple[str, ...]
    """Records of its types that lack one of its scope keys: it does not apply to them."""
    no_time: tuple[str, ...]
    """Records of its types that lack the time by which it orders: likewise."""


def cover(authority: Authority) -> list[RuleCoverage]:
    """Count per rule what takes part in it, what it retires, and what it cannot decide."""
    counts = [[0, 0, 0] for _ in authority.rules]
    for (number, _), bucket in authority.index.buckets.items():
        for i, value in enumerate(_counts(bucket, authority, authority.rules[number])):
            counts[number][i] += value
    found = authority.index.coverage(authority.records.values())
    return [
        RuleCoverage(
            rule.name, entry.superseding, entry.superseded, numbers[0], numbers[1], numbers[2],
            tuple(entry.no_scope), tuple(entry.no_time),
        )
        for rule, entry, numbers in zip(authority.rules, found, counts, strict=True)
    ]  # fmt: skip


def require_covered(authority: Authority) -> list[RuleCoverage]:
    """Return the coverage; InputError for a rule that no record can come under.

    Such a rule is a typo more often than a plan: its type occurs nowhere, or none of the records of
    its types has its scope key or its time.
    """
    types = dict.fromkeys(record.type for record in authority.records.values())
    for rule in authority.rules:
        for type_ in (*rule.superseding, *rule.superseded):
            if type_ not in types and not set(_side(rule, type_)) & set(types):
                raise _unknown_type(rule, type_, list(types))
    covered = cover(authority)
    for rule, found in zip(authority.rules, covered, strict=True):
        for side, n in (("superseding", found.superseding), ("superseded", found.superseded)):
            if n == 0:
                _refuse(authority, rule, side)
    return covered


def _side(rule: Rule, type_: str) -> tuple[str, ...]:
    return rule.superseding if type_ in rule.superseding else rule.superseded


def _unknown_type(rule: Rule, type_: str, types: list[str]) -> InputError:
    close = difflib.get_close_matches(type_, types, n=1)
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
            close = difflib.get_close_matches(name, keys, n=1)
            raise InputError(
                f"{where}, none has the scope key {name!r}",
                expected=f"one of their keys: {', '.join(map(repr, keys[:20])) or 'none'}",
                fix=f"Did you mean {close[0]!r}?" if close else "Mend the rule or the records.",
            )
    if all(rule.moment(record) is None for record in meeting):
        field = "publication time" if rule.order is Order.PUBLISHED else "time"
        raise InputError(
            f"{where}, none has a {field}",
            expected=f"times, since the rule orders by {rule.order}",
            fix="Say `order: type` where the type alone decides, or name the column of the time.",
        )


def _counts(bucket: Bucket, authority: Authority, rule: Rule) -> Iterator[int]:
    """Yield retired records, direct supersessions and undecided pairs of one bucket."""
    starts = [start for start, _ in bucket.superseding]
    ids = {id_ for _, id_ in bucket.superseding}
    if rule.order is Order.TYPE:
        yield from (len(bucket.superseded) if ids else 0, len(bucket.superseded) * len(ids), 0)
        return
    ends = sorted(_end(authority.records[id_], rule) for id_ in ids)
    retired = edges = undecided = 0
    for end, id_ in bucket.superseded:
        moment = rule.moment(authority.records[id_])
        later = len(starts) - bisect_left(starts, end)
        earlier = bisect_right(ends, moment.start) if moment is not None else 0
        retired += later > 0
        edges += later
        undecided += len(starts) - later - earlier - (id_ in ids)
    yield from (retired, edges, undecided)


def _end(record: Record, rule: Rule) -> int:
    moment = rule.moment(record)
    return moment.end if moment is not None else 0
