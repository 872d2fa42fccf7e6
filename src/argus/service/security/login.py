"""The page to log in at, where the service wants a token."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from argus.service.page.rendering import environment
from argus.service.security.access import LOGIN
from argus.service.security.sessions import MEMBER
from argus.service.state import ServiceOf

router = APIRouter(include_in_schema=False)


@router.get(LOGIN)
def ask(to: str = "/") -> HTMLResponse:
    """Ask for the token."""
    return _page(to)


@router.post(LOGIN)
async def check(request: Request, service: ServiceOf) -> Response:
    """Begin a session for who knows the token, and lead on to the page that was wanted."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    token, to = form.get("token", [""])[0], form.get("to", ["/"])[0]
    gate = service.gate
    if gate.token is not None and not gate.token.fits(token.strip()):
        return _page(to, wrong=True)
    response = RedirectResponse(_inside(to), 303)
    response.headers["set-cookie"] = gate.set_cookie(request.scope, gate.sessions.new(MEMBER))
    return response


def _page(to: str, *, wrong: bool = False) -> HTMLResponse:
    text = environment().get_template("login.html.j2").render(to=_inside(to), wrong=wrong)
    return HTMLResponse(text, 401 if wrong else 200)


def _inside(to: str) -> str:
    """Return a path of this service: what leads elsewhere leads to the start."""
    is_inside = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_inside and "\\" not in to else "/"
