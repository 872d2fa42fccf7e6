"""When the next request may be sent: an even rate, and pauses that the server asks for."""

from __future__ import annotations

import asyncio
import time


class Pace:
    """Spaces the requests of one run evenly; without a rate they only wait for pauses.

    For one event loop, and one caller of `turn` at a time.
    """

    def __init__(self, requests_per_minute: float | None) -> None:
        self._interval_s = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._next = time.monotonic()

    async def turn(self) -> None:
        """Return when a request may be sent."""
        while (wait := self._next - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        self._next = time.monotonic() + self._interval_s

    def pause(self, seconds: float) -> None:
        """Send nothing for so long: the server asked for it, and all requests are alike to it."""
        self._next = max(self._next, time.monotonic() + seconds)
