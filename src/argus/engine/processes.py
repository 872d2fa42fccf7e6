"""Child processes that talk over a pipe, and end when it is closed.

A child reads its pipe in a thread of its own, so that the parent never waits for one that is busy,
and so that it ends, whatever it does, when the parent has gone.
"""

from __future__ import annotations

import mmap
import os
import queue
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import Any

from argus.engine.packing import Packed

GRACE_S = 10.0
"""How long a child may take to end by itself once its pipe is closed."""
_ALIGN = 64
Message = tuple[Any, ...]
"""A kind, and what belongs to it: each kind has its own."""
Inbox = queue.SimpleQueue[Message | None]
"""Messages; None when there will be none."""


class Child:
    """A process that runs `main(conn)`, a function of a module, in a fresh interpreter.

    env: variables that it begins with, besides this process's own; None takes one away. family:
    it starts processes of its own, which are ended with it.
    """

    def __init__(
        self,
        main: Callable[[Connection], None],
        env: Mapping[str, str | None],
        name: str,
        *,
        family: bool = False,
    ) -> None:
        self.family = family
        context = get_context("spawn")
        self.conn, theirs = context.Pipe()
        arguments = (main, theirs, family)
        self.process = context.Process(target=_begin, args=arguments, name=name, daemon=True)
        try:
            with _environment(env), _uninterrupted():
                self.process.start()
        except BaseException:
            self.conn.close()
            raise
        finally:
            theirs.close()

    def send(self, *message: object) -> None:
        """Send a message; nothing is said where the child has died, its pipe tells."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.conn.send(message)

    def send_shared(self, kind: str, spool: Spool, *rest: object) -> None:
        """Send a message that has what was spooled as its second part."""
        assert self.process.pid is not None
        with suppress(BrokenPipeError, ConnectionResetError):
            self.conn.send(_Spooled(kind, spool.payload, spool.spans, rest))
            if spool.spans:
                send_handle(self.conn, spool.file.fileno(), self.process.pid)

    def how_it_ended(self) -> str:
        """Return how, as in "was killed by SIGKILL"; waits for an end that is under way."""
        self.process.join(1.0)
        code = self.process.exitcode
        if code is None:
            return "closed its pipe"
        if code < 0:
            with suppress(ValueError):
                return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def close(self, grace_s: float) -> None:
        """Let it end by itself within `grace_s`, or kill it."""
        self.conn.close()
        if grace_s:
            self.process.join(grace_s)
        if self.process.is_alive():
            self.process.kill()
        if self.family and self.process.pid is not None:
            _kill_session(self.process.pid)
        self.process.join()
        self.process.close()


class Spool:
    """Something packed whose buffers lie in a file without a name, which processes share."""

    def __init__(self, packed: Packed) -> None:
        self.payload = packed.payload
        self.spans: list[tuple[int, int]] = []
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close
        for buffer in packed.buffers:
            start = -(-self.file.tell() // _ALIGN) * _ALIGN
            self.file.seek(start)
            self.file.write(buffer)
            self.spans.append((start, start + buffer.nbytes))
        self.file.flush()

    def close(self) -> None:
        """Let the file go; children that have it keep it."""
        self.file.close()


@dataclass(frozen=True)
class _Spooled:
    """The message that goes before the file; kind and rest are the message's own."""

    kind: str
    payload: bytes
    spans: list[tuple[int, int]]
    rest: tuple[object, ...]

    def load(self, conn: Connection) -> Message:
        if not self.spans:
            return self.kind, Packed(self.payload), *self.rest
        handle = recv_handle(conn)
        try:
            whole = memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))
        finally:
            os.close(handle)
        return self.kind, Packed(self.payload, [whole[a:b] for a, b in self.spans]), *self.rest


def inbox_of(conn: Connection) -> Inbox:
    """Return, in a child, a queue of what the parent sends; None comes when it has gone."""
    inbox: Inbox = queue.SimpleQueue()

    def read() -> None:
        with suppress(EOFError, OSError):
            while True:
                message = conn.recv()
                inbox.put(message.load(conn) if isinstance(message, _Spooled) else message)
        inbox.put(None)
        time.sleep(GRACE_S)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return inbox


def _begin(main: Callable[[Connection], None], conn: Connection, family: bool) -> None:
    """Run a child: Ctrl-C is for the parent, which then ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if family:
        os.setsid()
    with suppress(BrokenPipeError, ConnectionResetError):
        main(conn)


def _kill_session(session: int) -> None:
    """Kill what is left of a session; only Linux says which processes those are."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[3]) == session:
                os.kill(int(path.parent.name), signal.SIGKILL)


@contextmanager
def _environment(env: Mapping[str, str | None]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in env}
    _set(env)
    try:
        yield
    finally:
        _set(before)


def _set(env: Mapping[str, str | None]) -> None:
    for name, value in env.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back, which a child that starts here inherits: it cannot be hit while young."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
