"""The application: one FastAPI over a workplace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from argus.errors import ArgusError, InputError
from argus.service.config import ServeConfig
from argus.service.jobs.declared import Commands
from argus.service.jobs.queue import Jobs
from argus.service.jobs.routes import router as jobs
from argus.service.page.routes import mount_pages
from argus.service.security.headers import SecurityHeaders
from argus.service.state import Service
from argus.service.workplace import Workplace
from argus.version import __version__


def create_app(
    workplace: Workplace, config: ServeConfig | None = None, commands: Commands | None = None
) -> FastAPI:
    """Return the ASGI application of a workplace; nothing is loaded before it is asked for.

    commands: those of Argus, which requests may start as jobs; without them there are no jobs.
    """
    config = config or ServeConfig()
    app = FastAPI(
        title="Argus", version=__version__, docs_url=None, redoc_url=None, lifespan=_lifespan
    )
    service = app.state.service = Service(workplace, config)
    if commands is not None:
        service.jobs = Jobs(workplace, commands, config.jobs_at_once)
        app.include_router(jobs)
    app.add_middleware(SecurityHeaders)
    app.add_exception_handler(ArgusError, _refused)
    mount_pages(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    jobs: Jobs | None = app.state.service.jobs
    if jobs is not None:
        jobs.start()
    try:
        yield
    finally:
        if jobs is not None:
            await jobs.close()


def _refused(request: Request, error: Exception) -> Response:
    """Return what was wrong with the request, as every error of Argus says it."""
    status = 422 if isinstance(error, InputError) else 503
    return JSONResponse({"detail": str(error)}, status)
