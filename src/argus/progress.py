"""One progress bar for all long work: with ETA on a terminal, silent in a pipe.

For whoever runs Argus as a process and watches it: with `ARGUS_PROGRESS=lines` in the environment
each step is a line of JSON on the standard error, terminal or not.
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
VARIABLE, LINES = "ARGUS_PROGRESS", "lines"
"""Environment variable that has progress written as lines, and its value for that."""
OFTEN_S = 0.2
"""Seconds between two lines of one step; its first and its last are always written."""


class Step(TypedDict):
    """One line: what is being done, and how far. total: None where it is not known."""

    step: str
    done: int
    total: int | None


def announce(step: str) -> None:
    """Say what begins, on a terminal; a pipe and a Python caller hear nothing."""
    if _as_lines():
        _write({"step": step, "done": 0, "total": None})
        return
    remark(f"{step} ...")


def remark(text: str) -> None:
    """Say something on a terminal; a pipe and a Python caller hear nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        console.print(text, style="dim", highlight=False, markup=False)


@contextmanager
def progress(description: str, total: int | None, *, done: int = 0) -> Iterator[Advance]:
    """Yield `advance(n)`; draws on stderr, and only when stderr is a terminal.

    total: None where it is not known.
    """
    if _as_lines():
        yield from _lines(description, total, done)
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda n: None
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
    """Return what a line of the standard error says of progress; None for any other line."""
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
    """Yield what writes a line now and then, and one at the end."""
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


def _write(step: Step) -> None:
    sys.stderr.write(json.dumps({VARIABLE: step}) + "\n")
    sys.stderr.flush()
