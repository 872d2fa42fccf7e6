"""Chains as a drawing: a lane per record, from when it takes effect until it is superseded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from argus.service.page.authority.chains import Chains, Member, date_of

WIDTH, LEFT, RIGHT, TOP, LANE = 820, 232, 20, 34, 30
"""Pixels: of the drawing, beside the lanes, above them, and of a lane."""
LETTERS = 30
"""Of a title, beside its lane."""
TICKS = 6


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
    """What the template draws. arrows: paths from what is superseded to what supersedes it.

    now: where the date that is looked at lies; None without dates.
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
    height = TOP + LANE * len(chains.members) + 16
    span = _span(chains, day)
    lanes = tuple(_lanes(chains, span))
    by_id = {lane.member.id: lane for lane in lanes}
    arrows = tuple(_arrow(by_id[link.superseded], by_id[link.superseder]) for link in chains.links)
    ticks = () if span is None else tuple(_ticks(span))
    now = None if span is None or day is None else _pixel(day, span)
    return Timeline(WIDTH, height, lanes, arrows, ticks, now, span is not None)


def _span(chains: Chains, day: int | None) -> tuple[float, float] | None:
    """Return the first and last day that is drawn, with room at both ends."""
    days = chains.days
    if days is None:
        return None
    seen = [*days, *([] if day is None else [day])]
    first, last = min(seen), max(seen)
    room = max(30, (last - first) * 0.06)
    return first - room, last + room


def _pixel(day: float, span: tuple[float, float]) -> float:
    share = (day - span[0]) / (span[1] - span[0])
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _lanes(chains: Chains, span: tuple[float, float] | None) -> Iterator[Lane]:
    begins = {member.id: member.begins for member in chains.members}
    ends: dict[str, float] = {}
    for link in chains.links:
        begin = begins[link.superseder]
        if begin is not None:
            ends[link.superseded] = min(begin, ends.get(link.superseded, begin))
    steps = _steps(chains) if span is None else {}
    for row, member in enumerate(chains.members):
        y = TOP + LANE * row + LANE // 2
        name = member.title or member.id
        name = name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
        if span is None:
            x = LEFT + steps[member.id] * (WIDTH - LEFT - RIGHT) / max(1, *steps.values(), 1)
            yield Lane(member, name, y, round(x, 1), round(x, 1))
            continue
        start = LEFT if member.begins is None else _pixel(member.begins, span)
        end = _pixel(ends[member.id], span) if member.id in ends else WIDTH - RIGHT
        yield Lane(member, name, y, start, max(start, end))


def _steps(chains: Chains) -> Mapping[str, int]:
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
    for number in range(TICKS + 1):
        day = span[0] + step * (number + 0.5)
        if day < span[1]:
            at = date_of(day)
            words = f"{at.year}" if step > 400 else f"{at.year}-{at.month:02}"
            yield _pixel(day, span), words if step > 31 else str(at)
