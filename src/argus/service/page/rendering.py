"""Render the pages of `argus serve`: escaped templates, navigation, error pages, panels of jobs.

Each page gets a `Page`: one request for one folder of results. Its `render` returns the whole page,
and `part` a piece of it, which htmx puts in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader
from starlette.responses import Response

from argus import reports
from argus.commands import command
from argus.data.reading import reading
from argus.errors import ArgusError, InputError
from argus.reports.section import TERMS
from argus.service.jobs.planning import as_request, plan_job
from argus.service.state import Service

HERE = Path(__file__).parent
# Name in a URL that stands for no folder, where the service has an index alone.
NO_FOLDER = "-"
Row: TypeAlias = dict[str, Any]
"""A row of a Parquet file, by column."""
Rows: TypeAlias = list[Row]
Values: TypeAlias = dict[str, Any]
"""Values of a template, by name."""
# Tables with a row per document or entity.
DOCUMENTS = tuple(
    f"{name}.parquet"
    for name in ("exposure", "retrievability", "need_audit", "unreached", "authority", "drift")
)
QUESTIONS = ("traffic.parquet", "questions.parquet", "per_query.parquet", "judging.parquet")
JOBS_LOOKED_AT, JOBS_SHOWN = 50, 3
# Terms that the pages explain where they stand.
EXPLAINED = (
    "superseded", "hub", "RPS", "view", "nDCG@10", "R@10", "BM25", "min-max", "RRF", "DBSF",
)  # fmt: skip


def any_of(folder: Path | None, *files: str) -> bool:
    """Return whether a folder holds any of some files."""
    return folder is not None and any((folder / file).is_file() for file in files)


@cache
def environment() -> Environment:
    """Return the Jinja environment of the pages."""
    made = reports.environment(FileSystemLoader(HERE / "templates"))
    made.globals["command"] = command
    made.globals["terms"] = lambda text: {
        term: TERMS[term] for term in EXPLAINED if re.search(rf"(?<![\w/]){term}s?\b", text)
    }
    made.filters["moment"] = lambda v: v[:16].replace("T", " ")
    made.filters["thousands"] = lambda v: "–" if v is None else f"{v:,}"
    made.filters["decimals"] = lambda v, n=3: "–" if v is None else f"{v:.{n}f}"
    return made


def render(template: str, **values: Any) -> str:
    """Return the text of a template."""
    return environment().get_template(template).render(**values)


def refused(where: Path | str | None, got: str, expected: str, fix: str) -> InputError:
    """Return the error of a request that cannot be meant."""
    return InputError(got, expected=expected, fix=fix, where=where)


class Page:
    """A request for a page of one folder.

    folder: name of the folder in the URL. path: the folder itself, None for NO_FOLDER.
    """

    def __init__(self, request: Request, folder: str) -> None:
        self.service: Service = request.app.state.service
        self.request, self.folder, self.place = request, folder, self.service.workplace
        self.path = self.place.results.get(folder)

    @property
    def is_part(self) -> bool:
        """Tell whether htmx asks for a part of the page, and not a person for all of it."""
        headers = self.request.headers
        return headers.get("hx-request") == "true" and "hx-history-restore-request" not in headers

    @property
    def has_index(self) -> bool:
        """Tell whether there is an index to search."""
        return self.place.index_of(self.path) is not None

    @property
    def has_documents(self) -> bool:
        """Tell whether the folder has a table of documents."""
        return any_of(self.path, *DOCUMENTS)

    @property
    def is_searched(self) -> bool:
        """Tell whether there is anything to search: an index, a retriever or a store."""
        return self.place.searches is not None or self.has_index

    def render(
        self, template: str, *, tab: str = "", status: int = 200, **values: Any
    ) -> HTMLResponse:
        """Return the whole page, with the navigation. tab: default the one that the URL names."""
        named = self.request.url.path.split("/")[3:4]
        shared = {
            "tabs": self.tabs(), "tab": tab or "".join(named), "folder": self.folder,
            "workplace": self.place, "results": self.place.results_in(self.path),
            "startable": self.startable, **self.panel(self.path),
        }  # fmt: skip
        fix = "Run the job again with the same --out."
        with reading(self.path or self.folder, expected="results as Argus wrote them", fix=fix):
            return HTMLResponse(render(template, **{**shared, **values}), status)

    def part(self, template: str, **values: Any) -> HTMLResponse:
        """Return a part of the page, which htmx puts in its place."""
        shared = {"folder": self.folder, "startable": self.startable}
        return HTMLResponse(render(template, **shared, **values))

    def startable(self, line: str) -> list[Values]:
        """Return the jobs of a printed command, one after another, [] if one cannot start here.

        A word in capitals stands for something that a person has to fill in, such as MODEL.
        """
        jobs = self.service.jobs
        if jobs is None or any(word.isalpha() and word.isupper() for word in line.split()):
            return []
        try:
            requests = [as_request(one, jobs.commands) for one in line.split(" && ")]
            for one in requests:
                plan_job(one, self.place, jobs.commands)
        except InputError:
            return []
        return [one.model_dump() for one in requests]

    def panel(self, written: Path | None) -> Values:
        """Return the latest jobs that write a folder or within it, to show them."""
        jobs = self.service.jobs
        try:
            latest = [] if jobs is None or written is None else jobs.latest(JOBS_LOOKED_AT)
        except ArgusError:
            jobs, latest = None, []
        home = Path() if written is None else written.resolve()
        own = [job for job in latest if any(Path(w).is_relative_to(home) for w in job["writes"])]
        return {"can_start": jobs is not None, "jobs": own[:JOBS_SHOWN]}

    def tabs(self) -> list[Values]:
        """Return all pages in their order, each with whether it has something to show."""
        path = self.path
        tabs = (
            ("overview", "Overview", path is not None),
            ("why-not", "Why not?", self.is_searched),
            ("documents", "Documents", self.has_documents),
            ("questions", "Questions", any_of(path, *QUESTIONS)),
            ("repairs", "Repairs", self.has_index),
            ("authority", "Current or superseded", self.place.authority is not None),
        )
        return [{"name": name, "title": title, "ready": ready} for name, title, ready in tabs]


async def _page(request: Request, folder: str) -> Page:
    page = Page(request, folder)
    if page.path is None and folder != NO_FOLDER:
        expected = f"one of {', '.join(page.place.results) or 'no folder at all'}"
        fix = "Name one of the folders that the service was started over."
        raise refused("folder", repr(folder), expected, fix)
    return page


PageOf = Annotated[Page, Depends(_page)]
"""A handler's parameter: the page. Raises InputError for a folder that is not served."""


class PageRoute(APIRoute):
    """A route that shows an ArgusError as a page, or as a part of one for htmx."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler that catches every ArgusError."""
        handle = super().get_route_handler()

        async def handle_errors(request: Request) -> Response:
            try:
                return await handle(request)
            except ArgusError as error:
                page = Page(request, request.path_params.get("folder", NO_FOLDER))
                if page.is_part:
                    return page.part("refused_part.html.j2", error=error)
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                status = 422 if isinstance(error, InputError) else 503
                return page.render("refused.html.j2", status=status, error=error)

        return handle_errors
