"""Keep the service safe: own names, tokens and sessions, limits of a request, security headers."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import secrets
import socket
import time
from collections import OrderedDict
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
MEMBER, GUEST = "member", "guest"
LOGIN, STATIC = "/login", "/static/"
OPEN = (LOGIN, "/healthz", "/readyz")
"""Paths for everyone, as are the static files, which hold nothing of the folders."""
SAFE = ("GET", "HEAD", "OPTIONS")
CSRF_HEADER = "x-csrf-token"
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
"""Headers of every response."""
MAX_DEPTH = 32  # lists and objects inside each other in a JSON body
MAX_PARTS = 200_000  # lists and objects in a JSON body
MAX_ADDRESSES = 10_000  # counted at a time
MAX_WRONG_TOKENS = 10  # of one address in a minute
STRANGER_BYTES = 8_192  # of a request without the token: all connections together stay small
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_HOST = re.compile(r"(\[(?P<address>[^\[\]]*)\]|(?P<name>[^:\[\]]+))(:[0-9]*)?")
"""An address in brackets or a name, and a port."""


def refusal(status: int, detail: object, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response that says why a request is refused."""
    body = json.dumps({"detail": detail}, ensure_ascii=True)
    return Response(body, status, {**HEADERS, **(headers or {})}, "application/json")


class Gate:
    """The token, if one is wanted, and the signed sessions of browsers.

    The token is the one of the environment, or a new one beyond loopback. The key of sessions is
    random, so they end with the service. was_made: nobody chose the token, so it is printed once.
    Raises InputError for a token of the environment that can be guessed.
    """

    def __init__(self, config: ServeConfig) -> None:
        chosen = "" if config.no_token else os.environ.get(VARIABLE, "")
        if chosen and (len(chosen) < MIN_TOKEN or not chosen.isascii()):
            raise InputError(
                f"a token of {len(chosen)} characters",
                expected=f"{MIN_TOKEN} or more, all of them ASCII",
                fix='Make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"',
                where=VARIABLE,
            )
        self.was_made = config.needs_token and not chosen
        self.token = secrets.token_urlsafe(32) if self.was_made else chosen or None
        self._key = secrets.token_bytes(32)

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

    def new_session(self, kind: str) -> str:
        """Return the cookie of a new session: of a member, who knows the token, or of a guest."""
        body = f"{kind}.{int(time.time())}.{secrets.token_urlsafe(18)}"
        return f"{body}.{self._signed('session', body)}"

    def session_kind(self, cookie: str) -> str | None:
        """Return the kind of a session, None if it was not made here, or is too old."""
        body, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signed("session", body).encode()):
            return None
        kind, since, _ = body.split(".")
        return kind if time.time() - int(since) < SESSION_S else None

    def forgery_token(self, cookie: str) -> str:
        """Return the token that a page of this session sends with each change."""
        return self._signed("page", cookie)

    def _signed(self, purpose: str, text: str) -> str:
        """Return a signature that serves one purpose and no other."""
        message = f"{purpose} {text}".encode("utf-8", "replace")
        return hmac.digest(self._key, message, "sha256").hex()

    def cookie(self, scope: Scope) -> str | None:
        """Return the session that a request comes with, if it was made here."""
        try:
            cookies = SimpleCookie("; ".join(Headers(scope=scope).getlist("cookie")))
        except CookieError:
            return None
        morsel = cookies.get(_cookie_name(scope))
        return morsel.value if morsel and self.session_kind(morsel.value) else None

    def set_cookie(self, scope: Scope, value: str) -> str:
        """Return the header that gives a browser its session."""
        name = _cookie_name(scope)
        return f"{name}={value}; Path=/; Max-Age={SESSION_S}; HttpOnly; SameSite=Strict"


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


class PerMinute:
    """Counts by address within the minute. The longest unseen addresses are forgotten."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._minute = 0

    def count(self, scope: Scope, more: int) -> int:
        """Add to the count of a request's address, and return it."""
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._counts.clear()
            self._minute = minute
        address = (scope.get("client") or ("",))[0]
        self._counts[address] = count = self._counts.get(address, 0) + more
        self._counts.move_to_end(address)
        if len(self._counts) > MAX_ADDRESSES:
            self._counts.popitem(last=False)
        return count


class Guard:
    """ASGI middleware that checks name, token, session and size of each request.

    A numeric address cannot be rebound by a name server: beyond loopback any of them will do as a
    name, and this machine's own name. On loopback none but loopback's will do.
    """

    def __init__(self, app: ASGIApp, config: ServeConfig, gate: Gate) -> None:
        self.app, self.config, self.gate = app, config, gate
        own = (socket.gethostname(), socket.getfqdn()) if config.needs_token else ()
        names = ("localhost", config.host, *own, *config.host_names)
        self._names = {name.lower() for name in names}
        self._asked, self._wrong = PerMinute(), PerMinute()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it.

        A response that has begun may take its time: events are streamed.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, gate, begun = Headers(scope=scope), self.gate, False
        by_header = "authorization" in headers
        brings_token = by_header or (scope["method"], scope["path"]) == ("POST", LOGIN)
        if refused := self._misnamed(headers) or self._throttled(scope, brings_token):
            await refused(scope, receive, send)
            return
        cookie = gate.cookie(scope)
        session = cookie or gate.new_session(GUEST)
        is_member = (
            gate.token is None or gate.has_token(scope) or gate.session_kind(session) == MEMBER
        )
        scope.setdefault("state", {})["csrf"] = gate.forgery_token(session)

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                limit.reschedule(None)
                if brings_token:  # 403 tells that a token of the header is wrong;
                    wrong = (401, 403) if by_header else (401,)  # of a login, the page's
                    self._wrong.count(scope, message["status"] in wrong)
                sent = MutableHeaders(scope=message)
                sent.update(HEADERS)
                is_page = sent.get("content-type", "").startswith("text/html")
                if cookie is None and is_page and "set-cookie" not in sent:
                    sent.append("set-cookie", gate.set_cookie(scope, session))
            await send(message)

        try:
            async with asyncio.timeout(self.config.timeout_s) as limit:
                body = self._unwelcome(scope, is_member) or await self._read(
                    receive, headers, is_member
                )
                if isinstance(body, bytes):
                    await self.app(scope, _replayed(body, receive), answer)
                elif body is not None:
                    await body(scope, receive, answer)
        except TimeoutError:
            if begun:
                raise
            late = f"no answer in {self.config.timeout_s:g} s; ask for less at once"
            await refusal(504, late)(scope, receive, send)

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

    def _throttled(self, scope: Scope, brings_token: bool) -> Response | None:
        """Refuse an address that asks too often, or brings wrong tokens.

        Wrong tokens close an address to tokens alone: whoever has a session goes on.
        """
        why = ""
        if self._asked.count(scope, 1) > self.config.per_minute:
            why = f"more than {self.config.per_minute:,} requests in a minute"
        elif brings_token and self._wrong.count(scope, 0) >= MAX_WRONG_TOKENS:
            why = f"{MAX_WRONG_TOKENS} wrong tokens in a minute"
        wait = str(60 - int(time.time()) % 60)
        return refusal(429, why, {"retry-after": wait}) if why else None

    def _unwelcome(self, scope: Scope, is_member: bool) -> Response | None:
        """Refuse a request without the token, and a change that a page of elsewhere sends.

        A browser says itself that it is one, or brings a cookie.
        """
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
        is_browser = any(name in headers for name in ("cookie", "origin", "sec-fetch-site"))
        if scope["method"] in SAFE or self.gate.has_token(scope) or not is_browser:
            return None
        if not _is_same_origin(headers):
            return refusal(403, "this request comes from the page of another site")
        sent = headers.get(CSRF_HEADER, "").encode("utf-8", "replace")
        if path == LOGIN or hmac.compare_digest(sent, scope["state"]["csrf"].encode()):
            return None
        return refusal(
            403,
            f"no {CSRF_HEADER} of this session; expected the one in the page. Reload the page; a "
            "program sends no cookie, and the token as Authorization: Bearer where one is wanted",
        )

    async def _read(
        self, receive: Receive, headers: Headers, is_member: bool
    ) -> bytes | Response | None:
        """Return the whole body, or its refusal, None if the client has gone."""
        limit = int(self.config.max_body_mb * 1e6)
        limit = limit if is_member else min(STRANGER_BYTES, limit)
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
        fault = _fault(body, headers.get("content-type", ""))
        return refusal(400, fault) if fault else bytes(body)


def _is_same_origin(headers: Headers) -> bool:
    """Return whether a browser's request comes from a page of this service."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    except ValueError:  # such as http://[
        return False


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a function that hands on a body that has been read, then all further messages."""
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return whole.pop() if whole else await receive()

    return next_message


def _fault(body: bytes | bytearray, kind: str) -> str | None:
    """Return the fault of a body that is nested too deeply. Strings in it do not count."""
    if not body or kind.startswith(FORMS):
        return None
    depth = parts = 0
    for token in _JSON_TOKEN.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth, parts = depth + 1, parts + 1
            if depth > MAX_DEPTH:
                return f"lists and objects more than {MAX_DEPTH} deep"
            if parts > MAX_PARTS:
                return f"more than {MAX_PARTS:,} lists and objects; send them in parts"
        elif first in b"]}":
            depth = max(0, depth - 1)
    return None
