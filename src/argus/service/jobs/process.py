"""One job as a process of its own: its progress, what it printed last, and how it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.locks import take_lock
from argus.data.whole_numbers import whole_number
from argus.errors import ArgusError
from argus.progress import LINES, VARIABLE, Step, read_step
from argus.service.jobs.summary import JobProgress

KEPT = 65_536
"""Bytes kept of the end of each stream."""
BLOCK = 16_384
LONGEST_LINE = 1 << 20
GRACE_S = (10.0, 5.0)
"""Seconds that a process has after SIGINT, and after SIGTERM, before the next signal."""
BEGINS_S = 30.0
"""Seconds until a process that was started has written its number, at the latest."""
CHILD = """
import contextlib, os, runpy, sys
with contextlib.suppress(OSError):  # on a full disk the service's own note of it has to do
    os.write(int(sys.argv.pop(1)), b"%d" % os.getpid())
runpy.run_module("argus", run_name="__main__", alter_sys=True)
"""
"""`python -m argus`, once it has written its number into the file that it holds."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


@dataclass(frozen=True)
class Ended:
    """How a process ended. code: negative of a signal, as Python has it."""

    code: int
    output: str
    errors: str


@dataclass
class Running:
    """A process that runs in a process group of its own, so that it is signalled with its own."""

    process: asyncio.subprocess.Process
    cancelled: bool = False
    _stopping: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def pid(self) -> int:
        """Of the process, and of its group."""
        return self.process.pid

    async def watch(self, heard: Callable[[JobProgress], None]) -> Ended:
        """Read what it prints until it ends; `heard` is called with each line of progress."""
        assert self.process.stdout is not None and self.process.stderr is not None
        clock = StepClock()
        output, errors = Tail(), Tail()

        async def read_errors(stream: asyncio.StreamReader) -> None:
            async for line in _lines(stream):
                step = read_step(line)
                if step is None:
                    errors.add(line.encode())
                else:
                    heard(clock.progress(step))

        async def read_output(stream: asyncio.StreamReader) -> None:
            while block := await stream.read(BLOCK):
                output.add(block)

        await asyncio.gather(read_errors(self.process.stderr), read_output(self.process.stdout))
        code = await self.process.wait()
        if self._stopping is not None:
            self._stopping.cancel()
        return Ended(code, output.text, errors.text)

    def cancel(self) -> None:
        """Ask it to stop: SIGINT as Ctrl-C does, then SIGTERM, then SIGKILL."""
        self.cancelled = True
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())

    async def _stop(self) -> None:
        for number, grace in zip(SIGNALS, (*GRACE_S, 0.0), strict=True):
            signal_group(self.pid, number)
            await asyncio.sleep(grace)


async def start_process(words: Sequence[str], arguments: Sequence[str], held: Path) -> Running:
    """Start a command of Argus. held: a file whose lock is held as long as the process lives.

    The process writes its number there itself: a service that is killed as soon as it has started
    it has no time to.
    """
    lock = take_lock(held, busy=f"{held}: this job runs already.")
    with lock:
        lock.truncate(0)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, str(lock.fileno()), *words, *arguments,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, start_new_session=True,
            pass_fds=(lock.fileno(),), env={**os.environ, VARIABLE: LINES},
        )  # fmt: skip
    return Running(process)


def end_leftover(held: Path, pid: int | None) -> None:
    """End the process of a job that outlived the service which started it, if it still lives.

    The lock of `held` tells: a process of the same number that is another one does not hold it.
    pid: what the service noted; None where it was killed before, and the file alone has it.
    """
    if not held.exists():
        return
    until = time.monotonic() + BEGINS_S
    while (pid := _written(held) or pid) is None:
        if not is_held(held) or time.monotonic() > until:
            return
        time.sleep(0.02)
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
        if not is_held(held):
            return
        signal_group(pid, number)
        until = time.monotonic() + 2
        while time.monotonic() < until and is_held(held):
            time.sleep(0.02)


def _written(held: Path) -> int | None:
    try:
        return whole_number(held.read_text(encoding="ascii", errors="replace"))
    except OSError:  # no file, where a lock was
        return None


def is_held(held: Path) -> bool:
    """Return whether a process of a job lives."""
    try:
        take_lock(held, busy="").close()
    except ArgusError:
        return True
    except OSError:  # a folder, which nobody holds
        return False
    return False


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if there is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


class Tail:
    """The end of a stream, as text."""

    def __init__(self) -> None:
        self._bytes = b""

    def add(self, block: bytes) -> None:
        """Take what comes next."""
        self._bytes = (self._bytes + block)[-KEPT:]

    @property
    def text(self) -> str:
        """What is kept, decoded."""
        return self._bytes.decode("utf-8", "replace")


class StepClock:
    """Tells from the pace of a step when it will end."""

    def __init__(self) -> None:
        self._name, self._since, self._first = "", 0.0, 0

    def progress(self, step: Step) -> JobProgress:
        """Return where a step stands, with the seconds to its end where that is known."""
        now = time.monotonic()
        if step["step"] != self._name or step["done"] < self._first:
            self._name, self._since, self._first = step["step"], now, step["done"]
        made, total, eta = step["done"] - self._first, step["total"], None
        if total is not None and made > 0:
            eta = round((now - self._since) / made * max(total - step["done"], 0), 1)
        return {"step": step["step"][:200], "done": step["done"], "total": total, "eta_s": eta}


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield lines of a stream, a longer one than LONGEST_LINE in pieces."""
    rest = b""
    while block := await stream.read(BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace") + "\n"
        if len(rest) > LONGEST_LINE:
            yield rest.decode("utf-8", "replace")
            rest = b""
    if rest:
        yield rest.decode("utf-8", "replace")
