"""Mount all pages of `argus serve`, with the overview of a folder, the login and the static files.

The overview shows the verdict (`argus.verdict`) of a folder of results. The other pages have a
module each in this folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from argus.data.folders import SUMMARY
from argus.data.tables import read_where
from argus.measures.intervals import wilson
from argus.repair.job import HOME
from argus.runs import JobRun, runs_in
from argus.service.page import authority, documents, questions, repairs, why_not
from argus.service.page.indexes import WarmIndexes
from argus.service.page.rendering import HERE, NO_FOLDER, PageOf, PageRoute, Rows, render
from argus.service.security import LOGIN
from argus.service.state import ServiceOf
from argus.stores.spec import shown
from argus.traffic.judging import TABLE
from argus.verdict import read_verdict

MAX_SLICES, MAX_RUNS = 12, 12
# The job and the figure, in the history of runs, of each source of a count.
TRACKED = {
    "argus evaluate": ("evaluation", "R@10"),
    "argus traffic judge": ("judging", "judged relevant in the top k"),
    "argus research scenarios needs": ("needs", "needs found"),
}
# Pages that show each item behind a count.
SEEN = {"as_its_source": "documents", "by_itself": "documents", "by_need": "questions",
        "in_force_served": "authority"}  # fmt: skip
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
    ready = {tab["name"] for tab in page.tabs() if tab["ready"]}

    def link_of(command: str) -> tuple[str, str] | None:
        """Return the page on which an action goes on, and the words of its link."""
        index = page.place.index_of(path) if "tune" in command else None
        if index is not None and (index.path / HOME / SUMMARY).is_file():
            return "repairs", "See the last trial"
        pages = {"tune list": ("repairs", "See the repairs"), "traffic judge": ("questions#judged",
            "Judge"), "authority search": ("authority", "See what replaced what"),
            "check": ("documents", "See the documents")}  # fmt: skip
        found = (there for words, there in pages.items() if command.startswith(f"argus {words}"))
        return next((there for there in found if there[0].partition("#")[0] in ready), None)

    verdict, runs = read_verdict(path), runs_in(path)
    shares = {count.name: shares_by_run(runs, count.source) for count in verdict.counts}
    return page.render(
        "overview.html.j2", verdict=verdict, slices=slices[:MAX_SLICES], links=link_of,
        seen=SEEN, runs={name: each for name, each in shares.items() if len(each) > 1},
        can_judge=(path / TABLE).is_file(),
    )  # fmt: skip


def shares_by_run(runs: Sequence[JobRun], source: str) -> list[tuple[float, float, float]]:
    """Return the share of the items that had anything in each of the last runs of a count."""
    job, figure = TRACKED.get(source, ("", ""))
    shares = []
    for run in [run for run in runs if run.job == job][-MAX_RUNS:]:
        values = [v > 0 for v in run.items.get(figure, {}).values() if v is not None]
        if values:
            share = sum(values) / len(values)
            low, high = wilson(share, len(values))
            shares.append((share, float(low), float(high)))
    return shares


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
