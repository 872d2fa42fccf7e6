"""Run the service until it is told to stop."""

from __future__ import annotations

import fcntl
import logging
import os
import resource
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import filterfalse
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from argus.data.locks import take_lock
from argus.errors import ArgusError, InputError
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.connections import MOST_HEAD, closing_idle
from argus.service.jobs.declared import Commands
from argus.service.security.sessions import VARIABLE
from argus.service.state import Service
from argus.service.workplace import STATE, Workplace

LOCK = "lock"
"""Held in each folder while a service runs over it."""
GRACE_S = 5
"""Seconds that requests under way have when the service ends."""
WAITING = 2048
"""Connections that may wait to be taken."""
SPARE_FILES = 256
"""Open files beside the connections."""


def run_service(
    workplace: Workplace,
    config: ServeConfig,
    say: Callable[[str], object] = print,
    commands: Commands | None = None,
) -> None:
    """Listen, and serve until a signal comes; say: what tells a person where.

    commands: those of Argus, which requests may start as jobs. Raises ArgusError where another
    service runs over one of the folders, InputError for an address that cannot be listened on.
    """
    logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())  # a second Ctrl-C's
    with folders_locked(workplace):
        app = create_app(workplace, config, commands)
        listener = listening(config)
        allow_files(config.max_connections)
        for line in _greeting(app.state.service, listener):
            say(line)
        try:
            with suppress(KeyboardInterrupt):
                uvicorn.Server(uvicorn_config(app, config)).run([listener])
        finally:  # uvicorn leaves by SystemExit, and does not say why
            if app.state.failure is not None:
                raise app.state.failure


def uvicorn_config(app: FastAPI, config: ServeConfig) -> uvicorn.Config:
    """Return how uvicorn runs the application: it logs nothing, and believes no proxy's header.

    The loop is Python's own, though uvloop be there: uvloop starts a job by a fork in which
    libraries run code of theirs (LanceDB warns of a deadlock), and the service would wait for it.
    """
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=closing_idle(config.idle_s),
        h11_max_incomplete_event_size=MOST_HEAD,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=config.idle_s,
        timeout_graceful_shutdown=GRACE_S,
        limit_concurrency=config.max_connections,
    )


@contextmanager
def folders_locked(workplace: Workplace) -> Iterator[None]:
    """Hold the lock of every folder; one that cannot be written is served without.

    With a folder all that lies in it is held, its index and the records that came among it. Raises
    ArgusError where another service holds one, or runs over a folder in it or around it.
    """
    folders = dict.fromkeys(folder.resolve() for folder in workplace.folders)
    with ExitStack() as locks:
        for folder in folders:
            if not any(around in folders for around in folder.parents):
                _hold_tree(folder, locks)
            with suppress(OSError):
                (folder / STATE).mkdir(exist_ok=True)
                lock = take_lock(folder / STATE / LOCK, busy=_busy(f"over {folder}"))
                locks.enter_context(lock)
        yield


def _hold_tree(folder: Path, locks: ExitStack) -> None:
    """Hold a folder alone, and those around it together with others that hold a part of them.

    By locks of the folders themselves, for which nothing is written. Folders around that are
    everybody's are let be: others have their own reasons to lock them.
    """
    within = _busy(f"over {folder}, or over a folder in it")
    ways = [(folder, fcntl.LOCK_EX, within)]
    ways += [
        (around, fcntl.LOCK_SH, _locked_around(around, folder))
        for around in filterfalse(_is_everybodys, folder.parents)
    ]
    for path, kind, busy in ways:
        try:
            opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            locks.callback(os.close, opened)
            fcntl.flock(opened, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ArgusError(busy) from error
        except OSError:  # it may not be read, or its file system has no locks
            continue


def _is_everybodys(folder: Path) -> bool:
    """Return whether a folder is the root, or one like /tmp, for everybody to keep theirs in."""
    everybodys = stat.S_IWOTH | stat.S_ISVTX
    with suppress(OSError):
        return folder == folder.parent or folder.stat().st_mode & everybodys == everybodys
    return False


def _locked_around(around: Path, folder: Path) -> str:
    return (
        f"Another program holds a lock of {around}, in which {folder} lies: a service over all of "
        "it, perhaps. Stop it first, or open its page; it has printed where."
    )


def _busy(where: str) -> str:
    return f"Another service runs {where}. Stop it first, or open its page; it has printed where."


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
        listener.listen(WAITING)
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


def allow_files(connections: int) -> None:
    """Allow as many open files as there may be connections, as far as the system lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = connections + SPARE_FILES
    if hard != resource.RLIM_INFINITY:
        files = min(files, hard)
    if soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))


def _greeting(service: Service, listener: socket.socket) -> Iterator[str]:
    """Yield where the page is, and the token, which is said once."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    yield f"argus serve: http://{shown}:{port}/"
    token = service.gate.token
    if token is not None and token.was_made:
        yield f"token, shown once: {token.value}"
        yield f"(set {VARIABLE} to choose it)"
    elif token is not None:
        yield f"token: as {VARIABLE} says"
    if service.authority is not None:
        yield f"records: {service.authority.source.records}"
    for warning in service.warnings:
        yield f"warning: {warning}"
