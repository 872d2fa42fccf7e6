"""Run jobs as processes: one writer per folder, a few at once, none lost when the service ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from argus.data.rows import whole_number
from argus.data.writing import take_lock
from argus.errors import ArgusError, InputError
from argus.progress import LINES, VARIABLE, Step, read_step
from argus.service.jobs.planning import NAME, Commands, JobRequest, Planned, as_request, plan_job
from argus.service.jobs.table import AT_AN_END, RESUMABLE, JobRecord, JobState, JobTable
from argus.service.workplace import Workplace

MAX_WAITING = 200  # jobs
STEP_EVERY_S = 1.0  # between two steps of one job that are kept
AGAIN_S = 1.0  # until a change that could not be written is tried again
BROUGHT = "Not started: its folder was brought from elsewhere. Resume it if you want it here.\n"
SUCCESS_CODES: dict[tuple[str, ...], tuple[int, ...]] = {("gate",): (0, 1)}
"""Exit codes of commands that succeed with others than 0: a check that failed is an answer."""
KEPT_BYTES = 65_536  # of the end of each stream
MAX_LINE = 1 << 24  # a longer one is dropped
GRACE_S = (10.0, 5.0)
"""Seconds that a process has after SIGINT, and after SIGTERM, before the next signal."""
BEGINS_S = 30.0  # until a started process has written its number, at the latest
POLL_S = 0.02
CHILD = """
import contextlib, os, runpy, sys
with contextlib.suppress(OSError):  # a full disk
    os.write(int(sys.argv.pop(1)), b"%d" % os.getpid())
runpy.run_module("argus", run_name="__main__", alter_sys=True)
"""
"""`python -m argus`, once it has written its number into the file that it holds."""


class Jobs:
    """The jobs of one service. All of it runs in the service's event loop.

    at_once: jobs that run at the same time. If the first folder cannot be written, every method
    raises an ArgusError that says so, and the service runs without jobs.
    """

    def __init__(self, workplace: Workplace, commands: Commands, at_once: int) -> None:
        self.workplace, self.commands, self.at_once = workplace, commands, at_once
        self.home = workplace.state
        self._lock: IO[str] | None = None
        self._table: JobTable | None = None
        self._planned: dict[int, Planned] = {}  # of jobs that wait or run
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._processes: dict[int, Process] = {}
        self._unwanted: dict[int, asyncio.Task[None] | None] = {}  # and what stops their processes
        self._changed = asyncio.Event()
        self._closing = False
        self._why = "the jobs are not open; start the service first."

    def start(self) -> None:
        """Take the folder and run the jobs that wait. Raises ArgusError if another service has it.

        Jobs that ran when the last service ended are interrupted. In a folder that was brought from
        elsewhere so are those that wait: nobody here asked for them.
        """
        try:
            self.home.mkdir(exist_ok=True)
            self._lock = take_lock(
                self.home / "jobs.lock",
                busy=f"{self.home} is used by another argus serve; two of them on one folder would "
                "start each job twice. Use that one, or serve other folders.",
            )
        except OSError as error:
            self._why = (
                f"{self.home}: jobs cannot be kept there ({error.strerror or error}). Serve a "
                "folder that can be written first."
            )
            return
        try:
            self._table = JobTable(self.home)
            for id_ in self._table.ids(JobState.RUNNING):
                end_leftover(self._lock_of(id_))
                self._table.end(id_, JobState.INTERRUPTED, None)
            if not self._table.settle():
                for id_ in self._table.ids(JobState.QUEUED):
                    self._table.end(id_, JobState.INTERRUPTED, None, "", BROUGHT)
            for lock in self.home.glob("job-*.lock"):  # of jobs that ended just before the service
                if lock.is_file() and not is_held(lock):
                    lock.unlink(missing_ok=True)
            self._schedule()
        except ArgusError as error:  # searches go on without jobs
            if self._table is not None:
                self._table.close()
            self._table, self._why = None, str(error)

    async def close(self) -> None:
        """Stop running jobs, which can be resumed, and let go of the folder."""
        self._closing = True
        for id_ in self._processes:
            self._stop(id_)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=30)
        for opened in (self._table, self._lock):
            if opened is not None:
                opened.close()
        self._wake()

    @property
    def table(self) -> JobTable:
        """The table. Raises ArgusError where there is none."""
        if self._table is None:
            raise ArgusError(self._why)
        return self._table

    def add(self, request: JobRequest) -> JobRecord:
        """Queue a command. InputError for one that may not be started, or where too many wait."""
        if request.command.startswith(f"{NAME} "):
            typed = as_request(request.command, self.commands)
            options = {**typed.options, **request.options}
            request = JobRequest(command=typed.command, options=options)
        planned = self._plan(request)
        if len(self.table.ids(JobState.QUEUED)) >= MAX_WAITING:
            got, fix = f"{MAX_WAITING} jobs wait already", "Wait for some of them, or cancel some."
            raise InputError(got, expected="fewer", fix=fix, where="jobs")
        return self._queue(self.table.add(request, planned), planned)

    def resume(self, id_: int) -> JobRecord:
        """Queue the same request again, which goes on from where it ended.

        Raises InputError where it did not end, and where this service would not start it.
        """
        state = self.job(id_)["state"]
        if state not in RESUMABLE:
            expected, fix = f"one that is {', '.join(RESUMABLE)}", "Start it anew, or wait for it."
            raise InputError(f"job {id_} is {state}", expected=expected, fix=fix, where="id")
        planned = self._plan(self.table.request_of(id_))
        self.table.again(id_, planned)
        return self._queue(id_, planned)

    def job(self, id_: int) -> JobRecord:
        """Return a job. Raises InputError for an id that there is not."""
        if (job := self.table.job(id_)) is None:
            fix = "See the list of jobs."
            raise InputError(f"job {id_}", expected="the id of a job", fix=fix, where="id")
        return job

    def latest(self, limit: int, before: int | None = None) -> list[JobRecord]:
        """Return jobs, the latest first. Those that ended long ago are forgotten."""
        with suppress(ArgusError):  # a full disk is no reason to list none
            self.table.forget()
        return self.table.latest(limit, before)

    def cancel(self, id_: int) -> JobRecord:
        """Cancel a job that waits or runs. One that has ended stays as it is."""
        if self.job(id_)["state"] == JobState.QUEUED:
            self.table.end(id_, JobState.CANCELLED, None)
            if id_ not in self._tasks:
                self._planned.pop(id_, None)
            self._wake()
        elif id_ in self._tasks:
            self._stop(id_)
        return self.job(id_)

    def has_ended(self, id_: int) -> bool:
        """Return whether nothing more will happen to a job, unless it is resumed."""
        return self._closing or self.job(id_)["state"] in AT_AN_END

    async def changed(self, timeout_s: float) -> bool:
        """Wait until something happens to any job. Return False where the time was over first."""
        try:
            async with asyncio.timeout(max(timeout_s, 0)):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _plan(self, request: JobRequest) -> Planned:
        return plan_job(request, self.workplace, self.commands, self.table.wrote())

    def _queue(self, id_: int, planned: Planned) -> JobRecord:
        self._planned[id_] = planned
        self._schedule()
        return self.job(id_)

    def _wake(self) -> None:
        """Let all who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _lock_of(self, id_: int) -> Path:
        return self.home / f"job-{id_}.lock"

    def _schedule(self) -> None:
        """Start the jobs that can run now, the first ones first."""
        busy = {path for id_ in self._tasks for path in self._planned[id_].writes}
        for id_ in [] if self._closing else self.table.ids(JobState.QUEUED):
            if id_ in self._tasks:  # resumed before its last attempt was put away
                continue
            try:
                planned = self._planned.get(id_) or self._plan(self.table.request_of(id_))
            except InputError as error:
                self.table.end(id_, JobState.FAILED, None, "", f"Not started: {error}\n")
                continue
            self._planned[id_] = planned
            if len(self._tasks) < self.at_once and not busy.intersection(planned.writes):
                self._tasks[id_] = asyncio.create_task(self._run(id_, planned))
            busy.update(planned.writes)  # a folder's jobs wait in the order of the queue
        self._wake()

    async def _run(self, id_: int, planned: Planned) -> None:
        """Run a job to its end, and start those that waited for it."""
        try:
            await self._attempt(id_, planned)
        finally:
            for of_jobs in (self._tasks, self._planned, self._processes, self._unwanted):
                of_jobs.pop(id_, None)
            self._schedule_soon()

    def _schedule_soon(self) -> None:
        try:
            self._schedule()
        except ArgusError:  # the table cannot be read now
            asyncio.get_running_loop().call_later(AGAIN_S, self._schedule_soon)

    async def _attempt(self, id_: int, planned: Planned) -> None:
        try:
            is_first = self.job(id_)["attempt"] == 1
            self.table.begin(id_)
        except ArgusError:  # it stays in the queue
            await asyncio.sleep(AGAIN_S)
            return
        self._wake()
        arguments = [a for a in planned.arguments if a != "--fresh" or is_first]
        try:
            process = await start_process(planned.words, arguments, self._lock_of(id_))
        except (OSError, ArgusError) as error:
            await self._end(id_, JobState.FAILED, None, "", f"{error}\n")
            return
        self._processes[id_] = process
        if id_ in self._unwanted or self._closing:
            self._stop(id_)
        assert process.stdout is not None and process.stderr is not None
        output, errors = await asyncio.gather(
            read_end(process.stdout), read_end(process.stderr, self._follow(id_))
        )
        code = await process.wait()
        state = JobState.DONE if code in SUCCESS_CODES.get(planned.words, (0,)) else JobState.FAILED
        if stopping := self._unwanted.get(id_):
            stopping.cancel()
            if state is JobState.FAILED:
                state = JobState.INTERRUPTED if self._closing else JobState.CANCELLED
        await self._end(id_, state, code, output, errors)
        self._lock_of(id_).unlink(missing_ok=True)

    def _stop(self, id_: int) -> None:
        """Stop a job as Ctrl-C does, then by SIGTERM, then by SIGKILL."""

        async def stop(pid: int) -> None:
            signals = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
            for number, grace in zip(signals, (*GRACE_S, 0.0), strict=True):
                signal_group(pid, number)
                await asyncio.sleep(grace)

        if self._unwanted.setdefault(id_, None) is None and id_ in self._processes:
            self._unwanted[id_] = asyncio.create_task(stop(self._processes[id_].pid))

    def _follow(self, id_: int) -> Callable[[Step], None]:
        """Return a function that keeps the progress of a job: first of each step, then seldom.

        The pace of a step tells when it will end.
        """
        name, since, first, noted = "", 0.0, 0, 0.0

        def follow(step: Step) -> None:
            nonlocal name, since, first, noted
            now, done, total, is_new = time.monotonic(), step["done"], step["total"], False
            if step["step"] != name or done < first:
                is_new = step["step"] != name
                name, since, first = step["step"], now, done
            if not is_new and now - noted < STEP_EVERY_S and done != total:
                return
            noted, eta = now, None
            if total is not None and done > first:
                eta = round((now - since) / (done - first) * max(total - done, 0), 1)
            with suppress(ArgusError):  # a full disk is no reason to end the job
                self.table.step(
                    id_, {"step": name[:200], "done": done, "total": total, "eta_s": eta}
                )
                self._wake()

        return follow

    async def _end(
        self, id_: int, state: JobState, code: int | None, output: str, errors: str
    ) -> None:
        """Note the end of a job, again and again until it can be written."""
        while True:
            try:
                self.table.end(id_, state, code, output, errors)
            except ArgusError:
                if self._closing:
                    return
                await asyncio.sleep(AGAIN_S)
            else:
                self._wake()
                return


async def start_process(words: Sequence[str], arguments: Sequence[str], file: Path) -> Process:
    """Start a command of Argus in a process group of its own, which is signalled as one.

    file: its lock is held as long as the process lives. The process writes its number there itself:
    a service that is killed right after the start has no time to.
    """
    with take_lock(file, busy=f"{file}: this job runs already.") as lock:
        lock.truncate(0)
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, str(lock.fileno()), *words, *arguments,
            stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True, limit=MAX_LINE,
            pass_fds=(lock.fileno(),), env={**os.environ, VARIABLE: LINES},
        )  # fmt: skip


async def read_end(
    stream: asyncio.StreamReader, follow: Callable[[Step], None] | None = None
) -> str:
    """Return the end of a stream. follow: called with each line that tells of progress instead."""
    end = b""
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # longer than MAX_LINE
            continue
        if not line:
            return end.decode("utf-8", "replace")
        if follow and (step := read_step(line.decode("utf-8", "replace"))):
            follow(step)
        else:
            end = (end + line)[-KEPT_BYTES:]


def end_leftover(file: Path) -> None:
    """End the process of a job that outlived the service which started it, if it still lives.

    The lock of `file` tells: another process of the same number does not hold it.
    """
    until, pid = time.monotonic() + BEGINS_S, None
    while pid is None:
        if time.monotonic() > until or not is_held(file):
            return
        with suppress(OSError):
            pid = whole_number(file.read_text(encoding="ascii", errors="replace"))
        time.sleep(POLL_S)
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
        signal_group(pid, number)
        until = time.monotonic() + 2
        while time.monotonic() < until:
            if not is_held(file):
                return
            time.sleep(POLL_S)


def is_held(file: Path) -> bool:
    """Return whether a process of a job lives."""
    if not file.is_file():
        return False
    try:
        take_lock(file, busy="").close()
    except ArgusError:
        return True
    return False


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if there is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
