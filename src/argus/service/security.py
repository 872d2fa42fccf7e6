"""Protect `argus serve`: tokens and sessions, allowed host names, size limits, response headers.

`Guard` is the ASGI middleware that checks every request before the API and the pages. `Gate` knows
the token and the sessions of browsers.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import socket
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.errors import InputError
from argus.service.config import ServeConfig

VARIABLE = "ARGUS_SERVE_TOKEN"
MIN_TOKEN = 16  # characters
SESSION_S = 12 * 3600
LOGIN, STATIC = "/login", "/static/"
# Paths for everyone, as are the static files, which hold nothing of the folders.
OPEN = (LOGIN, "/healthz", "/readyz")
SAFE = ("GET", "HEAD", "OPTIONS")
# Headers of every response.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"  # no inline script or style: documents are hostile text
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
MAX_BODY = 10_000_000  # bytes of a request
STRANGER_BYTES = 8_192  # of a request without the token: all connections together stay small
MAX_WRONG_TOKENS = 10  # of one address in a minute
# An address in brackets or a name, and a port.
_HOST = re.compile(r"(\[(?P<address>[^\[\]]*)\]|(?P<name>[^:\[\]]+))(:[0-9]*)?")


def refusal(status: int, detail: object, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response that says why a request is refused."""
    body = json.dumps({"detail": detail}, ensure_ascii=True)
    return Response(body, status, {**HEADERS, **(headers or {})}, "application/json")


class Gate:
    """The token, if one is wanted, and the sessions of browsers that know it.

    The token is the one of the environment, or a new one beyond loopback. Sessions end with the
    service. was_made: nobody chose the token, so it is printed once. Raises InputError for a token
    of the environment that can be guessed.
    """

    def __init__(self, config: ServeConfig) -> None:
        chosen = os.environ.get(VARIABLE, "")
        if chosen and (len(chosen) < MIN_TOKEN or not chosen.isascii()):
            raise InputError(
                f"a token of {len(chosen)} characters",
                expected=f"{MIN_TOKEN} or more, all of them ASCII",
                fix='Make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"',
                where=VARIABLE,
            )
        self.was_made = config.needs_token and not chosen
        self.token = secrets.token_urlsafe(32) if self.was_made else chosen or None
        self._sessions: dict[str, float] = {}  # and when each ends

    def is_token(self, text: str) -> bool:
        """Return whether a text is the token, in constant time."""
        own = self.token
        return own is not None and hmac.compare_digest(
            text.strip().encode("utf-8", "replace"), own.encode()
        )

    def has_token(self, scope: Scope) -> bool:
        """Return whether a request brings the token in its Authorization header."""
        kind, _, value = Headers(scope=scope).get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.is_token(value)

    def is_member(self, scope: Scope) -> bool:
        """Return whether a request may see the folders: by its token, or by its session."""
        return self.token is None or self.has_token(scope) or self._has_session(scope)

    def _has_session(self, scope: Scope) -> bool:
        try:
            cookies = SimpleCookie("; ".join(Headers(scope=scope).getlist("cookie")))
        except CookieError:
            return False
        morsel = cookies.get(_cookie_name(scope))
        return morsel is not None and time.time() < self._sessions.get(morsel.value, 0.0)

    def new_session(self, scope: Scope) -> str:
        """Begin a session, and return the header that gives it to a browser."""
        now, session = time.time(), secrets.token_urlsafe(32)
        self._sessions = {one: end for one, end in self._sessions.items() if now < end}
        self._sessions[session] = now + SESSION_S
        cookie = f"{_cookie_name(scope)}={session}; Path=/; Max-Age={SESSION_S}"
        return f"{cookie}; HttpOnly; SameSite=Strict"


def _cookie_name(scope: Scope) -> str:
    """Return a name with the port in it: cookies are shared by all ports of a host."""
    port = Headers(scope=scope).get("host", "").rpartition(":")[2]
    return f"argus_session_{port if port.isdigit() else 'http'}"


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port and brackets.

    As in a browser, text after a bracket or a colon is a part of the name where it is no port.
    """
    host = host.strip().lower()
    parts = _HOST.fullmatch(host)
    return host if parts is None else parts["address"] or parts["name"]


class Guard:
    """ASGI middleware that checks name, token, origin and size of each request.

    A numeric address cannot be rebound by a name server: beyond loopback any of them will do as a
    name, and this machine's own name. On loopback none but loopback's will do.
    """

    def __init__(self, app: ASGIApp, config: ServeConfig, gate: Gate) -> None:
        self.app, self.config, self.gate = app, config, gate
        own = (socket.gethostname(), socket.getfqdn()) if config.needs_token else ()
        names = ("localhost", config.host, *own, *config.host_names)
        self._names = {name.lower() for name in names}
        self._minute, self._wrong = 0, Counter[str]()  # wrong tokens of the minute, by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, address = Headers(scope=scope), (scope.get("client") or ("",))[0]
        by_header = self.gate.token is not None and "authorization" in headers
        brings_token = by_header or (scope["method"], scope["path"]) == ("POST", LOGIN)
        is_wrong = by_header and not self.gate.has_token(scope)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
                if is_wrong or (brings_token and message["status"] == 401):
                    self._wrong[address] += 1
            await send(message)

        is_member = self.gate.is_member(scope)
        body = (
            self._misnamed(headers)
            or (self._throttled(address) if brings_token else None)
            or self._unwelcome(scope, is_member)
            or await self._read(receive, headers, MAX_BODY if is_member else STRANGER_BYTES)
        )
        if isinstance(body, bytes):
            whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

            async def next_message() -> Message:  # the body that has been read, then all further
                return whole.pop() if whole else await receive()

            await self.app(scope, next_message, answer)
        elif body is not None:
            await body(scope, receive, answer)

    def _misnamed(self, headers: Headers) -> Response | None:
        """Refuse a page of elsewhere that points its name at this machine."""
        host = headers.get("host", "")
        name = host_name(host)
        if name in self._names:
            return None
        with suppress(ValueError):
            if ip_address(name).is_loopback or self.config.needs_token:
                return None
        return refusal(
            400,
            f"this service is not called {host!r}; expected localhost, an address of it, or a name "
            "given with --host-name",
        )

    def _throttled(self, address: str) -> Response | None:
        """Refuse an address that brings wrong tokens. Whoever has a session goes on."""
        if self._minute != (minute := int(time.time() // 60)):
            self._minute = minute
            self._wrong.clear()
        if self._wrong[address] < MAX_WRONG_TOKENS:
            return None
        wait = {"retry-after": str(60 - int(time.time()) % 60)}
        return refusal(429, f"{MAX_WRONG_TOKENS} wrong tokens in a minute", wait)

    def _unwelcome(self, scope: Scope, is_member: bool) -> Response | None:
        """Refuse a request without the token, and a change that a page of elsewhere sends."""
        path, headers = scope["path"], Headers(scope=scope)
        if not is_member and path not in OPEN and not path.startswith(STATIC):
            if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
                return RedirectResponse(f"{LOGIN}?to={quote(path, safe='/')}", 303)
            return refusal(
                401,
                "no token; expected Authorization: Bearer TOKEN, as `argus serve` printed it or "
                "ARGUS_SERVE_TOKEN says",
                {"www-authenticate": "Bearer"},
            )
        if scope["method"] in SAFE or self.gate.has_token(scope) or _is_same_origin(headers):
            return None
        return refusal(403, "this request comes from the page of another site")

    async def _read(
        self, receive: Receive, headers: Headers, limit: int
    ) -> bytes | Response | None:
        """Return the whole body, or its refusal, None if the client has gone."""
        length, body, more = headers.get("content-length", "0"), bytearray(), True
        size = int(length) if length.isdigit() else 0
        while more and size <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            size, more = len(body), message.get("more_body", False)
        if size > limit:
            return refusal(413, f"more than {limit / 1e6:g} MB; send it in parts")
        return bytes(body)


def _is_same_origin(headers: Headers) -> bool:
    """Return whether a request comes from a page of this service, or from no browser.

    A browser says where a change comes from. A program sends neither header.
    """
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    except ValueError:  # such as http://[
        return False
