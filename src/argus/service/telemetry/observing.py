"""Every request is counted, timed and logged; a fault of ours is answered and kept."""

from __future__ import annotations

import secrets
import time
import traceback
from pathlib import Path
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.service.security.refusing import refusal
from argus.service.telemetry.log import Log, elapsed_ms
from argus.service.telemetry.metrics import Metrics

QUIET = ("/healthz", "/readyz", "/metrics")
"""Paths that are asked all day: they are counted, and logged where they fail alone."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Observed:
    """ASGI middleware around all others. The path is logged; its query holds texts, and is not."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Log) -> None:
        self.app, self.metrics, self.log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note what came of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, status, since = secrets.token_hex(8), 0, time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = number
            await send(message)

        self.metrics.under_way.inc()
        try:
            await self.app(scope, receive, noted)
        except Exception as error:
            texts: dict[str, object] = {"says": str(error)}
            kind = type(error).__name__
            self.log.write("fault", texts, request=number, error=kind, at=_places(error))
            if status:
                raise
            await refusal(500, f"a fault of the service; its log says more under {number}")(
                scope, receive, noted
            )
        finally:
            self.metrics.under_way.dec()
            self._note(scope, number, status, since)

    def _note(self, scope: Scope, number: str, status: int, since: float) -> None:
        route: Any = scope.get("route")
        path, method = getattr(route, "path", "other"), scope["method"]
        method = method if method in METHODS else "other"
        self.metrics.requests.labels(method, path, str(status)).inc()
        self.metrics.seconds.labels(method, path).observe(time.perf_counter() - since)
        if scope["path"] not in QUIET or status >= 500:
            client = (scope.get("client") or ("",))[0]
            self.log.write(
                "request", {"path": scope["path"]}, request=number, method=method, route=path,
                status=status, ms=elapsed_ms(since), client=client,
            )  # fmt: skip


def _places(error: Exception) -> list[str]:
    """Return where a fault was; what it says may hold texts."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
