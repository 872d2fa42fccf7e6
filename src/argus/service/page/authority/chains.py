"""Chains of supersession around one record, and where each of them stands at a date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from argus.authority.links import Link
from argus.authority.records import Record
from argus.authority.relation import Authority

MOST_MEMBERS = 60
"""Records of one chain that are drawn."""
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Member:
    """A record of a chain. begins, ends: days since 1970 of its time; None where it has none.

    state: "in force", "superseded" or "not yet", at the date that is looked at. by: what supersedes
    it then.
    """

    id: str
    title: str
    type: str
    time: str
    begins: float | None
    ends: float | None
    state: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chains:
    """Records that supersede each other, oldest first. links: among them, without any date.

    total: how many there are; the first MOST_MEMBERS are members.
    """

    members: tuple[Member, ...]
    links: tuple[Link, ...]
    total: int

    @property
    def days(self) -> tuple[int, int] | None:
        """The first and the last day of their times; None where nothing is dated."""
        dated = [m for m in self.members if m.begins is not None and m.ends is not None]
        if not dated:
            return None
        return int(min(m.begins or 0 for m in dated)), int(max(m.ends or 0 for m in dated))


def chains_around(now: Authority, then: Authority, id_: str) -> Chains:
    """Return all that a record is tied to by supersessions, by chains in either direction.

    now: the relation without a date; then: as of the date that is looked at. Raises InputError for
    an unknown record.
    """
    now.record(id_)
    everything = now.below(now.closure([id_])) | set(now.closure([id_]))
    ordered = sorted(everything, key=lambda one: (_begin(now.records[one]), one))
    drawn = ordered[:MOST_MEMBERS]
    inside = set(drawn)
    links = [link for one in drawn for link in now.links(one) if link.superseder in inside]
    members = tuple(_member(now.records[one], then) for one in drawn)
    return Chains(members, tuple(links), len(ordered))


def _begin(record: Record) -> int:
    moment = record.time or record.published
    return moment.start if moment is not None else 0


def _member(record: Record, then: Authority) -> Member:
    moment = record.time or record.published
    is_in_force = then.in_force(record.id)
    by = tuple(link.superseder for link in islice(then.links(record.id), 5)) if is_in_force else ()
    state = "not yet" if not is_in_force else "superseded" if by else "in force"
    return Member(
        record.id, record.title, record.type, str(moment) if moment else "",
        moment.start / _DAY if moment else None, moment.end / _DAY if moment else None, state, by,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Head:
    """A record in force that supersedes others, and how many, by chains."""

    id: str
    title: str
    superseded: int
    first: str
    """One of them."""


def heads(authority: Authority, words: str, most: int) -> list[Head]:
    """Return records in force that supersede others, the most first; words: of an id or title."""
    low = words.strip().casefold()
    every = sorted(_heads(authority, low), key=lambda head: (-head.superseded, head.id))
    return every[:most]


def _heads(authority: Authority, low: str) -> Iterator[Head]:
    for id_, record in authority.records.items():
        if next(authority.older(id_), None) is None or not authority.is_active(id_):
            continue
        below = sorted(authority.below([id_]))
        names = [id_, record.title, *below, *(authority.records[one].title for one in below)]
        if not low or any(low in name.casefold() for name in names):
            yield Head(id_, record.title, len(below), below[0])


def date_of(day: float) -> date:
    """Return a day since 1970 as a date, within those that a calendar has."""
    try:
        return (_EPOCH + timedelta(days=day)).date()
    except OverflowError:
        return date.max if day > 0 else date.min


def day_of(text: str) -> int:
    """Return a date such as 2024-03-01 in days since 1970; ValueError where it is none."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return (moment - _EPOCH).days
