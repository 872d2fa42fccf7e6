"""Who may ask: by token or session; and what changes something comes from our own page."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.service.security.refusing import refusal
from argus.service.security.sessions import GUEST, LASTS_S, MEMBER, Sessions, Token

LOGIN = "/login"
OPEN = (LOGIN, "/healthz", "/readyz")
"""Paths for everyone; so are the static files, which hold nothing of the folders."""
STATIC = "/static/"
SAFE = ("GET", "HEAD", "OPTIONS")
WATCHING = ("/search", "watch")
"""The path that GET changes something of, and the parameter by which: a key takes a place."""
HEADER = "x-csrf-token"
"""What a page sends back with whatever changes something; see `forgery_token`."""


@dataclass(frozen=True)
class Gate:
    """The token, if one is wanted, and the sessions of browsers."""

    token: Token | None
    sessions: Sessions

    def cookie_name(self, scope: Scope) -> str:
        """Return the cookie's name: cookies are shared by all ports of a host."""
        port = Headers(scope=scope).get("host", "").rpartition(":")[2]
        return f"argus_session_{port if port.isdigit() else 'http'}"

    def cookie(self, scope: Scope) -> str | None:
        """Return the session that a request comes with, if it was made here."""
        try:
            cookies = SimpleCookie("; ".join(Headers(scope=scope).getlist("cookie")))
        except CookieError:
            return None
        morsel = cookies.get(self.cookie_name(scope))
        return morsel.value if morsel and self.sessions.kind(morsel.value) else None

    def set_cookie(self, scope: Scope, value: str) -> str:
        """Return the header that gives a browser its session."""
        return (
            f"{self.cookie_name(scope)}={value}; Path=/; Max-Age={LASTS_S}; HttpOnly; "
            "SameSite=Strict"
        )

    def has_token(self, scope: Scope) -> bool:
        """Return whether a request brings the token in its Authorization header."""
        kind, _, value = Headers(scope=scope).get("authorization", "").partition(" ")
        return (
            self.token is not None and kind.lower() == "bearer" and self.token.fits(value.strip())
        )

    def is_member(self, scope: Scope) -> bool:
        """Return whether a request may see what the service holds."""
        if self.token is None or self.has_token(scope):
            return True
        cookie = self.cookie(scope)
        return cookie is not None and self.sessions.kind(cookie) == MEMBER


class Access:
    """ASGI middleware that lets in who may ask, and gives browsers a session."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        gate = self.gate
        cookie = gate.cookie(scope)
        session = cookie or gate.sessions.new(GUEST)
        state = scope.setdefault("state", {})
        state["csrf"] = gate.sessions.forgery_token(session)
        state["member"] = gate.is_member(scope)
        refused = self._refused(scope, session)
        if refused is not None:
            await refused(scope, receive, send)
            return

        async def with_session(message: Message) -> None:
            if message["type"] == "http.response.start" and cookie is None:
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                if is_page and "set-cookie" not in headers:
                    headers.append("set-cookie", gate.set_cookie(scope, session))
            await send(message)

        await self.app(scope, receive, with_session)

    def _refused(self, scope: Scope, session: str) -> Response | None:
        """Return why a request is refused, if it is."""
        path = scope["path"]
        is_open = path in OPEN or path.startswith(STATIC)
        if not is_open and not scope["state"]["member"]:
            return _login(scope)
        if not _changes(scope) or self.gate.has_token(scope) or not _is_browser(scope):
            return None
        if not _is_same_origin(scope):
            return refusal(403, "this request comes from the page of another site")
        sent = Headers(scope=scope).get(HEADER, "")
        token = self.gate.sessions.forgery_token(session)
        if path == LOGIN or hmac.compare_digest(sent.encode("utf-8", "replace"), token.encode()):
            return None
        return refusal(
            403,
            f"no {HEADER} of this session; expected the one in the page. Reload the page; a "
            "program sends no cookie, and the token as Authorization: Bearer where one is wanted",
        )


def _login(scope: Scope) -> Response:
    """Return a page to log in at for a browser, else what a program has to bring."""
    if scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", ""):
        return RedirectResponse(f"{LOGIN}?to={quote(scope['path'], safe='/')}", 303)
    return refusal(
        401,
        "no token; expected Authorization: Bearer TOKEN, as `argus serve` printed it or "
        "ARGUS_SERVE_TOKEN says",
        {"www-authenticate": "Bearer"},
    )


def _changes(scope: Scope) -> bool:
    """Return whether a request may change something."""
    path, parameter = WATCHING
    if scope["path"].rstrip("/") == path and parameter in QueryParams(scope["query_string"]):
        return True
    return scope["method"] not in SAFE


def _is_browser(scope: Scope) -> bool:
    """Return whether a request may come from a page: it says so itself, or brings a cookie."""
    headers = Headers(scope=scope)
    return any(name in headers for name in ("cookie", "origin", "sec-fetch-site"))


def _is_same_origin(scope: Scope) -> bool:
    """Return whether what a browser says of where a request comes from is this service."""
    headers = Headers(scope=scope)
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    except ValueError:  # such as http://[
        return False
