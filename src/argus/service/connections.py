"""Connections that send nothing, or take nothing, are closed: uvicorn waits for both for ever."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from fcntl import ioctl
from termios import TIOCOUTQ
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_HEAD = 1 << 16
"""Bytes of the address and the headers of a request, each header with HEADER of its own."""
HEADER = 32
_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: the system, too, drops what was not sent."""


_Uvicorns: Any = asyncio.Protocol
"""What stands for uvicorn's protocol here: `closing_idle` puts the one that it picks behind."""


def closing_idle(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol, which closes a connection that has begun no request in time.

    One whose head has no end is answered with 400. A request has begun when its headers are whole;
    its body is for `Limits` to time. Who takes nothing of an answer for as long is cut off; who
    takes it slowly has it whole.
    """
    is_bounded = issubclass(AutoHTTPProtocol, H11Protocol)  # by h11_max_incomplete_event_size
    bounded = (AutoHTTPProtocol,) if is_bounded else (_BoundedHead, AutoHTTPProtocol)
    return type("Connection", (_ClosingIdle, *bounded), {"seconds": seconds})


class _BoundedHead(_Uvicorns):  # type: ignore[misc]
    """Answers a head without an end with 400."""

    _head = 0
    _unfinished = 0
    """Bytes since the parser made anything of them: it holds those of a header, all of them."""

    def data_received(self, data: bytes) -> None:
        self._unfinished += len(data)
        super().data_received(data)
        if self._unfinished > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("A line longer than any request needs.")

    def on_message_begin(self) -> None:
        self._head = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._unfinished = 0
        self._count(len(name) + len(value) + HEADER)  # trailers behind a body, too
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._unfinished = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unfinished = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unfinished = 0
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > MOST_HEAD:
            raise ValueError("a longer head than any request needs")


class _ClosingIdle(_Uvicorns):  # type: ignore[misc]
    """See `closing_idle`."""

    seconds: float
    _deadline: asyncio.TimerHandle | None = None
    _next_look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # paused while anything at all waits
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_under_way():
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_watching()
        super().connection_lost(exc)

    def _is_under_way(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self.seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self._is_under_way():
            self.transport.close()

    def _watch(self) -> None:
        before = bytes_not_taken(self.transport)
        self._next_look = self.loop.call_later(self.seconds, self._look, before)

    def _stop_watching(self) -> None:
        if self._next_look is not None:
            self._next_look.cancel()
            self._next_look = None

    def _look(self, before: int) -> None:
        if bytes_not_taken(self.transport) < before:
            self._watch()
            return
        with suppress(OSError):
            own = self.transport.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()


def bytes_not_taken(transport: asyncio.Transport) -> int:
    """Return how much of what was written waits here, or in the system, for the other end."""
    waiting = transport.get_write_buffer_size()
    with suppress(OSError):  # the system moves large parts at a time: who is slow takes from it
        held = ioctl(transport.get_extra_info("socket").fileno(), TIOCOUTQ, bytes(4))
        waiting += struct.unpack("i", held)[0]
    return waiting
