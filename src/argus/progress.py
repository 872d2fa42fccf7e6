"""One progress bar for all long work: with ETA on a terminal, silent in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


def announce(step: str) -> None:
    """Say what begins, on a terminal; a pipe and a Python caller hear nothing."""
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
