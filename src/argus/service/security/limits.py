"""What a request may cost: bytes, depth, its address' share of a minute, and time."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.service.config import ServeConfig
from argus.service.security.refusing import refusal

DEPTH = 32
"""Lists and objects inside each other, of a JSON body."""
PARTS = 200_000
"""Lists and objects in a JSON body."""
ADDRESSES = 10_000
"""Addresses that are counted at a time."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class Limits:
    """ASGI middleware that refuses what is too large, too deep, too often, and ends what is late.

    A response that has begun may take its time: events are streamed.
    """

    def __init__(self, app: ASGIApp, config: ServeConfig) -> None:
        self.app, self.config = app, config
        self.max_bytes = int(config.max_body_mb * 1e6)
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._minute = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on within its limits."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._is_too_often(scope):
            busy = refusal(
                429,
                f"more than {self.config.per_minute:,} requests in a minute",
                {"retry-after": str(60 - int(time.time()) % 60)},
            )
            await busy(scope, receive, send)
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

    def _is_too_often(self, scope: Scope) -> bool:
        """Count a request of an address in this minute; the longest unseen are forgotten."""
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._counts.clear()
            self._minute = minute
        address = (scope.get("client") or ("",))[0]
        self._counts[address] = count = self._counts.get(address, 0) + 1
        self._counts.move_to_end(address)
        if len(self._counts) > ADDRESSES:
            self._counts.popitem(last=False)
        return count > self.config.per_minute

    async def _within_bytes(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        body = bytearray()
        is_whole = not length.isdigit() or int(length) <= self.max_bytes
        more = is_whole
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            is_whole = len(body) <= self.max_bytes
            more = more and is_whole
        if not is_whole:
            large = refusal(413, f"more than {self.config.max_body_mb:g} MB; send it in parts")
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
