"""Asynchronous work for callers that are not: a thread with its own event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

R = TypeVar("R")
Deliver = Callable[[str, R], None]


class Background(Generic[R]):
    """Runs `work(deliver)` in a thread; what it delivers under a key can be waited for.

    A thread of its own, because the caller may stand in an event loop already (a notebook) and
    because work must go on while the caller does other things between two results.
    """

    def __init__(self, work: Callable[[Deliver[R]], Awaitable[None]]) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._results: dict[str, R] = {}
        self._finished = self._stopped = False
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="argus-llm", daemon=True)
        self._thread.start()

    def take(self, key: str) -> R | None:
        """Return what was delivered under `key` as soon as it is, and forget it.

        None when the work ended without it; raises what the work raised.
        """
        with self._changed:
            self._changed.wait_for(lambda: key in self._results or self._finished)
            if key in self._results:
                return self._results.pop(key)
            if self._error is not None:
                raise self._error
            return None

    def stop(self) -> None:
        """Cancel what is under way and wait for its end."""
        with self._changed:
            self._stopped = True
            if self._loop is not None and self._task is not None and not self._finished:
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            with asyncio.Runner() as runner:
                runner.run(self._main())
        except asyncio.CancelledError:
            pass
        except BaseExceptionGroup as group:
            error = _first(group)
        except BaseException as raised:
            error = raised
        self._finish(error)

    async def _main(self) -> None:
        with self._changed:
            if self._stopped:
                return
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.current_task()
        try:
            await self._work(self._deliver)
        finally:
            with self._changed:
                self._task = None  # from here on there is nothing to cancel

    def _deliver(self, key: str, result: R) -> None:
        with self._changed:
            self._results[key] = result
            self._changed.notify_all()

    def _finish(self, error: BaseException | None) -> None:
        with self._changed:
            self._finished, self._error = True, error
            self._changed.notify_all()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
