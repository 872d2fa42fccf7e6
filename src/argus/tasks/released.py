"""A benchmark as a command names it, released files of CAR included."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argus.authority.benchmarks.collection import Benchmark

CAR = "car:"


def benchmark_of(name: str) -> Benchmark | str:
    """Return a released file, by `car:FILE,setting=value` or its path, or another name as it is.

    Raises InputError as `argus.tasks.open_task` does.
    """
    if not name.startswith(CAR) and not Path(name).is_file():
        return name
    from argus.tasks.opening import open_task

    benchmark = open_task(CAR + name.removeprefix(CAR)).benchmark
    assert benchmark is not None
    return benchmark
