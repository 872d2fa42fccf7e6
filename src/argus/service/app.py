"""Make the application of a workplace, and run it until it is told to stop."""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from argus.errors import ArgusError, InputError
from argus.service.api import retrieving, searching, telling, working
from argus.service.config import ServeConfig
from argus.service.jobs.planning import Commands
from argus.service.page.routes import mount_pages
from argus.service.security import VARIABLE, Guard, refusal
from argus.service.state import Service
from argus.service.telemetry import Observed
from argus.service.workplace import Workplace
from argus.version import __version__

GRACE_S = 5  # of requests under way when the service ends
IDLE_S = 10  # of a connection between two requests
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
    for router in (searching, retrieving, telling, *([] if commands is None else [working])):
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
    service runs over one of the folders, InputError for an address that cannot be listened on.
    """
    logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())  # a second Ctrl-C's
    with folders_locked(workplace):
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
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=GRACE_S,
    )


@contextmanager
def folders_locked(workplace: Workplace) -> Iterator[None]:
    """Hold the lock of every folder. One that cannot be written is served without.

    A folder is held with all that lies in it. Folders around it are shared with others that hold a
    part of them. Both are locks of the folders themselves, for which nothing is written. The root,
    and folders around that everybody writes such as /tmp, are not locked: others lock them for
    reasons of their own. Raises ArgusError where another service holds one, or runs over a folder
    in it or around it.
    """
    folders = dict.fromkeys(folder.resolve() for folder in workplace.folders)
    outer = [one for one in folders if not any(around in folders for around in one.parents)]
    with ExitStack() as locks:

        def hold(folder: Path, kind: int, holder: str) -> None:
            try:
                opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                locks.callback(os.close, opened)
                fcntl.flock(opened, kind | fcntl.LOCK_NB)
            except BlockingIOError as error:
                stop = "Stop it first, or open its page; it has printed where."
                raise ArgusError(f"{holder}. {stop}") from error
            except OSError:  # it may not be read, or its file system has no locks
                return

        for folder in outer:
            own = f"Another service runs over {folder}, or over a folder in it"
            hold(folder, fcntl.LOCK_EX, own)
            for around in folder.parents:
                if not _is_everybodys(around):
                    other = f"Another program holds a lock of {around}, in which {folder} lies"
                    hold(around, fcntl.LOCK_SH, f"{other}: a service over all of it, perhaps")
        yield


def _is_everybodys(folder: Path) -> bool:
    writable = stat.S_IWOTH | stat.S_ISVTX
    with suppress(OSError):
        return folder == folder.parent or folder.stat().st_mode & writable == writable
    return False


def open_listener(config: ServeConfig) -> socket.socket:
    """Return a socket that listens. Raises InputError where the address is taken or is not ours."""
    with ExitStack() as opened:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                config.host, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listener = opened.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(MAX_PENDING)
        except OSError as error:
            got = f"{config.host}:{config.port} cannot be listened on ({error.strerror})"
            expected = "an address of this machine, and a port that is free"
            fix = "Give another --port; 0 takes a free one."
            raise InputError(got, expected=expected, fix=fix, where="--port") from error
        opened.pop_all()
        return listener
