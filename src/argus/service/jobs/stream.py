"""Server-sent events of one job: resumed by their ids, and let go where a client hangs."""

from __future__ import annotations

import asyncio
import json
import time

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from argus.service.jobs.queue import Jobs
from argus.service.jobs.summary import JobEvent

AT_ONCE = 100
"""Events read from the table at once: what a slow client can make the service hold."""
QUIET_S = 15.0
"""Seconds without an event after which a comment shows that the stream lives."""
SEND_S = 20.0
"""Seconds that a client may take to accept a block; then it is let go."""
LONGEST_S = 600.0
"""Seconds of one stream; a client comes back by itself with the id of its last event."""
RETRY_MS = 2_000


class EventStream(Response):
    """The events of a job after `after`, each as `job`; once it has ended, the job as `end`."""

    media_type = "text/event-stream"

    def __init__(self, jobs: Jobs, job: int, after: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.jobs, self.job, self.after = jobs, job, after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events as they come, until the job, the client or the time is at an end."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send_all(self, send: Send) -> None:
        until = time.monotonic() + LONGEST_S
        await _block(send, f"retry: {RETRY_MS}\n\n")
        while time.monotonic() < until:
            if events := self.jobs.events(self.job, self.after, AT_ONCE):
                self.after = events[-1]["id"]
                await _block(send, "".join(map(_as_text, events)))
                continue
            if self.jobs.has_ended(self.job):
                job = json.dumps(self.jobs.job(self.job))
                await _block(send, f"event: end\ndata: {job}\n\n")
                break
            if not await self.jobs.changed(min(QUIET_S, until - time.monotonic())):
                await _block(send, ": still here\n\n")
        await _block(send, "", more=False)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _block(send: Send, text: str, *, more: bool = True) -> None:
    message = {"type": "http.response.body", "body": text.encode(), "more_body": more}
    async with asyncio.timeout(SEND_S):
        await send(message)


def _as_text(event: JobEvent) -> str:
    """Return an event as it is sent; JSON has no line break, whatever the texts hold."""
    return f"id: {event['id']}\nevent: job\ndata: {json.dumps(event)}\n\n"
