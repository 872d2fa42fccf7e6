"""What a request may cost: bytes, depth, its address' share of a minute, and time."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.service.config import ServeConfig
from argus.service.security.access import LOGIN
from argus.service.security.refusing import refusal

DEPTH = 32
"""Lists and objects inside each other, of a JSON body."""
PARTS = 200_000
"""Lists and objects in a JSON body."""
ADDRESSES = 10_000
"""Addresses that are counted at a time."""
WRONG_TOKENS = 10
"""Wrong tokens that an address may bring in a minute."""
STRANGER_BYTES = 8_192
"""Bytes in a request of who brings no token: what is held of all connections stays small."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class PerMinute:
    """Counts by address within the minute; the longest unseen are forgotten."""

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
        if len(self._counts) > ADDRESSES:
            self._counts.popitem(last=False)
        return count


class Throttle:
    """ASGI middleware that refuses an address that asks too often, or brings wrong tokens.

    Wrong tokens close an address to tokens alone: who has a session goes on.
    """

    def __init__(self, app: ASGIApp, config: ServeConfig) -> None:
        self.app, self.per_minute = app, config.per_minute
        self._asked, self._wrong = PerMinute(), PerMinute()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        by_header = "authorization" in Headers(scope=scope)
        brings_token = by_header or (scope["method"], scope["path"]) == ("POST", LOGIN)
        why = ""
        if self._asked.count(scope, 1) > self.per_minute:
            why = f"more than {self.per_minute:,} requests in a minute"
        elif brings_token and self._wrong.count(scope, 0) >= WRONG_TOKENS:
            why = f"{WRONG_TOKENS} wrong tokens in a minute"
        if why:
            wait = str(60 - int(time.time()) % 60)
            await refusal(429, why, {"retry-after": wait})(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            if brings_token and message["type"] == "http.response.start":
                # 403 tells that a token of the header is wrong; at the login it is another page's
                self._wrong.count(scope, message["status"] in ((401, 403) if by_header else (401,)))
            await send(message)

        await self.app(scope, receive, noted)


class Limits:
    """ASGI middleware that refuses what is too large or too deep, and ends what is late.

    A response that has begun may take its time: events are streamed.
    """

    def __init__(self, app: ASGIApp, config: ServeConfig) -> None:
        self.app, self.config = app, config
        self.max_bytes = int(config.max_body_mb * 1e6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on within its limits."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False
        try:
            async with asyncio.timeout(self.config.timeout_s) as limit:

                async def begin(message: Message) -> None:
                    nonlocal begun
                    if message["type"] == "http.response.start":
                        begun = True
                        limit.reschedule(None)
                    await send(message)

                await self._within_bytes(scope, receive, begin)
        except TimeoutError:
            if begun:
                raise
            late = refusal(504, f"no answer in {self.config.timeout_s:g} s; ask for less at once")
            await late(scope, receive, send)

    async def _within_bytes(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        body = bytearray()
        most = self.max_bytes if scope["state"]["member"] else min(STRANGER_BYTES, self.max_bytes)
        is_whole = not length.isdigit() or int(length) <= most
        more = is_whole
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            is_whole = len(body) <= most
            more = more and is_whole
        if not is_whole:
            large = refusal(413, f"more than {most / 1e6:g} MB; send it in parts")
            await large(scope, receive, send)
            return
        if fault := _fault(body, headers.get("content-type", "")):
            await refusal(400, fault)(scope, receive, send)
            return
        await self.app(scope, _replayed(bytes(body), receive), send)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what hands on a body that has been read, and then whatever else comes."""
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return whole.pop() if whole else await receive()

    return next_message


def _fault(body: bytes | bytearray, kind: str) -> str | None:
    """Return what is wrong with how a body is nested, if anything; strings in it do not count."""
    if not body or kind.startswith(FORMS):
        return None
    depth = parts = 0
    for token in _TOKEN.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth, parts = depth + 1, parts + 1
            if depth > DEPTH:
                return f"lists and objects more than {DEPTH} deep"
            if parts > PARTS:
                return f"more than {PARTS:,} lists and objects; send them in parts"
        elif first in b"]}":
            depth = max(0, depth - 1)
    return None
