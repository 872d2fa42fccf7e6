"""Whether the service lives, whether it is ready, and its figures."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Response
from typing_extensions import TypedDict

from argus.service.searching.searcher import State
from argus.service.state import ServiceOf
from argus.service.telemetry.metrics import CONTENT_TYPE_LATEST

router = APIRouter(tags=["service"])


class Health(TypedDict):
    """That it lives."""

    status: Literal["ok"]


class Readiness(TypedDict):
    """Whether it answers at once; of one that failed, the log says why."""

    ready: bool
    state: State


@router.get("/healthz")
async def healthz() -> Health:
    """Say that it lives."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"model": Readiness}})
async def readyz(service: ServiceOf, response: Response) -> Readiness:
    """Say whether what is searched is open; who asks has it opened."""
    state = service.searcher.state()
    is_ready = state == "ready"
    response.status_code = 200 if is_ready else 503
    return {"ready": is_ready, "state": state}


@router.get("/metrics", response_class=Response)
async def metrics(service: ServiceOf) -> Response:
    """Return all figures, for Prometheus."""
    service.metrics.waiting.set(service.searcher.waiting)
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)
