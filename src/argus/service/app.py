"""Make the application: one FastAPI over a workplace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from argus.errors import ArgusError, InputError
from argus.service.api import retrieving, searching, telling
from argus.service.config import ServeConfig
from argus.service.jobs.planning import Commands
from argus.service.jobs.routes import router as jobs
from argus.service.page.routes import mount_pages
from argus.service.searcher import Stopped, TooManyQuestions
from argus.service.security import Guard, refusal
from argus.service.state import Service
from argus.service.telemetry import Observed
from argus.service.workplace import Workplace
from argus.version import __version__


def create_app(
    workplace: Workplace, config: ServeConfig | None = None, commands: Commands | None = None
) -> FastAPI:
    """Return the ASGI application of a workplace; its source is opened when it starts.

    commands: those of Argus, which requests may start as jobs; without them there are no jobs.
    Raises InputError for a token in ARGUS_SERVE_TOKEN that can be guessed.
    """
    service = Service(workplace, config or ServeConfig(), commands)
    app = FastAPI(
        title="Argus", version=__version__, docs_url=None, redoc_url=None, lifespan=_lifespan
    )
    app.state.service, app.state.failure = service, None
    app.add_middleware(Guard, service.config, service.gate)
    app.add_middleware(Observed, service.metrics, service.log)  # the outermost
    app.add_exception_handler(InputError, _refusing(422))  # of the request; the others are ours
    for kind in (ArgusError, TooManyQuestions, Stopped):
        app.add_exception_handler(kind, _refusing(503, {"retry-after": "1"}))
    app.add_exception_handler(RequestValidationError, _invalid)
    for router in (searching, retrieving, telling, *([] if commands is None else [jobs])):
        app.include_router(router)
    mount_pages(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    try:
        async with service.running():
            yield
    except Exception as error:
        app.state.failure = error  # uvicorn would say it, and logs nothing
        raise


def _refusing(
    status: int, headers: dict[str, str] | None = None
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return the handler that sends the text of an error."""

    async def refuse(request: Request, error: Exception) -> Response:
        return refusal(status, str(error), headers)

    return refuse


async def _invalid(request: Request, error: Exception) -> Response:
    """Say where a request is wrong, without sending back its texts."""
    assert isinstance(error, RequestValidationError)
    wrong = [
        {"where": ".".join(map(str, one["loc"])), "wrong": one["msg"]} for one in error.errors()
    ]
    return refusal(422, wrong)
