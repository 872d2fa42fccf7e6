"""Which benchmark of CAR a cell measures: the released file where it lies, else another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from argus.authority.benchmarks.source import MAKERS, make_benchmark
from argus.authority.benchmarks.types import Benchmark
from argus.suite.recipes.requests import AuthorityRequest, BenchmarkRequest
from argus.suite.recipes.setting import path_lacking
from argus.tasks.opening import READERS
from argus.tasks.released import benchmark_of
from argus.tasks.spec import TaskSpec, parse_task_spec

QUERIES, DISTRACTORS = "queries", "distractors"
"""Files that may be named beside a released one. The released scorers draw the distractors, and no
file of them was released: they may be absent."""


def benchmark_lacking(request: BenchmarkRequest) -> str:
    """Return what a benchmark needs that is not here; empty where one can be measured."""
    if _released(request) or request.benchmark in MAKERS:
        return ""
    return path_lacking(Path(request.benchmark))


def open_benchmark_of(request: BenchmarkRequest) -> tuple[Benchmark | str, str | None]:
    """Return what is measured, as jobs take it, with another file of its questions or None.

    Raises InputError where a released file cannot be read.
    """
    released = _released(request)
    if released is not None:
        return benchmark_of(str(released)), None
    name, queries = request.benchmark, getattr(request, "queries", None)
    if name in MAKERS and isinstance(request, AuthorityRequest):
        return make_benchmark(name, 0, request.contaminated, request.hint), queries or None
    return name, queries or None


def which_measured(requests: Iterable[BenchmarkRequest]) -> Iterator[str]:
    """Yield for each released file that requests name whether it is measured, or what else is."""
    for request in {(r.released, r.benchmark): r for r in requests if r.released}.values():
        released, other = _released(request), request.benchmark
        absent = next(filter(None, map(path_lacking, _files(_spec(request)))), "")
        if released is not None:
            without = f" without {DISTRACTORS} ({absent})" if absent else ""
            yield f"Measured is the released {released.place}{without}."
        elif not benchmark_lacking(request):
            made = " as made here" if other in MAKERS else ""
            yield f"Measured is {other}{made} ({absent})."


def _spec(request: BenchmarkRequest) -> TaskSpec:
    return parse_task_spec(request.released, READERS)


def _files(spec: TaskSpec) -> list[Path]:
    named = (spec.settings.get(key) for key in (QUERIES, DISTRACTORS))
    return [spec.place, *map(Path, filter(None, named))]


def _released(request: BenchmarkRequest) -> TaskSpec | None:
    """Return the released file with what is named beside it, where that is to be measured.

    Where nothing but the distractors is absent, it is measured without them, unless `benchmark` is
    a folder that is here.
    """
    if not request.released:
        return None
    spec = _spec(request)
    if all(file.is_file() for file in _files(spec)):
        return spec
    own = {key: value for key, value in spec.settings.items() if key != DISTRACTORS}
    bare = replace(spec, settings=own)
    enough = all(file.is_file() for file in _files(bare))
    return bare if enough and not Path(request.benchmark).is_dir() else None
