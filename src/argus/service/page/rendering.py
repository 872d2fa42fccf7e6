"""Templates of the page: every value is escaped, and every page knows where it stands."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader
from starlette.responses import Response

from argus import reports
from argus.commands import command
from argus.errors import ArgusError, InputError
from argus.service.jobs.lines import may_start
from argus.service.page.availability import shown_tabs
from argus.service.state import service_of
from argus.service.workplace import Workplace

HERE = Path(__file__).parent
NO_FOLDER = "-"
"""The folder's name in a URL where the service has an index alone."""


@cache
def environment() -> Environment:
    """Return the Jinja environment of the pages."""
    made = reports.environment(FileSystemLoader(HERE / "templates"))
    made.filters["may_start"] = may_start
    made.globals["command"] = command
    made.filters["moment"] = lambda v: v[:16].replace("T", " ")
    made.filters["thousands"] = lambda v: "–" if v is None else f"{v:,}"
    made.filters["decimals"] = lambda v, n=3: "–" if v is None else f"{v:.{n}f}"
    return made


def folder_path(workplace: Workplace, folder: str) -> Path | None:
    """Return where a folder of results lies; None for NO_FOLDER; InputError for an unknown one."""
    return None if folder == NO_FOLDER else workplace.folder(folder).path


def render(
    request: Request, template: str, tab: str, folder: str, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """Return a page: `template` with the values, the navigation, and the folder that it shows."""
    workplace = service_of(request).workplace
    names = {one.name: one.path for one in workplace.results}
    shared = {
        "tabs": shown_tabs(workplace, names.get(folder)),
        "tab": tab,
        "folder": folder,
        "workplace": workplace,
        "places": workplace.places(names.get(folder)),
        "has_jobs": service_of(request).jobs is not None,
        "csrf": getattr(request.state, "csrf", ""),
    }
    text = environment().get_template(template).render(**shared, **values)
    return HTMLResponse(text, status)


def fragment(template: str, **values: Any) -> HTMLResponse:
    """Return a part of a page, for htmx to put in its place."""
    return HTMLResponse(environment().get_template(template).render(**values))


def is_fragment(request: Request) -> bool:
    """Return whether htmx asks for a part of the page, and not a person for all of it."""
    headers = request.headers
    return headers.get("hx-request") == "true" and "hx-history-restore-request" not in headers


class PageRoute(APIRoute):
    """A route of a page: what is wrong with a request is shown as a page to those who read one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler; an ArgusError becomes a page, or a part of one for htmx."""
        handle = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                return await handle(request)
            except ArgusError as error:
                if is_fragment(request):
                    return fragment("refused_part.html.j2", error=error)
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                status = 422 if isinstance(error, InputError) else 503
                parts = request.url.path.split("/")
                folder, tab = request.path_params.get("folder", NO_FOLDER), parts[3:4]
                return render(
                    request, "refused.html.j2", tab[0] if tab else "", folder,
                    status=status, error=error,
                )  # fmt: skip

        return shown
