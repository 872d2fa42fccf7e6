"""The page that sets two systems beside each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.service.page.availability import has_index
from argus.service.page.compare.gains import HERE, gains_of
from argus.service.page.compare.requests import command_of, comparing
from argus.service.page.compare.side_by_side import side_by_side
from argus.service.page.compare.systems import system_named, systems
from argus.service.page.holding import Warm, index_of
from argus.service.page.job_panel import panel
from argus.service.page.rendering import PageRoute, folder_path, fragment, is_fragment, render
from argus.service.page.rows import Values
from argus.service.state import ServiceOf

router = APIRouter(route_class=PageRoute)
Words = Annotated[str, Query(max_length=4000)]


@router.get("/page/{folder}/compare")
def compare(
    request: Request, folder: str, service: ServiceOf, warm: Warm, q: Words = "", a: Words = "",
    b: Words = "", k: Annotated[int, Query(ge=1, le=100)] = 10,
) -> HTMLResponse:  # fmt: skip
    """Show two systems' results for a question, and the comparison that lies in the folder."""
    path = folder_path(service.workplace, folder)
    offered = systems(service.workplace)
    default = next((i for i, one in enumerate(offered) if one.title.endswith("all repairs")), 1)
    one, two = system_named(a, offered, default), system_named(b, offered, 0)
    place = service.workplace
    home = path or (index_of(place, None).path if has_index(place, None) else place.folders[0])
    shown: Values = {"q": q, "k": k, "one": one, "two": two, "answers": []}
    shown |= panel(request, home / HERE)
    if one is not None and two is not None and len(offered) > 1:
        if q.strip():
            shown["answers"] = side_by_side(q, (one, two), k, warm)
        shown["job"] = comparing((one, two), home, place)
        shown["command"] = command_of((one, two), place, place.places(path))
    if is_fragment(request):
        return fragment("compare_answers.html.j2", folder=folder, **shown)
    return render(
        request, "compare.html.j2", "compare", folder,
        offered=offered, gains=gains_of(home), **shown,
    )  # fmt: skip
