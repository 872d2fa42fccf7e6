"""Show the page of supersession chains in `argus serve`: which documents are in force, at a date.

Route `authority`. Records with rules or edges give an authority relation (CAR): it leads from a
superseded document through a chain to the newest one, which controls. `argus.authority` resolves
the chains.
"""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.authority.relation import Authority
from argus.service.page.rendering import PageOf, PageRoute, Rows, Values

MAX_LISTED = 100  # chains
MAX_MEMBERS = 60  # records of one chain
Text = Annotated[str, Query(max_length=500)]
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/authority")
def authority(
    page: PageOf, q: Text = "", id: Text = "", as_of: Annotated[str, Query(max_length=40)] = ""
) -> HTMLResponse:
    """Show the chains of supersessions, and one of them at a date."""
    values: Values = {"q": q, "as_of": as_of}
    served = page.service.authority
    if served is None:
        return page.render("authority_none.html.j2")
    with served.at() as now:
        listed = heads(now, q)
        values |= {"heads": listed, "counts": {"records": len(now), "chains": len(listed)}}
    focus = id or (listed[0]["id"] if listed else "")
    values |= {"id": focus, "chains": None, "title": ""}
    if focus:
        with served.at() as now, served.at(as_of or None) as then:
            values |= {"title": now.record(focus).title, "chains": chains_around(now, then, focus)}
    if page.is_part and page.request.headers.get("hx-target") == "members":
        return page.part("authority_members.html.j2", **values)
    return page.render("authority.html.j2", **values)


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
    ("in force", "superseded" or "not yet") and its superseders, and counts all of them as "total".
    Raises InputError for an unknown record.
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
        })  # fmt: skip
    return {"members": members, "total": len(ordered)}
