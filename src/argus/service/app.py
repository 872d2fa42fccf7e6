"""The application: one FastAPI over a workplace."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from argus.errors import ArgusError, InputError
from argus.service.config import ServeConfig
from argus.service.page.routes import mount_pages
from argus.service.security.headers import SecurityHeaders
from argus.service.state import Service
from argus.service.workplace import Workplace
from argus.version import __version__


def create_app(workplace: Workplace, config: ServeConfig | None = None) -> FastAPI:
    """Return the ASGI application of a workplace; nothing is loaded before it is asked for."""
    app = FastAPI(title="Argus", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = Service(workplace, config or ServeConfig())
    app.add_middleware(SecurityHeaders)
    app.add_exception_handler(ArgusError, _refused)
    mount_pages(app)
    return app


def _refused(request: Request, error: Exception) -> Response:
    """Return what was wrong with the request, as every error of Argus says it."""
    status = 422 if isinstance(error, InputError) else 503
    return JSONResponse({"detail": str(error)}, status)
