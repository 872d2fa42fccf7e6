"""Make the web application of `argus serve` (FastAPI), and run it until a signal comes.

`create_app` puts the API (`argus.service.api`), the pages (`argus.service.page`) and the guards
(`argus.service.security`) together over a workplace: the folders and the index that are served.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from argus.errors import ArgusError, InputError
from argus.service.api import searching, telling, working
from argus.service.config import ServeConfig
from argus.service.jobs.planning import Commands
from argus.service.page.routes import mount_pages
from argus.service.security import VARIABLE, Guard, refusal
from argus.service.state import Service
from argus.service.telemetry import Observed
from argus.service.workplace import Workplace
from argus.version import __version__

GRACE_S = 5  # of requests under way when the service ends
MAX_HEAD = 1 << 16  # bytes of a request's address and headers
MAX_PENDING = 2048  # connections that wait to be accepted


def create_app(
    workplace: Workplace, config: ServeConfig | None = None, commands: Commands | None = None
) -> FastAPI:
    """Return the ASGI application of a workplace. Its source is opened when it starts.

    commands: those of Argus, which requests may start as jobs. Without them there are no jobs.
    Raises InputError for a token in ARGUS_SERVE_TOKEN that can be guessed.
    """
    service = Service(workplace, config or ServeConfig(), commands)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with service.running():
                yield
        except Exception as error:
            app.state.failure = error  # uvicorn would say it, and logs nothing
            raise

    app = FastAPI(
        title="Argus", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.service, app.state.failure = service, None
    app.add_middleware(Guard, service.config, service.gate)
    app.add_middleware(Observed, service.metrics, service.log)  # the outermost
    app.add_exception_handler(ArgusError, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_invalid)
    for router in (searching, telling, *([] if commands is None else [working])):
        app.include_router(router)
    mount_pages(app)
    return app


async def _refuse(request: Request, error: Exception) -> Response:
    """Send the text of an error. An InputError is of the request, the others are ours."""
    if isinstance(error, InputError):
        return refusal(422, str(error))
    return refusal(503, str(error), {"retry-after": "1"})


async def _refuse_invalid(request: Request, error: Exception) -> Response:
    """Say where a request is wrong, without sending back its texts."""
    assert isinstance(error, RequestValidationError)
    wrong = [
        {"where": ".".join(map(str, one["loc"])), "wrong": one["msg"]} for one in error.errors()
    ]
    return refusal(422, wrong)


def run_service(
    workplace: Workplace,
    config: ServeConfig,
    say: Callable[[str], object] = print,
    commands: Commands | None = None,
) -> None:
    """Listen, and serve until a signal comes. say: prints the address for a person.

    commands: those of Argus, which requests may start as jobs. Raises ArgusError where another
    service has jobs in the first folder, InputError for an address that cannot be listened on.
    """
    logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())  # a second Ctrl-C's
    app = create_app(workplace, config, commands)
    listener = open_listener(config)
    host, port = listener.getsockname()[:2]
    say(f"argus serve: http://{f'[{host}]' if ':' in host else host}:{port}/")
    gate = app.state.service.gate
    if gate.was_made:
        say(f"token, shown once: {gate.token}")
        say(f"(set {VARIABLE} to choose it)")
    elif gate.token is not None:
        say(f"token: as {VARIABLE} says")
    if workplace.authority is not None:
        say(f"records: {workplace.authority.records}")
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(uvicorn_config(app)).run([listener])
    finally:  # uvicorn leaves by SystemExit, and does not say why
        if app.state.failure is not None:
            raise app.state.failure


def uvicorn_config(app: FastAPI) -> uvicorn.Config:
    """Return the settings of uvicorn: it logs nothing, and believes no proxy's header.

    The loop is Python's own: uvloop starts a job by a fork in which libraries run code of theirs
    (LanceDB warns of a deadlock), and the service would wait for it. h11 is the parser that bounds
    the head of a request.
    """
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        h11_max_incomplete_event_size=MAX_HEAD,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
    )


def open_listener(config: ServeConfig) -> socket.socket:
    """Return a socket that listens. Raises InputError where the address is taken or is not ours."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only where the protocol is named: else answers take 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((config.host, config.port))
        listener.listen(MAX_PENDING)
        return listener
    except OSError as error:
        listener.close()
        got = f"{config.host}:{config.port} cannot be listened on ({error.strerror})"
        expected = "an address of this machine, and a port that is free"
        fix = "Give another --port; 0 takes a free one."
        raise InputError(got, expected=expected, fix=fix, where="--port") from error
