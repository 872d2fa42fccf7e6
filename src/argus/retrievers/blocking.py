"""Calls that block: one at a time, and in a thread where their time is to end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from argus.retrievers.protocol import RetrievalError
from argus.retrievers.session import in_a_thread

T = TypeVar("T")
PATIENCE_S = 5.0
"""That a call which was given up is waited for, before the next one, and before all is closed."""


@dataclass(frozen=True)
class Blocking:
    """Makes calls one at a time, since few clients serve several threads.

    is_timed: calls are made in threads, so that they can be given up; else in the caller's own.
    interrupt: stops what is under way, where something can; it is called when a call is given up.
    """

    is_timed: bool = False
    interrupt: Callable[[], None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    async def call(self, work: Callable[[], T]) -> T:
        """Return what a call returns."""
        if not self.is_timed:
            return work()
        given_up = threading.Event()

        def in_turn() -> T:
            with self._lock:
                if given_up.is_set():
                    raise RetrievalError("given up before it began")
                return work()

        try:
            return await in_a_thread(in_turn)
        except asyncio.CancelledError:
            given_up.set()
            if self.interrupt is not None:
                self.interrupt()
            await in_a_thread(self.finish)  # the next one's time is its own
            raise

    def finish(self) -> None:
        """Wait for a call that was given up and is still under way, up to PATIENCE_S."""
        if self._lock.acquire(timeout=PATIENCE_S):
            self._lock.release()
