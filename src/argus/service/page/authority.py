"""Show documents in force and superseded ones: their chains on a time line, at any date."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.authority.relation import Authority
from argus.data.reading import reading
from argus.data.tables import read_table
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
        day = None
        wrong, fix = f"{as_of!r} is no date", "Leave it out to look at today."
        with reading("as_of", wrong, expected="a date such as 2024-03-01", fix=fix):
            if as_of:
                day = (datetime.fromisoformat(as_of).replace(tzinfo=UTC) - _EPOCH).days
        with served.at() as now, served.at(as_of or None) as then:
            chains, title = chains_around(now, then, focus), now.record(focus).title
        drawing, days = draw_timeline(chains, day), _selectable_days(chains["days"])
        values |= {"title": title, "chains": chains, "day": day, "drawing": drawing, "days": days}
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
    members, links, days = chains["members"], chains["links"], chains["days"]
    starts = {member["id"]: member["begins"] for member in members}
    if days is None:
        starts = dict.fromkeys(starts, 0)
        for _ in members:
            for link in links:
                column = starts[link.superseded] + 1
                starts[link.superseder] = max(column, starts[link.superseder])
        first, last, ends = 0, max(1, *starts.values()), starts
    else:  # the first and last day, with room at both ends
        seen, ends = [*days, *([] if day is None else [day])], {}
        room = max(30, (max(seen) - min(seen)) * 0.06)
        first, last = min(seen) - room, max(seen) + room
        for link in links:
            if (begin := starts[link.superseder]) is not None:
                ends[link.superseded] = min(begin, ends.get(link.superseded, begin))

    def pixel(day: float) -> float:
        share: float = (day - first) / (last - first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    lanes: dict[str, Values] = {}
    for row, member in enumerate(members):
        id_, name = member["id"], member["title"] or member["id"]
        start = pixel(first if starts[id_] is None else starts[id_])
        lanes[id_] = {
            "member": member, "y": TOP + LANE * row + LANE // 2, "start": start,
            "end": max(start, pixel(ends.get(id_, last))),
            "name": name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…",
        }  # fmt: skip
    ticks = []
    for number in range(0 if days is None else TICKS):  # as coarse as the span is long
        step = (last - first) / TICKS
        at = _date_of(first + step * (number + 0.5))
        words = f"{at.year}" if step > 400 else f"{at.year}-{at.month:02}"
        ticks.append((pixel(first + step * (number + 0.5)), words if step > 31 else str(at)))
    return {
        "width": WIDTH, "height": TOP + LANE * len(members) + 16, "lanes": list(lanes.values()),
        "arrows": [_arrow(lanes[one.superseded], lanes[one.superseder]) for one in links],
        "ticks": ticks, "now": None if days is None or day is None else pixel(day),
        "is_dated": days is not None,
    }  # fmt: skip


def _arrow(older: Values, newer: Values) -> str:
    """Return a path from the end of one lane to the beginning of the other."""
    x, y, to_x, to_y = older["end"], older["y"], newer["start"], newer["y"]
    down = 6 if to_y > y else -6
    bend = x + max(14.0, (to_x - x) / 2)
    return f"M{x} {y}C{bend:.1f} {y} {to_x} {(y + to_y) / 2} {to_x} {to_y - down}"


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
