"""Render pages: templates with every value escaped, the navigation, refusals, and jobs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader
from starlette.responses import Response
from typing_extensions import TypedDict

from argus import reports
from argus.commands import command
from argus.errors import ArgusError, InputError
from argus.indexes.header import FILE as INDEX_FILE
from argus.service.jobs.planning import may_start
from argus.service.jobs.table import AT_AN_END
from argus.service.state import service_of
from argus.service.workplace import Workplace

HERE = Path(__file__).parent
NO_FOLDER = "-"
"""The folder's name in a URL where the service has an index alone."""
Row: TypeAlias = dict[str, Any]
"""A row of a Parquet file, by column."""
Rows: TypeAlias = list[Row]
Values: TypeAlias = dict[str, Any]
"""Values of a template, by name."""
DOCUMENTS = tuple(
    f"{name}.parquet"
    for name in ("exposure", "retrievability", "needs_served", "unreached", "authority")
)
"""Tables with a row per document or entity."""
QUESTIONS = ("traffic.parquet", "questions.parquet", "per_query.parquet", "judging.parquet")
JOBS_LOOKED_AT, JOBS_SHOWN = 50, 3


class Wanted(TypedDict):
    """A job as `POST /jobs` takes it."""

    command: str
    options: dict[str, str | bool | list[str]]


def any_of(folder: Path | None, *files: str) -> bool:
    """Return whether a folder holds any of some files."""
    return folder is not None and any((folder / file).is_file() for file in files)


def has_index(place: Workplace, folder: Path | None) -> bool:
    """Return whether there is an index to search: the workplace's, or the folder itself."""
    return place.index is not None or any_of(folder, INDEX_FILE)


def is_searched(place: Workplace, folder: Path | None) -> bool:
    """Return whether there is anything to search: an index, a retriever or a store."""
    return place.searches is not None or has_index(place, folder)


def _tabs(place: Workplace, folder: Path | None) -> list[Values]:
    """Return the pages in their order, each with whether it has something to show of a folder."""
    searched = is_searched(place, folder)
    authority = place.authority is not None or any_of(folder, "authority.parquet")
    tabs = (
        ("overview", "Overview", folder is not None),
        ("why-not", "Why not?", searched),
        ("documents", "Documents", any_of(folder, *DOCUMENTS)),
        ("questions", "Questions", any_of(folder, *QUESTIONS)),
        ("repairs", "Repairs", has_index(place, folder)),
        ("authority", "Current or superseded", authority),
        ("compare", "Compare", searched or any_of(folder, "comparison.parquet")),
        ("generative", "Generative",
         any_of(folder, "generative_search.parquet", "failures.parquet")),
        ("map", "Map", any_of(folder, "retrievability.parquet")),
    )  # fmt: skip
    return [{"name": name, "title": title, "ready": ready} for name, title, ready in tabs]


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
    service = service_of(request)
    place = service.workplace
    path = next((one.path for one in place.results if one.name == folder), None)
    shared = {
        "tabs": _tabs(place, path), "tab": tab, "folder": folder, "workplace": place,
        "places": place.places(path), "has_jobs": service.jobs is not None,
        "csrf": getattr(request.state, "csrf", ""),
    }  # fmt: skip
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
    """A route of a page, which shows an error as a page or as a part of one for htmx."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler that catches every ArgusError."""
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


def panel(request: Request, written: Path) -> Values:
    """Return the latest jobs that write a folder: all that go on, and the last that ended.

    Of those that ended before it, the ones that can be resumed: others would push down the page.
    """
    jobs = service_of(request).jobs
    try:
        latest = [] if jobs is None else jobs.latest(JOBS_LOOKED_AT)["jobs"]
    except ArgusError:
        jobs, latest = None, []
    home = str(written.resolve())
    own = [job for job in latest if home in job["writes"]]
    live = [job for job in own if job["state"] not in AT_AN_END]
    ended = [job for job in own if job["state"] in AT_AN_END]
    resumable = [job for job in ended[1:JOBS_SHOWN] if job["resumable"]]
    return {"can_start": jobs is not None, "jobs": [*live, *ended[:1], *resumable]}
