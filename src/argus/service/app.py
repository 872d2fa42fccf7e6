"""The application: one FastAPI over a workplace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from argus.errors import ArgusError, InputError
from argus.service.api.records import router as records
from argus.service.api.retrieving import router as retrieving
from argus.service.api.searching import router as searching
from argus.service.api.telling import router as telling
from argus.service.config import ServeConfig
from argus.service.jobs.declared import Commands
from argus.service.jobs.routes import router as jobs
from argus.service.page.routes import mount_pages
from argus.service.searching.batching import Stopped, TooManyQuestions
from argus.service.security.access import Access
from argus.service.security.headers import SecurityHeaders
from argus.service.security.hosts import HostCheck
from argus.service.security.limits import Limits, Throttle
from argus.service.security.login import router as login
from argus.service.security.refusing import refusal
from argus.service.state import Service
from argus.service.telemetry.observing import Observed
from argus.service.workplace import Workplace
from argus.version import __version__

ROUTERS = (searching, retrieving, records, telling)
"""What programs ask, in the OpenAPI description."""


def create_app(
    workplace: Workplace, config: ServeConfig | None = None, commands: Commands | None = None
) -> FastAPI:
    """Return the ASGI application of a workplace; what it searches is opened as it starts.

    commands: those of Argus, which requests may start as jobs; without them there are no jobs.
    Raises InputError for a token in ARGUS_SERVE_TOKEN that can be guessed.
    """
    config = config or ServeConfig()
    service = Service(workplace, config)
    app = FastAPI(
        title="Argus", version=__version__, docs_url=None, redoc_url=None, lifespan=_lifespan
    )
    app.state.service, app.state.failure = service, None
    _protect(app, service)
    for kind, status in REFUSALS.items():
        app.add_exception_handler(kind, _refusing(status))
    app.add_exception_handler(RequestValidationError, _invalid)
    for router in ROUTERS:
        app.include_router(router)
    service.take_commands(commands)
    if commands is not None:
        app.include_router(jobs)
    app.include_router(login)
    mount_pages(app)
    return app


def _protect(app: FastAPI, service: Service) -> None:
    """Put what keeps it safe around an application; the last is the outermost."""
    app.add_middleware(Limits, service.config)
    app.add_middleware(Access, service.gate)
    app.add_middleware(Throttle, service.config)
    app.add_middleware(HostCheck, service.config)
    app.add_middleware(Observed, service.metrics, service.log)
    app.add_middleware(SecurityHeaders)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    try:
        async with service.running():
            yield
    except Exception as error:
        app.state.failure = error  # uvicorn would say it, and logs nothing
        raise


REFUSALS: dict[type[Exception], int] = {
    InputError: 422, ArgusError: 503, TooManyQuestions: 503, Stopped: 503
}  # fmt: skip
"""What is wrong with the request, and what is wrong here."""


def _refusing(status: int):  # type: ignore[no-untyped-def]
    """Return the handler that says an error as every error of Argus is said."""

    async def refuse(request: Request, error: Exception) -> Response:
        return refusal(status, str(error), {"retry-after": "1"} if status == 503 else None)

    return refuse


async def _invalid(request: Request, error: Exception) -> Response:
    """Return what of a request is wrong and where; what it said is not sent back."""
    assert isinstance(error, RequestValidationError)
    wrong = [
        {"where": ".".join(map(str, one["loc"])), "wrong": one["msg"]} for one in error.errors()
    ]
    return refusal(422, wrong)
