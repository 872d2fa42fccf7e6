"""Mount all pages of `argus serve`, with the overview of a folder, the login and the static files.

The overview shows the verdict (`argus.verdict`) of a folder of results. The other pages have a
module each in this folder.
"""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from argus.data.tables import read_where
from argus.service.page import authority, documents, questions, repairs, why_not
from argus.service.page.indexes import WarmIndexes
from argus.service.page.rendering import HERE, NO_FOLDER, PageOf, PageRoute, Rows, render
from argus.service.security import LOGIN
from argus.service.state import ServiceOf
from argus.stores.spec import shown
from argus.verdict import read_verdict

MAX_SLICES = 12
router = APIRouter(route_class=PageRoute)
login = APIRouter()


def mount_pages(app: FastAPI) -> None:
    """Give an application its pages. `/` leads to the first folder's overview."""
    app.state.warm_indexes = WarmIndexes(app.state.service)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    topics = (why_not, documents, questions, repairs, authority)
    for one in (login, router, *(topic.router for topic in topics)):
        app.include_router(one, include_in_schema=False)


@router.get("/")
def start(service: ServiceOf) -> RedirectResponse:
    """Lead on to the first folder's overview."""
    return RedirectResponse(f"/page/{next(iter(service.workplace.results), NO_FOLDER)}/overview")


@router.get("/page/{folder}/overview")
def overview(page: PageOf) -> HTMLResponse:
    """Show the verdict of a folder, or the next command where there is only an index."""
    path = page.path
    if path is None:
        return page.render("nothing.html.j2", searched=shown(page.service.searcher.name))
    slices: Rows = []
    for file in sorted(path.glob("*slices.parquet")):
        slices += read_where(file, [("worse_by", ">", 0)]).to_pylist()
    slices.sort(key=lambda row: -row["worse_by"])
    return page.render(
        "overview.html.j2", verdict=read_verdict(path), slices=slices[:MAX_SLICES], path=path,
        **page.panel(path),
    )  # fmt: skip


@login.get(LOGIN)
def ask_token(to: str = "/") -> HTMLResponse:
    """Ask for the token."""
    return _login_page(to)


@login.post(LOGIN)
async def check_token(request: Request, service: ServiceOf) -> Response:
    """Begin a session with the token, and lead on to the requested page."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    token, to = form.get("token", [""])[0], form.get("to", ["/"])[0]
    gate = service.gate
    if gate.token is not None and not gate.is_token(token):
        return _login_page(to, wrong=True)
    response = RedirectResponse(_inside(to), 303)
    response.headers["set-cookie"] = gate.new_session(request.scope)
    return response


def _login_page(to: str, *, wrong: bool = False) -> HTMLResponse:
    page = render("login.html.j2", to=_inside(to), wrong=wrong)
    return HTMLResponse(page, 401 if wrong else 200)


def _inside(to: str) -> str:
    """Return a path of this service: a link to elsewhere leads to the start."""
    is_inside = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_inside and "\\" not in to else "/"
