"""Run the service until it is told to stop; hold its folders meanwhile."""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from argus.data.writing import take_lock
from argus.errors import ArgusError, InputError
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.jobs.planning import Commands
from argus.service.security import VARIABLE
from argus.service.workplace import STATE, Workplace

LOCK = "lock"
"""File whose lock is held in each folder while a service runs over it."""
GRACE_S = 5  # of requests under way when the service ends
IDLE_S = 10  # of a connection between two requests
MAX_HEAD = 1 << 16  # bytes of a request's address and headers
MAX_PENDING = 2048  # connections that wait to be accepted


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
        listener = listening(config)
        host, port = listener.getsockname()[:2]
        say(f"argus serve: http://{f'[{host}]' if ':' in host else host}:{port}/")
        token = app.state.service.gate.token
        if token is not None and token.was_made:
            say(f"token, shown once: {token.value}")
            say(f"(set {VARIABLE} to choose it)")
        elif token is not None:
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

    The loop is Python's own, though uvloop be there: uvloop starts a job by a fork in which
    libraries run code of theirs (LanceDB warns of a deadlock), and the service would wait for it.
    h11 is the parser that bounds the head of a request.
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
    """Hold the lock of every folder; one that cannot be written is served without.

    A folder is held with all that lies in it. Folders around it are shared with others that hold a
    part of them. Both are locks of the folders themselves, for which nothing is written. The root,
    and folders around that everybody writes such as /tmp, are let be: others lock them for reasons
    of their own. Raises ArgusError where another service holds one, or runs over a folder in it or
    around it.
    """
    folders = dict.fromkeys(folder.resolve() for folder in workplace.folders)
    with ExitStack() as locks:
        for folder in folders:
            if not any(around in folders for around in folder.parents):
                _hold(folder, fcntl.LOCK_EX, _busy(f"{folder}, or over a folder in it"), locks)
                for around in folder.parents:
                    if not _is_shared(around):
                        held = (
                            f"Another program holds a lock of {around}, in which {folder} lies: a "
                            "service over all of it, perhaps. Stop it first, or open its page; it "
                            "has printed where."
                        )
                        _hold(around, fcntl.LOCK_SH, held, locks)
            with suppress(OSError):
                (folder / STATE).mkdir(exist_ok=True)
                locks.enter_context(take_lock(folder / STATE / LOCK, busy=_busy(f"{folder}")))
        yield


def _hold(folder: Path, kind: int, busy: str, locks: ExitStack) -> None:
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        locks.callback(os.close, opened)
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ArgusError(busy) from error
    except OSError:  # it may not be read, or its file system has no locks
        return


def _is_shared(folder: Path) -> bool:
    everybodys = stat.S_IWOTH | stat.S_ISVTX
    with suppress(OSError):
        return folder == folder.parent or folder.stat().st_mode & everybodys == everybodys
    return False


def _busy(where: str) -> str:
    return (
        f"Another service runs over {where}. Stop it first, or open its page; it has printed where."
    )


def listening(config: ServeConfig) -> socket.socket:
    """Return a socket that listens; InputError where the address is taken or is not ours."""
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            config.host, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(MAX_PENDING)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise InputError(
            f"{config.host}:{config.port} cannot be listened on ({error.strerror})",
            expected="an address of this machine, and a port that is free",
            fix="Give another --port; 0 takes a free one.",
            where="--port",
        ) from error
    return listener
