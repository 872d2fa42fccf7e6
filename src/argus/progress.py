"""Show the progress of long work: a bar with ETA on a terminal, a line now and then in a log.

`with progress(...) as advance` is all that a job calls. A log is the standard error of a command
that is no terminal. A Python caller sees nothing there. With `ARGUS_PROGRESS=lines` each step is a
line of JSON, which `argus serve` reads from its jobs (`read_step`). With `quiet` there is none.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from typing_extensions import TypedDict

Advance = Callable[[int], None]
VARIABLE, LINES, QUIET = "ARGUS_PROGRESS", "lines", "quiet"
"""Environment variable that says how progress is written: as lines of JSON, not at all in logs."""
# Seconds between two lines of JSON of one step. Its first and its last are always written.
OFTEN_S = 0.2
LOG_FIRST_S, LOG_OFTEN_S = 10.0, 30.0
"""Seconds until a step is worth a line in a log, and from there to the next."""
# True in the process of a command, whose standard error may be a log.
_log = False


class Step(TypedDict):
    """One line: a step, and its progress. total: None where it is not known."""

    step: str
    done: int
    total: int | None


def write_into_logs() -> None:
    """Have slow steps of this process say how far they are where stderr is no terminal."""
    global _log
    _log = True


def announce(step: str) -> None:
    """Announce a step on a terminal. A pipe and a Python caller hear nothing."""
    if _as_lines():
        _write({"step": step, "done": 0, "total": None})
        return
    remark(f"{step} ...")


def remark(text: str) -> None:
    """Say something on a terminal. A pipe and a Python caller hear nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        console.print(text, style="dim", highlight=False, markup=False)


@contextmanager
def progress(description: str, total: int | None, *, done: int = 0) -> Iterator[Advance]:
    """Yield `advance(n)`. Draw on stderr where that is a terminal, or write lines into a log.

    total: None where it is not known.
    """
    if _as_lines():
        yield from _lines(description, total, done)
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        if not _log or os.environ.get(VARIABLE) == QUIET:
            yield lambda n: None
            return
        log = _Log(description, total, done)
        yield log.advance
        log.end()
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(description, total=total, completed=done)
        yield lambda n: bar.advance(task, n)


def read_step(line: str) -> Step | None:
    """Return the progress in a line of the standard error. None for any other line."""
    if not line.startswith(_MARK):
        return None
    try:
        record = json.loads(line)[VARIABLE]
        step, done, total = record["step"], record["done"], record["total"]
    except (ValueError, TypeError, KeyError):
        return None
    if not (isinstance(step, str) and isinstance(done, int) and isinstance(total, int | None)):
        return None
    return {"step": step, "done": done, "total": total}


_MARK = f'{{"{VARIABLE}": '


def _as_lines() -> bool:
    return os.environ.get(VARIABLE) == LINES


def _lines(description: str, total: int | None, done: int) -> Iterator[Advance]:
    """Yield a function that writes a line now and then, and one at the end."""
    last = time.monotonic()
    _write({"step": description, "done": done, "total": total})

    def advance(n: int) -> None:
        nonlocal done, last
        done += n
        if (now := time.monotonic()) - last >= OFTEN_S:
            last = now
            _write({"step": description, "done": done, "total": total})

    yield advance
    _write({"step": description, "done": done, "total": total})


class _Log:
    """A step of a command in a log: its progress now and then, and its end where it was slow."""

    def __init__(self, step: str, total: int | None, done: int):
        self._step, self._total, self._before, self._done = step, total, done, done
        self._start, self._due_s = time.monotonic(), LOG_FIRST_S

    def advance(self, n: int) -> None:
        self._done += n
        if (seconds := time.monotonic() - self._start) >= self._due_s:
            self._due_s = seconds + LOG_OFTEN_S
            self._write(self._outlook(seconds))

    def end(self) -> None:
        if self._due_s > LOG_FIRST_S:
            self._write(f"in {passed(time.monotonic() - self._start)}")

    def _outlook(self, seconds: float) -> str:
        here = self._done - self._before
        if self._total is None or here <= 0:
            return f"{passed(seconds)} so far"
        return f"about {passed(seconds * max(self._total - self._done, 0) / here)} left"

    def _write(self, rest: str) -> None:
        whole = "" if self._total is None else f" of {self._total:,}"
        sys.stderr.write(f"argus: {self._step}: {self._done:,}{whole}, {rest}\n")
        sys.stderr.flush()


def duration(seconds: float) -> str:
    """Return a time as people say it, with two figures: 2 min, 1 h 10 min, 3 h."""
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours:,} h {rest} min" if rest and hours < 10 else f"{hours:,} h"


def passed(seconds: float) -> str:
    """Return a time of a step, which may be short."""
    return f"{seconds:.0f} s" if seconds < 90 else duration(seconds)


def _write(step: Step) -> None:
    sys.stderr.write(json.dumps({VARIABLE: step}) + "\n")
    sys.stderr.flush()
