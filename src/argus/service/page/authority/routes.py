"""The page of what is current and what is superseded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.data.parquet import read_table
from argus.errors import InputError
from argus.service.page.authority.chains import Chains, chains_around, date_of, day_of, heads
from argus.service.page.authority.timeline import timeline
from argus.service.page.rendering import PageRoute, folder_path, fragment, is_fragment, render
from argus.service.page.rows import Rows, Values
from argus.service.searching.authority import ServedAuthority
from argus.service.state import ServiceOf

router = APIRouter(route_class=PageRoute)
MOST = 100
"""Chains that are listed."""
Text = Annotated[str, Query(max_length=500)]


@router.get("/page/{folder}/authority")
def authority(
    request: Request, folder: str, service: ServiceOf, q: Text = "", id: Text = "",
    as_of: Annotated[str, Query(max_length=40)] = "",
) -> HTMLResponse:  # fmt: skip
    """Show the chains of a relation, and one of them at a date."""
    path = folder_path(service.workplace, folder)
    shown: Values = {"q": q, "id": id, "as_of": as_of, "pairs": _pairs(path, q)}
    if service.authority is None:
        template = "authority_pairs.html.j2"
        return render(request, template, "authority", folder, **shown)
    with service.authority.at() as now:
        shown["heads"] = heads(now, q, MOST)
        shown["counts"] = {"records": len(now), "chains": len(shown["heads"])}
    focus = id or (shown["heads"][0].id if shown["heads"] else "")
    shown |= {"id": focus, **_chain(service.authority, focus, as_of)}
    if is_fragment(request) and request.headers.get("hx-target") == "drawn":
        return fragment("authority_drawn.html.j2", folder=folder, **shown)
    return render(request, "authority.html.j2", "authority", folder, **shown)


def _chain(served: ServedAuthority, id_: str, as_of: str) -> Values:
    """Return one record's chains at a date, drawn."""
    if not id_:
        return {"chains": None, "drawing": None, "days": None, "day": None, "title": ""}
    day = _day(as_of)
    with served.at() as now, served.at(as_of or None) as then:
        chains = chains_around(now, then, id_)
        title = now.record(id_).title
    return {
        "title": title,
        "chains": chains,
        "drawing": timeline(chains, day),
        "days": _days(chains),
        "day": day,
    }


def _day(as_of: str) -> int | None:
    if not as_of:
        return None
    try:
        return day_of(as_of)
    except ValueError as error:
        raise InputError(
            f"{as_of!r} is no date",
            expected="a date such as 2024-03-01",
            fix="Leave it out to look at today.",
            where="as_of",
        ) from error


def _days(chains: Chains) -> tuple[int, int, str, str] | None:
    """Return the first and last day that can be chosen, and both as dates."""
    days = chains.days
    if days is None:
        return None
    today = (datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
    first, last = days[0] - 30, max(days[1] + 30, min(today, days[1] + 365))
    return first, last, str(date_of(first)), str(date_of(last))


def _pairs(folder: Path | None, words: str) -> Rows:
    """Return what an audit found of superseded documents, those that reach least first."""
    path = None if folder is None else folder / "authority.parquet"
    if path is None or not path.is_file():
        return []
    columns = ["superseded", "controlling", "superseded_title", "controlling_title", "rule",
               "hops", "title_rank", "text_rank"]  # fmt: skip
    low = words.strip().casefold()
    rows: Rows = [
        row
        for row in read_table(path, columns).to_pylist()
        if not low or any(low in str(row[name]).casefold() for name in columns[:4])
    ]
    rows.sort(key=lambda row: -min(row["title_rank"] or 10**9, row["text_rank"] or 10**9))
    return rows[:MOST]
