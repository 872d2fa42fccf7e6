"""Show what is in force and what is superseded: chains on a time line, at any date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.authority.links import Link
from argus.authority.relation import Authority
from argus.data.tables import read_table
from argus.errors import InputError
from argus.service.page.rendering import (
    PageRoute,
    Rows,
    Values,
    any_of,
    folder_path,
    fragment,
    is_fragment,
    render,
)
from argus.service.state import ServiceOf

MAX_LISTED = 100  # chains, and pairs
MAX_MEMBERS = 60  # records of one chain that are drawn
WIDTH, LEFT, RIGHT, TOP, LANE = 820, 232, 20, 34, 30
"""Pixels: of the drawing, beside the lanes, above them, and of a lane."""
LETTERS = 30  # of a title, beside its lane
TICKS = 6
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Text = Annotated[str, Query(max_length=500)]
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/authority")
def authority(
    request: Request, folder: str, service: ServiceOf, q: Text = "", id: Text = "",
    as_of: Annotated[str, Query(max_length=40)] = "",
) -> HTMLResponse:  # fmt: skip
    """Show the chains of a relation, and one of them at a date."""
    path = folder_path(service.workplace, folder)
    shown: Values = {"q": q, "as_of": as_of, "pairs": _pairs(path, q)}
    served = service.authority
    if served is None:
        return render(request, "authority_pairs.html.j2", "authority", folder, id=id, **shown)
    with served.at() as now:
        listed = heads(now, q)
        shown |= {"heads": listed, "counts": {"records": len(now), "chains": len(listed)}}
    focus = id or (listed[0]["id"] if listed else "")
    shown |= {"id": focus, "chains": None, "drawing": None, "days": None, "day": None, "title": ""}
    if focus:
        day = _day_of(as_of) if as_of else None
        with served.at() as now, served.at(as_of or None) as then:
            chains, title = chains_around(now, then, focus), now.record(focus).title
        shown |= {"title": title, "chains": chains, "drawing": timeline(chains, day),
                  "days": _days(chains), "day": day}  # fmt: skip
    if is_fragment(request) and request.headers.get("hx-target") == "drawn":
        return fragment("authority_drawn.html.j2", folder=folder, **shown)
    return render(request, "authority.html.j2", "authority", folder, **shown)


def _pairs(folder: Path | None, words: str) -> Rows:
    """Return pairs of superseded documents that an audit wrote, those that reach least first."""
    if folder is None or not any_of(folder, "authority.parquet"):
        return []
    columns = ["superseded", "controlling", "superseded_title", "controlling_title", "rule",
               "hops", "title_rank", "text_rank"]  # fmt: skip
    low = words.strip().casefold()
    rows: Rows = [
        row
        for row in read_table(folder / "authority.parquet", columns).to_pylist()
        if not low or any(low in str(row[name]).casefold() for name in columns[:4])
    ]
    rows.sort(key=lambda row: -min(row["title_rank"] or 10**9, row["text_rank"] or 10**9))
    return rows[:MAX_LISTED]


def heads(relation: Authority, words: str) -> Rows:
    """Return records in force that supersede others, the most first, with the first of these.

    words: of an id or title.
    """
    low, found = words.strip().casefold(), Rows()
    for id_, record in relation.records.items():
        if next(relation.older(id_), None) is None or not relation.is_active(id_):
            continue
        below = sorted(relation.below([id_]))
        names = [id_, record.title, *below, *(relation.records[one].title for one in below)]
        if not low or any(low in name.casefold() for name in names):
            found.append({"id": id_, "title": record.title, "superseded": len(below),
                          "first": below[0]})  # fmt: skip
    return sorted(found, key=lambda head: (-head["superseded"], head["id"]))[:MAX_LISTED]


@dataclass(frozen=True, slots=True)
class Member:
    """A record of a chain. begins, ends: days since 1970 of its time; None where it has none.

    state: "in force", "superseded" or "not yet", at the date that is looked at. by: its superseders
    then.
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

    total: how many there are; the first MAX_MEMBERS are members.
    """

    members: tuple[Member, ...]
    links: tuple[Link, ...]
    total: int

    @property
    def days(self) -> tuple[int, int] | None:
        """The first and the last day of their times; None where nothing is dated."""
        begins = [m.begins for m in self.members if m.begins is not None]
        ends = [m.ends for m in self.members if m.ends is not None]
        return (int(min(begins)), int(max(ends))) if begins else None


def chains_around(now: Authority, then: Authority, id_: str) -> Chains:
    """Return all records tied to one by supersessions, by chains in either direction.

    now: the relation without a date; then: as of the date that is looked at. Raises InputError for
    an unknown record.
    """
    now.record(id_)
    closure = now.closure([id_])
    moments = {
        one: now.records[one].time or now.records[one].published
        for one in now.below(closure) | set(closure)
    }
    ordered = sorted(moments, key=lambda one: (m.start if (m := moments[one]) else 0, one))
    members = []
    for one in ordered[:MAX_MEMBERS]:
        record, moment = now.records[one], moments[one]
        by: tuple[str, ...] = ()
        state = "not yet"
        if then.in_force(one):
            by = tuple(link.superseder for link in islice(then.links(one), 5))
            state = "superseded" if by else "in force"
        members.append(Member(
            one, record.title, record.type, str(moment) if moment else "",
            moment.start / _DAY if moment else None, moment.end / _DAY if moment else None,
            state, by,
        ))  # fmt: skip
    drawn = {member.id for member in members}
    links = [link for m in members for link in now.links(m.id) if link.superseder in drawn]
    return Chains(tuple(members), tuple(links), len(ordered))


@dataclass(frozen=True, slots=True)
class Lane:
    """A record: its row, and from where to where it is in force; without a date one step each."""

    member: Member
    name: str
    y: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """A drawing of chains: a lane per record, from its effect until it is superseded.

    arrows: paths from the superseded record to its superseder. now: where the date that is looked
    at lies; None without dates.
    """

    width: int
    height: int
    lanes: tuple[Lane, ...]
    arrows: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    now: float | None
    is_dated: bool


def timeline(chains: Chains, day: int | None) -> Timeline:
    """Return the drawing of some chains. day: since 1970, that is looked at; None: today."""
    height, span = TOP + LANE * len(chains.members) + 16, None
    if chains.days is not None:  # the first and last day, with room at both ends
        seen = [*chains.days, *([] if day is None else [day])]
        room = max(30, (max(seen) - min(seen)) * 0.06)
        span = min(seen) - room, max(seen) + room
    lanes = {lane.member.id: lane for lane in _lanes(chains, span)}
    arrows = tuple(_arrow(lanes[one.superseded], lanes[one.superseder]) for one in chains.links)
    ticks = () if span is None else tuple(_ticks(span))
    now = None if span is None or day is None else _pixel(day, span)
    drawn = tuple(lanes.values())
    return Timeline(WIDTH, height, drawn, arrows, ticks, now, span is not None)


def _pixel(day: float, span: tuple[float, float]) -> float:
    share = (day - span[0]) / (span[1] - span[0])
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _lanes(chains: Chains, span: tuple[float, float] | None) -> Iterator[Lane]:
    begins = {member.id: member.begins for member in chains.members}
    ends: dict[str, float] = {}
    for link in chains.links:
        if (begin := begins[link.superseder]) is not None:
            ends[link.superseded] = min(begin, ends.get(link.superseded, begin))
    steps = {} if span is not None else _steps(chains)
    for row, member in enumerate(chains.members):
        y, name = TOP + LANE * row + LANE // 2, member.title or member.id
        name = name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
        if span is None:
            x = LEFT + steps[member.id] * (WIDTH - LEFT - RIGHT) / max(1, *steps.values(), 1)
            yield Lane(member, name, y, round(x, 1), round(x, 1))
            continue
        start = LEFT if member.begins is None else _pixel(member.begins, span)
        end = _pixel(ends[member.id], span) if member.id in ends else WIDTH - RIGHT
        yield Lane(member, name, y, start, max(start, end))


def _steps(chains: Chains) -> dict[str, int]:
    """Return how many supersessions lie before each record: its column where nothing is dated."""
    steps = {member.id: 0 for member in chains.members}
    for _ in range(len(steps)):
        later = {
            link.superseder: steps[link.superseded] + 1
            for link in chains.links
            if steps[link.superseder] <= steps[link.superseded]
        }
        if not later:
            break
        steps.update(later)
    return steps


def _arrow(older: Lane, newer: Lane) -> str:
    """Return a path from the end of one lane to the beginning of the other."""
    x, y, to_x, to_y = older.end, older.y, newer.start, newer.y
    down = 6 if to_y > y else -6
    bend = x + max(14.0, (to_x - x) / 2)
    return f"M{x} {y}C{bend:.1f} {y} {to_x} {(y + to_y) / 2} {to_x} {to_y - down}"


def _ticks(span: tuple[float, float]) -> Iterator[tuple[float, str]]:
    step = (span[1] - span[0]) / TICKS
    for number in range(TICKS):
        day = span[0] + step * (number + 0.5)
        at = _date_of(day)
        words = f"{at.year}" if step > 400 else f"{at.year}-{at.month:02}"
        yield _pixel(day, span), words if step > 31 else str(at)


def _days(chains: Chains) -> tuple[int, int, str, str] | None:
    """Return the first and last day that can be chosen, and both as dates."""
    if (days := chains.days) is None:
        return None
    today = (datetime.now(UTC) - _EPOCH).days
    first, last = days[0] - 30, max(days[1] + 30, min(today, days[1] + 365))
    return first, last, str(_date_of(first)), str(_date_of(last))


def _date_of(day: float) -> date:
    """Return a day since 1970 as a date, within those that a calendar has."""
    try:
        return (_EPOCH + timedelta(days=day)).date()
    except OverflowError:
        return date.max if day > 0 else date.min


def _day_of(text: str) -> int:
    """Return a date such as 2024-03-01 in days since 1970; InputError where it is none."""
    try:
        return (datetime.fromisoformat(text).replace(tzinfo=UTC) - _EPOCH).days
    except ValueError as error:
        raise InputError(
            f"{text!r} is no date",
            expected="a date such as 2024-03-01",
            fix="Leave it out to look at today.",
            where="as_of",
        ) from error
