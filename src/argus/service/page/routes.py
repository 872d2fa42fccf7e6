"""Mount all pages: the overview, the login, the static files, and a module for each other page."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from argus.data.tables import read_where
from argus.evaluation.history import run_lines, trends
from argus.runs import runs_in
from argus.service.page import (
    authority,
    compare,
    documents,
    generative,
    map,
    questions,
    repairs,
    why_not,
)
from argus.service.page.rendering import (
    HERE,
    NO_FOLDER,
    PageRoute,
    Rows,
    environment,
    folder_path,
    panel,
    render,
)
from argus.service.security import LOGIN, MEMBER
from argus.service.state import ServiceOf
from argus.stores.spec import shown
from argus.verdict import read_verdict

MAX_SLICES = 12
TOPICS = (why_not, documents, questions, repairs, authority, compare, generative, map)
router = APIRouter(route_class=PageRoute)
login = APIRouter()


def mount_pages(app: FastAPI) -> None:
    """Give an application its pages; `/` leads to the first folder's overview."""
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    for one in (login, router, *(topic.router for topic in TOPICS)):
        app.include_router(one, include_in_schema=False)


@router.get("/")
def start(service: ServiceOf) -> RedirectResponse:
    """Lead on to the first folder's overview."""
    results = service.workplace.results
    return RedirectResponse(f"/page/{results[0].name if results else NO_FOLDER}/overview")


@router.get("/page/{folder}/overview")
def overview(request: Request, folder: str, service: ServiceOf) -> HTMLResponse:
    """Show the verdict of a folder; where there is only an index, what to measure of it."""
    path = folder_path(service.workplace, folder)
    if path is None:
        searched = shown(service.searcher.name)
        return render(request, "nothing.html.j2", "overview", folder, searched=searched)
    repeated = [trend for trend in trends(run_lines(runs_in(path))) if trend["runs"] > 1]
    return render(
        request, "overview.html.j2", "overview", folder,
        verdict=read_verdict(path), slices=_worst_slices(path), trends=repeated, path=path,
        **panel(request, path),
    )  # fmt: skip


def _worst_slices(folder: Path) -> Rows:
    """Return the slices that are surely worse than the whole, worst first, of all jobs."""
    rows: Rows = []
    for path in sorted(folder.glob("*slices.parquet")):
        rows += read_where(path, [("worse_by", ">", 0)]).to_pylist()
    return sorted(rows, key=lambda row: -row["worse_by"])[:MAX_SLICES]


@login.get(LOGIN)
def ask_token(to: str = "/") -> HTMLResponse:
    """Ask for the token."""
    return _login_page(to)


@login.post(LOGIN)
async def check_token(request: Request, service: ServiceOf) -> Response:
    """Begin a session with the token, and lead on to the page that was wanted."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    token, to = form.get("token", [""])[0], form.get("to", ["/"])[0]
    gate = service.gate
    if gate.token is not None and not gate.token.fits(token.strip()):
        return _login_page(to, wrong=True)
    response = RedirectResponse(_inside(to), 303)
    response.headers["set-cookie"] = gate.set_cookie(request.scope, gate.sessions.new(MEMBER))
    return response


def _login_page(to: str, *, wrong: bool = False) -> HTMLResponse:
    text = environment().get_template("login.html.j2").render(to=_inside(to), wrong=wrong)
    return HTMLResponse(text, 401 if wrong else 200)


def _inside(to: str) -> str:
    """Return a path of this service: a link to elsewhere leads to the start."""
    is_inside = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_inside and "\\" not in to else "/"
