"""Show documents in force and superseded ones: their chains on a time line, at any date."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.authority.relation import Authority
from argus.data.tables import read_table
from argus.errors import InputError
from argus.service.page.rendering import PageOf, PageRoute, Rows, Values, any_of

MAX_LISTED = 100  # chains, and pairs
MAX_MEMBERS = 60  # records of one chain that are drawn
WIDTH, LEFT, RIGHT, TOP, LANE = 820, 232, 20, 34, 30
"""Pixels: of the drawing, beside the lanes, above them, and of a lane."""
LETTERS = 30  # of a title, beside its lane
TICKS = 6
PAIRS = ["superseded", "controlling", "superseded_title", "controlling_title", "rule", "hops",
         "title_rank", "text_rank"]  # fmt: skip
Text = Annotated[str, Query(max_length=500)]
Span: TypeAlias = tuple[float, float]
"""First and last day of a drawing, since 1970."""
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/authority")
def authority(
    page: PageOf, q: Text = "", id: Text = "", as_of: Annotated[str, Query(max_length=40)] = ""
) -> HTMLResponse:
    """Show the chains of a relation, and one of them at a date."""
    values: Values = {"q": q, "as_of": as_of, "pairs": _pairs(page.path, q)}
    served = page.service.authority
    if served is None:
        return page.render("authority_pairs.html.j2", id=id, **values)
    with served.at() as now:
        listed = heads(now, q)
        values |= {"heads": listed, "counts": {"records": len(now), "chains": len(listed)}}
    focus = id or (listed[0]["id"] if listed else "")
    values |= {"id": focus, "chains": None, "drawing": None, "days": None, "day": None, "title": ""}
    if focus:
        day = _read_day(as_of) if as_of else None
        with served.at() as now, served.at(as_of or None) as then:
            chains, title = chains_around(now, then, focus), now.record(focus).title
        values |= {"title": title, "chains": chains, "day": day}
        values |= {"drawing": draw_timeline(chains, day), "days": _selectable_days(chains["days"])}
    if page.is_part and page.request.headers.get("hx-target") == "drawn":
        return page.part("authority_drawn.html.j2", **values)
    return page.render("authority.html.j2", **values)


def _pairs(folder: Path | None, words: str) -> Rows:
    """Return pairs of superseded documents that an audit wrote, those that reach least first."""
    if folder is None or not any_of(folder, "authority.parquet"):
        return []
    low = words.strip().casefold()
    rows: Rows = [
        row
        for row in read_table(folder / "authority.parquet", PAIRS).to_pylist()
        if not low or any(low in str(row[name]).casefold() for name in PAIRS[:4])
    ]
    rows.sort(key=lambda row: -min(row["title_rank"] or 10**9, row["text_rank"] or 10**9))
    return rows[:MAX_LISTED]


def heads(relation: Authority, words: str) -> Rows:
    """Return records in force that supersede others, those that supersede most first.

    words: of an id or title of the record or of one that it supersedes.
    """
    low, found = words.strip().casefold(), Rows()
    for id_, record in relation.records.items():
        if next(relation.older(id_), None) is None or not relation.is_active(id_):
            continue
        below = sorted(relation.superseded_by_any([id_]))
        names = [id_, record.title, *below, *(relation.records[one].title for one in below)]
        if not low or any(low in name.casefold() for name in names):
            found.append({"id": id_, "title": record.title, "superseded": len(below)})
    return sorted(found, key=lambda head: (-head["superseded"], head["id"]))[:MAX_LISTED]


def chains_around(now: Authority, then: Authority, id_: str) -> Values:
    """Return all records tied to one by supersessions, by chains in either direction.

    now: the relation without a date. then: the relation as of the date that is looked at. The
    result has the first MAX_MEMBERS records as "members", oldest first, each with its state then
    ("in force", "superseded" or "not yet") and its superseders. "links" are those among them,
    without any date, "total" counts all records, and "days" are the first and last of their days
    since 1970, None where nothing is dated. Raises InputError for an unknown record.
    """
    now.record(id_)
    closure = now.closure([id_])
    moments = {
        one: now.records[one].time or now.records[one].published
        for one in now.superseded_by_any(closure) | set(closure)
    }
    ordered = sorted(moments, key=lambda one: (m.start if (m := moments[one]) else 0, one))
    members: Rows = []
    for one in ordered[:MAX_MEMBERS]:
        record, moment = now.records[one], moments[one]
        by: tuple[str, ...] = ()
        state = "not yet"
        if then.in_force(one):
            by = tuple(link.superseder for link in islice(then.links(one), 5))
            state = "superseded" if by else "in force"
        members.append({
            "id": one, "title": record.title, "type": record.type, "state": state, "by": by,
            "time": str(moment) if moment else "",
            "begins": moment.start / _DAY if moment else None,
            "ends": moment.end / _DAY if moment else None,
        })  # fmt: skip
    drawn = {member["id"] for member in members}
    links = [link for m in members for link in now.links(m["id"]) if link.superseder in drawn]
    dated = [member for member in members if member["begins"] is not None]
    days = None
    if dated:
        days = int(min(m["begins"] for m in dated)), int(max(m["ends"] for m in dated))
    return {"members": members, "links": links, "total": len(ordered), "days": days}


def draw_timeline(chains: Values, day: int | None) -> Values:
    """Return the drawing of some chains: a lane per record, from its effect to its superseder's.

    day: since 1970, that is looked at. None: today. Without dates a record stands at a column for
    each supersession before it. arrows: paths from the superseded record to its superseder. now:
    where the day lies, None without dates.
    """
    members, span = chains["members"], None
    if chains["days"] is not None:  # the first and last day, with room at both ends
        seen = [*chains["days"], *([] if day is None else [day])]
        room = max(30, (max(seen) - min(seen)) * 0.06)
        span = min(seen) - room, max(seen) + room
    begins = {member["id"]: member["begins"] for member in members}
    ends: dict[str, float] = {}
    for link in chains["links"]:
        if (begin := begins[link.superseder]) is not None:
            ends[link.superseded] = min(begin, ends.get(link.superseded, begin))
    steps = _steps(chains) if span is None else {}
    lanes: dict[str, Values] = {}
    for row, member in enumerate(members):
        id_, name = member["id"], member["title"] or member["id"]
        if span is None:
            x = LEFT + steps[id_] * (WIDTH - LEFT - RIGHT) / max(1, *steps.values(), 1)
            start = end = round(x, 1)
        else:
            start = LEFT if member["begins"] is None else _pixel(member["begins"], span)
            end = max(start, _pixel(ends[id_], span) if id_ in ends else WIDTH - RIGHT)
        lanes[id_] = {
            "member": member, "y": TOP + LANE * row + LANE // 2, "start": start, "end": end,
            "name": name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…",
        }  # fmt: skip
    return {
        "width": WIDTH, "height": TOP + LANE * len(members) + 16, "lanes": list(lanes.values()),
        "arrows": [_arrow(lanes[one.superseded], lanes[one.superseder]) for one in chains["links"]],
        "ticks": [] if span is None else _ticks(span),
        "now": None if span is None or day is None else _pixel(day, span),
        "is_dated": span is not None,
    }  # fmt: skip


def _pixel(day: float, span: Span) -> float:
    share = (day - span[0]) / (span[1] - span[0])
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _steps(chains: Values) -> dict[str, int]:
    """Return how many supersessions lie before each record."""
    steps: dict[str, int] = {member["id"]: 0 for member in chains["members"]}
    for _ in range(len(steps)):
        later = {
            link.superseder: steps[link.superseded] + 1
            for link in chains["links"]
            if steps[link.superseder] <= steps[link.superseded]
        }
        if not later:
            break
        steps.update(later)
    return steps


def _arrow(older: Values, newer: Values) -> str:
    """Return a path from the end of one lane to the beginning of the other."""
    x, y, to_x, to_y = older["end"], older["y"], newer["start"], newer["y"]
    down = 6 if to_y > y else -6
    bend = x + max(14.0, (to_x - x) / 2)
    return f"M{x} {y}C{bend:.1f} {y} {to_x} {(y + to_y) / 2} {to_x} {to_y - down}"


def _ticks(span: Span) -> list[tuple[float, str]]:
    """Return the places and dates of the grid's lines, as coarse as the span is long."""
    step, ticks = (span[1] - span[0]) / TICKS, []
    for number in range(TICKS):
        day = span[0] + step * (number + 0.5)
        at = _date_of(day)
        words = f"{at.year}" if step > 400 else f"{at.year}-{at.month:02}"
        ticks.append((_pixel(day, span), words if step > 31 else str(at)))
    return ticks


def _selectable_days(days: tuple[int, int] | None) -> tuple[Any, ...] | None:
    """Return the first and last day that can be chosen, and both as dates."""
    if days is None:
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


def _read_day(text: str) -> int:
    """Return a date such as 2024-03-01 in days since 1970. Raises InputError where it is none."""
    try:
        return (datetime.fromisoformat(text).replace(tzinfo=UTC) - _EPOCH).days
    except ValueError as error:
        raise InputError(
            f"{text!r} is no date",
            expected="a date such as 2024-03-01",
            fix="Leave it out to look at today.",
            where="as_of",
        ) from error
