"""The queue of jobs: one writer per folder, so many at once, none lost when the service ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from argus.data.locks import take_lock
from argus.errors import ArgusError, InputError
from argus.service.jobs.declared import Commands
from argus.service.jobs.lines import NAME, as_request
from argus.service.jobs.planning import Planned, plan_job
from argus.service.jobs.process import Ended, Running, end_leftover, is_held, start_process
from argus.service.jobs.replanning import plan_again
from argus.service.jobs.summary import (
    AT_AN_END,
    RESUMABLE,
    JobEvent,
    JobList,
    JobProgress,
    JobRecord,
    JobRequest,
    JobState,
)
from argus.service.jobs.table import JobLine, JobTable
from argus.service.workplace import Workplace

MOST_WAITING = 200
"""Jobs that may wait at once."""
EVERY_S = 1.0
"""Seconds between two steps of one job that are kept."""
AGAIN_S = 1.0
"""Seconds until what could not be written is tried again."""
BROUGHT = (
    "Not started: its folder was brought from elsewhere, or the table of jobs is of an earlier "
    "version. Resume it if you want it here.\n"
)
"""What is told of a job that waited in another folder."""
WELL: dict[tuple[str, ...], tuple[int, ...]] = {("gate",): (0, 1), ("history",): (0, 1)}
"""Exit codes of commands that end well with others than 0: a check that failed is an answer."""


class Jobs:
    """The jobs of one service; all of it runs in the event loop of that.

    at_once: jobs that run at the same time. Where the first folder cannot be written, whatever is
    asked of jobs raises an ArgusError that says so; the service runs without.
    """

    def __init__(self, workplace: Workplace, commands: Commands, at_once: int) -> None:
        self.workplace, self.commands, self.at_once = workplace, commands, at_once
        self.home = workplace.state
        self._lock: IO[str] | None = None
        self._table: JobTable | None = None
        self._processes: dict[int, Running] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._planned: dict[int, Planned] = {}
        """What this service would run of jobs that wait or run: never what the table says alone."""
        self._held_here: set[str] = set()
        self._unwanted: set[int] = set()
        self._changed = asyncio.Event()
        self._closing = False
        self._why = "the jobs are not open; start the service first."

    def _take(self) -> bool:
        """Take the folder; False where it cannot be written, ArgusError where another has it."""
        busy = (
            f"{self.home} is used by another argus serve; two of them on one folder would start "
            "each job twice. Use that one, or serve other folders."
        )
        try:
            self.home.mkdir(exist_ok=True)
            self._lock = take_lock(self.home / "jobs.lock", busy=busy)
        except OSError as error:
            self._why = (
                f"{self.home}: jobs cannot be kept there ({error.strerror or error}). Serve a "
                "folder that can be written first."
            )
            return False
        return True

    def _open(self) -> None:
        """Read the table, note as interrupted what ran when the last service ended, and go on.

        In a folder that was brought from elsewhere what waits is interrupted, too: nobody here
        asked for it. A table of an earlier version does not say where it lay. Raises
        ArgusError for a table that is damaged.
        """
        self._table = JobTable(self.home)
        for id_, pid in self._table.running().items():
            end_leftover(self._held(id_), pid)
            self._table.end(id_, JobState.INTERRUPTED, None)
        if not self._table.settle():
            for job in self._table.queued():
                self._table.end(job.id, JobState.INTERRUPTED, None, "", BROUGHT)
        for held in self.home.glob("job-*.lock"):  # of jobs that ended just before the service
            if held.is_file() and not is_held(held):
                held.unlink(missing_ok=True)
        self._schedule()

    def start(self) -> None:
        """Take the folder and begin to run what waits; ArgusError where another service has it."""
        if not self._take():
            return
        try:
            self._open()
        except ArgusError as error:  # searches go on without jobs
            if self._table is not None:
                self._table.close()
            self._table, self._why = None, str(error)

    async def close(self) -> None:
        """Stop what runs, which can be resumed, and let go of the folder."""
        self._closing = True
        for process in self._processes.values():
            process.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=30)
        if self._table is not None:
            self._table.close()
        if self._lock is not None:
            self._lock.close()
        self._wake()

    @property
    def table(self) -> JobTable:
        """The table; ArgusError where there is none."""
        if self._table is None:
            raise ArgusError(self._why)
        return self._table

    def add(self, request: JobRequest) -> JobRecord:
        """Queue a command; InputError for one that may not be started, or where too many wait."""
        if request.command.startswith(f"{NAME} "):
            typed = as_request(request.command, self.commands)
            request = JobRequest(
                command=typed.command, options={**typed.options, **request.options}
            )
        planned = plan_job(request, self.workplace, self.commands, self.table.wrote())
        if len(self.table.queued()) >= MOST_WAITING:
            raise InputError(
                f"{MOST_WAITING} jobs wait already", expected="fewer",
                fix="Wait for some of them, or cancel some.", where="jobs",
            )  # fmt: skip
        id_ = self.table.add(planned)
        self._planned[id_] = planned
        self._schedule()
        return self.job(id_)

    def job(self, id_: int) -> JobRecord:
        """Return a job; InputError for an id that there is not."""
        if (job := self.table.job(id_)) is None:
            raise InputError(
                f"job {id_}", expected="the id of a job", fix="See the list of jobs.", where="id"
            )
        return job

    def latest(self, most: int, before: int | None = None) -> JobList:
        """Return jobs, the latest first; those that ended long ago are forgotten."""
        with suppress(ArgusError):  # a full disk is no reason to list none
            self.table.forget()
        jobs = self.table.latest(most, before)
        return {"jobs": jobs, "before": jobs[-1]["id"] if len(jobs) == most else None}

    def cancel(self, id_: int) -> JobRecord:
        """Cancel a job that waits or runs; one that has ended stays as it is."""
        if self.job(id_)["state"] == JobState.QUEUED:
            self.table.end(id_, JobState.CANCELLED, None)
            if id_ not in self._tasks:
                self._planned.pop(id_, None)
            self._wake()
        elif id_ in self._tasks:
            self._unwanted.add(id_)
            if id_ in self._processes:
                self._processes[id_].cancel()
        return self.job(id_)

    def resume(self, id_: int) -> JobRecord:
        """Queue the same command again, which goes on from what it left.

        Raises InputError where it did not end, and where this service would not start it.
        """
        state = self.job(id_)["state"]
        if state not in RESUMABLE:
            raise InputError(
                f"job {id_} is {state}", expected=f"one that is {', '.join(RESUMABLE)}",
                fix="Start it anew, or wait for it.", where="id",
            )  # fmt: skip
        job = self.table.line_of(id_)
        assert job is not None  # it was there just now
        planned = self._again(job)
        self.table.again(id_)
        self._planned[id_] = planned
        self._schedule()
        return self.job(id_)

    @asynccontextmanager
    async def writing(self, folder: Path) -> AsyncIterator[None]:
        """Hold a folder as a job does: those that write it end first, others wait meanwhile."""
        path = str(folder.resolve())
        self._held_here.add(path)
        try:
            while path in self._written:
                await self.changed(AGAIN_S)
            yield
        finally:
            self._held_here.discard(path)
            if self._table is not None and not self._closing:
                self._schedule_soon()

    def events(self, id_: int, after: int, most: int) -> list[JobEvent]:
        """Return what happened to a job after an event."""
        return self.table.events(id_, after, most)

    def has_ended(self, id_: int) -> bool:
        """Return whether nothing more will happen to a job, unless it is resumed."""
        return self._closing or self.job(id_)["state"] in AT_AN_END

    async def changed(self, timeout_s: float) -> bool:
        """Wait until something happens to any job; return False where the time was over first."""
        try:
            async with asyncio.timeout(max(timeout_s, 0)):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _wake(self) -> None:
        """Let all who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _held(self, id_: int) -> Path:
        return self.home / f"job-{id_}.lock"

    @property
    def _written(self) -> set[str]:
        """What the jobs that run write."""
        return {str(path) for id_ in self._tasks for path in self._planned[id_].writes}

    def _schedule(self) -> None:
        """Start the jobs that can run now, the first ones first."""
        busy = self._held_here | self._written
        for job in [] if self._closing else self.table.queued():
            if job.id in self._tasks:  # resumed before its last attempt was put away
                continue
            if (planned := self._plan(job)) is None:
                continue
            writes = set(map(str, planned.writes))
            if len(self._tasks) < self.at_once and not busy & writes:
                task = asyncio.create_task(self._run(job, planned))
                self._tasks[job.id] = task
                task.add_done_callback(partial(self._ended, job.id))
            busy |= writes  # who waits for a folder waits in the order of the queue
        self._wake()

    def _plan(self, job: JobLine) -> Planned | None:
        """Return what is run of a job that waits; None for one that this service does not start."""
        if job.id not in self._planned:
            try:
                self._planned[job.id] = self._again(job)
            except InputError as error:
                self.table.end(job.id, JobState.FAILED, None, "", f"Not started: {error}\n")
                return None
        return self._planned[job.id]

    def _again(self, job: JobLine) -> Planned:
        return plan_again(
            job.words, job.arguments, self.workplace, self.commands, self.table.wrote()
        )

    def _ended(self, id_: int, task: asyncio.Task[None]) -> None:
        for of_jobs in (self._tasks, self._planned, self._processes):
            of_jobs.pop(id_, None)
        self._unwanted.discard(id_)
        if not self._closing:
            self._schedule_soon()

    def _schedule_soon(self) -> None:
        try:
            self._schedule()
        except ArgusError:  # the table cannot be read now
            asyncio.get_running_loop().call_later(AGAIN_S, self._schedule_soon)

    async def _run(self, job: JobLine, planned: Planned) -> None:
        """Run a job to its end, and note how it ended."""
        try:
            self.table.begin(job.id)
        except ArgusError:  # it stays in the queue
            await asyncio.sleep(AGAIN_S)
            return
        self._wake()
        try:
            again = tuple(a for a in planned.arguments if a != "--fresh" or job.attempt == 1)
            running = await start_process(planned.words, again, self._held(job.id))
        except (OSError, ArgusError) as error:
            why = f"{error}\n"
            await self._insist(lambda: self.table.end(job.id, JobState.FAILED, None, "", why))
            return
        self._processes[job.id] = running
        if job.id in self._unwanted or self._closing:
            running.cancel()
        ended, _ = await asyncio.gather(
            running.watch(self._notes(job.id)),
            self._insist(lambda: self.table.runs_as(job.id, running.pid)),
        )
        state = self._state(job, running, ended)
        await self._insist(
            lambda: self.table.end(job.id, state, ended.code, ended.output, ended.errors)
        )
        self._held(job.id).unlink(missing_ok=True)

    def _state(self, job: JobLine, running: Running, ended: Ended) -> JobState:
        if ended.code in WELL.get(job.words, (0,)):
            return JobState.DONE
        if running.cancelled:
            return JobState.INTERRUPTED if self._closing else JobState.CANCELLED
        return JobState.FAILED

    def _notes(self, id_: int) -> Callable[[JobProgress], None]:
        """Return what keeps the progress of a job: the first of each step, then now and then."""
        last, step = 0.0, ""

        def heard(progress: JobProgress) -> None:
            nonlocal last, step
            now, ends = time.monotonic(), progress["done"] == progress["total"]
            if progress["step"] == step and now - last < EVERY_S and not ends:
                return
            last, step = now, progress["step"]
            with suppress(ArgusError):  # a full disk is no reason to end the job
                self.table.step(id_, progress)
                self._wake()

        return heard

    async def _insist(self, change: Callable[[], None]) -> None:
        """Make a change of the table, again and again until it can be made."""
        while True:
            try:
                change()
            except ArgusError:
                if self._closing:
                    return
                await asyncio.sleep(AGAIN_S)
            else:
                self._wake()
                return
