"""Run the jobs of `argus serve` as processes: a few at once, one writer per folder and its inside.

Command lines (`argus.service.jobs.planning`) -> processes with progress, output and exit code,
which are kept in `argus.service.jobs.table`. No job is lost when the service ends: an interrupted
one can be resumed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from argus.data.writing import take_lock
from argus.errors import ArgusError, InputError
from argus.progress import LINES, VARIABLE, Step, read_step
from argus.service.jobs.planning import NAME, Commands, JobRequest, Planned, as_request, plan_job
from argus.service.jobs.table import AT_AN_END, RESUMABLE, JobRecord, JobState, JobTable, Progress
from argus.service.workplace import Workplace

MAX_WAITING = 200  # jobs
STEP_EVERY_S = 1.0  # between two steps of one job that are shown
# Exit codes of commands that succeed with others than 0: a check that failed is an answer.
SUCCESS_CODES: dict[tuple[str, ...], tuple[int, ...]] = {("gate",): (0, 1)}
KEPT_BYTES = 65_536  # of the end of each stream
MAX_LINE = 1 << 24  # a longer one is dropped
# Signals that stop a job, and the seconds that it has after each.
SIGNALS = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 0.0))
# `python -m argus` in a process group that does not outlive the service.
CHILD = """
import os, runpy, signal, threading
def end_with_the_service():
    os.read(0, 1)  # returns when the service has gone, which holds the other end
    os.killpg(0, signal.SIGTERM)
threading.Thread(target=end_with_the_service, daemon=True).start()
runpy.run_module("argus", run_name="__main__", alter_sys=True)
"""


class Jobs:
    """The jobs of one service. All of it runs in the service's event loop.

    at_once: jobs that run at the same time. If the first folder cannot be written, every method
    raises an ArgusError that says so, and the service runs without jobs.
    """

    def __init__(self, workplace: Workplace, commands: Commands, at_once: int) -> None:
        self.workplace, self.commands, self.at_once = workplace, commands, at_once
        self._lock: ExitStack | None = None
        self._table: JobTable | None = None
        self._waiting: dict[int, Planned] = {}  # in their order
        self._running: dict[int, Planned] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._processes: dict[int, Process] = {}
        self._stopping: set[int] = set()
        self._progress: dict[int, Progress] = {}
        self._changed = asyncio.Event()
        self._closing = False
        self._why = "the jobs are not open; start the service first."

    def start(self) -> None:
        """Take the folder. Raises ArgusError if another service has it.

        Jobs that waited or ran when the last service ended are interrupted, and can be resumed.
        """
        home = self.workplace.state
        try:
            home.mkdir(exist_ok=True)
            self._lock = take_lock(
                home / "jobs.lock",
                busy=f"{home} is used by another argus serve; two of them on one folder would "
                "start each job twice. Use that one, or serve other folders.",
            )
        except OSError as error:
            self._why = (
                f"{home}: jobs cannot be kept there ({error.strerror or error}). Serve a folder "
                "that can be written first."
            )
            return
        try:
            self._table = JobTable(home)
        except ArgusError as error:  # searches go on without jobs
            self._why = str(error)

    async def close(self) -> None:
        """Stop running jobs, which can be resumed, and let go of the folder."""
        self._closing = True
        for id_ in self._running:
            self._stop(id_)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=30)
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
        if len(self._waiting) >= MAX_WAITING:
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
        return {**job, "progress": self._progress.get(id_)}

    def latest(self, limit: int, before: int | None = None) -> list[JobRecord]:
        """Return jobs, the latest first."""
        jobs = self.table.latest(limit, before)
        return [{**job, "progress": self._progress.get(job["id"])} for job in jobs]

    def cancel(self, id_: int) -> JobRecord:
        """Cancel a job that waits or runs. One that has ended stays as it is."""
        self.job(id_)
        if self._waiting.pop(id_, None) is not None:
            self.table.end(id_, JobState.CANCELLED, None)
            self._schedule()
        elif id_ in self._running:
            self._stop(id_)
        return self.job(id_)

    def has_ended(self, id_: int) -> bool:
        """Return whether nothing more will happen to a job, unless it is resumed."""
        return self._closing or self.job(id_)["state"] in AT_AN_END

    async def changed(self, timeout_s: float) -> bool:
        """Wait until something happens to any job. Return False where the time was over first."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _plan(self, request: JobRequest) -> Planned:
        return plan_job(request, self.workplace, self.commands, self.table.wrote())

    def _queue(self, id_: int, planned: Planned) -> JobRecord:
        self._waiting[id_] = planned
        self._schedule()
        return self.job(id_)

    def _wake(self) -> None:
        """Let all who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _schedule(self) -> None:
        """Start the jobs that can run now, the first ones first."""
        busy = {path for planned in self._running.values() for path in planned.writes}

        def is_free(path: Path) -> bool:
            """Return whether nobody writes a folder, one around it, or one within it."""
            return not any(path.is_relative_to(b) or b.is_relative_to(path) for b in busy)

        for id_, planned in [] if self._closing else list(self._waiting.items()):
            if len(self._running) < self.at_once and all(map(is_free, planned.writes)):
                self._running[id_] = self._waiting.pop(id_)
                task = asyncio.create_task(self._run(id_, planned))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            busy.update(planned.writes)  # a folder's jobs wait in the order of the queue
        self._wake()

    async def _run(self, id_: int, planned: Planned) -> None:
        """Run a job to its end, and start those that waited for it."""
        try:
            is_first = self.job(id_)["attempt"] == 1
            self.table.begin(id_)
            arguments = [a for a in planned.arguments if a != "--fresh" or is_first]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", CHILD, *planned.words, *arguments,
                stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, limit=MAX_LINE,
                env={**os.environ, VARIABLE: LINES},
            )  # fmt: skip
            self._processes[id_] = process
            if id_ in self._stopping:  # it was cancelled meanwhile
                self._stop(id_)
            assert process.stdout is not None and process.stderr is not None
            output, errors = await asyncio.gather(
                read_end(process.stdout), read_end(process.stderr, self._follow(id_))
            )
            code = await process.wait()
            state = JobState.DONE
            if code not in SUCCESS_CODES.get(planned.words, (0,)):
                state = JobState.INTERRUPTED if self._closing else JobState.CANCELLED
                state = state if id_ in self._stopping else JobState.FAILED
            self.table.end(id_, state, code, output, errors)
        except OSError as error:
            self.table.end(id_, JobState.FAILED, None, "", f"{error}\n")
        finally:
            for of_jobs in (self._running, self._processes, self._progress):
                of_jobs.pop(id_, None)
            self._stopping.discard(id_)
            self._schedule()

    def _stop(self, id_: int) -> None:
        """Stop a job as Ctrl-C does, then by SIGTERM, then by SIGKILL."""
        self._stopping.add(id_)
        if (process := self._processes.get(id_)) is None:
            return

        async def stop() -> None:
            for number, grace in SIGNALS:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
                with suppress(TimeoutError):
                    async with asyncio.timeout(grace):
                        await process.wait()
                        return

        task = asyncio.create_task(stop())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

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
            self._progress[id_] = {"step": name[:200], "done": done, "total": total, "eta_s": eta}
            self._wake()

        return follow


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
