"""Connections that send nothing are closed: uvicorn waits for a first request for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

MOST_HEAD = 1 << 16
"""Bytes of the headers of a request, each with HEADER of its own."""
HEADER = 32


def _bounded_headers(base: Any) -> Any:
    """Return a protocol that answers headers without an end with 400."""

    class BoundedHeaders(base):  # type: ignore[misc]
        _head = 0

        def on_message_begin(self) -> None:
            self._head = 0
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            self._head += len(name) + len(value) + HEADER
            if self._head > MOST_HEAD:  # trailers behind a body count, too
                raise ValueError("more headers than any request needs")
            super().on_header(name, value)

    return BoundedHeaders


def closing_idle(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol, which closes a connection that has begun no request in time.

    One whose headers have no end is answered with 400. A request has begun when its headers are
    whole; its body is for `Limits` to time.
    """
    base: Any = _bounded_headers(AutoHTTPProtocol)

    class ClosingIdle(base):  # type: ignore[misc]
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_under_way():
                self._stop_waiting()
            elif self._deadline is None:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _is_under_way(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _wait(self) -> None:
            self._deadline = self.loop.call_later(seconds, self._give_up)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _give_up(self) -> None:
            self._deadline = None
            if not self._is_under_way():
                self.transport.close()

    return ClosingIdle
