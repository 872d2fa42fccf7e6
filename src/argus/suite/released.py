"""Choose the benchmark of CAR to measure: the released file if it is here, else another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.source import MAKERS, make_benchmark
from argus.suite.recipes import AuthorityRequest, BenchmarkRequest
from argus.tasks.opening import READERS
from argus.tasks.released import benchmark_of
from argus.tasks.spec import TaskSpec, parse_task_spec

QUERIES, DISTRACTORS = "queries", "distractors"
"""Files beside a released benchmark. The released scorers draw the distractors, and no file of them
was released: they may be absent."""


def path_lacking(path: Path) -> str:
    """Return the outermost folder or file of a path that is not here, or an empty text."""
    parts = (*reversed(path.parents), path)
    absent = next((part for part in parts if not part.exists()), None)
    return "" if absent is None else f"{absent} is not here"


def benchmark_lacking(request: BenchmarkRequest) -> str:
    """Return the missing inputs of a benchmark, or an empty text if it can be measured."""
    if _released(request) or request.benchmark in MAKERS:
        return ""
    return path_lacking(Path(request.benchmark))


def open_benchmark_of(request: BenchmarkRequest) -> tuple[Benchmark | str, str | None]:
    """Return the benchmark to measure, as jobs take it, and another file of its questions or None.

    Raises InputError if a released file cannot be read.
    """
    released = _released(request)
    if released is not None:
        return benchmark_of(str(released)), None
    name, queries = request.benchmark, getattr(request, "queries", None)
    if name in MAKERS and isinstance(request, AuthorityRequest):
        return make_benchmark(name, 0, request.contaminated, request.hint), queries or None
    return name, queries or None


def which_measured(requests: Iterable[BenchmarkRequest]) -> Iterator[str]:
    """Yield a note for each released file in requests: it is measured, or another source is."""
    for request in {(r.released, r.benchmark): r for r in requests if r.released}.values():
        released, other = _released(request), request.benchmark
        spec = parse_task_spec(request.released, READERS)
        absent = next(filter(None, map(path_lacking, _files(spec))), "")
        if released is not None:
            without = f" without {DISTRACTORS} ({absent})" if absent else ""
            yield f"Measured is the released {released.place}{without}."
        elif not benchmark_lacking(request):
            made = " as made here" if other in MAKERS else ""
            yield f"Measured is {other}{made} ({absent})."


def _files(spec: TaskSpec) -> list[Path]:
    named = (spec.settings.get(key) for key in (QUERIES, DISTRACTORS))
    return [spec.place, *map(Path, filter(None, named))]


def _released(request: BenchmarkRequest) -> TaskSpec | None:
    """Return the released file to measure, with the files beside it, or None to use another.

    If only the distractors are absent, it is measured without them, unless `benchmark` is a folder
    that is here.
    """
    if not request.released:
        return None
    spec = parse_task_spec(request.released, READERS)
    if all(file.is_file() for file in _files(spec)):
        return spec
    own = {key: value for key, value in spec.settings.items() if key != DISTRACTORS}
    bare = replace(spec, settings=own)
    enough = all(file.is_file() for file in _files(bare))
    return bare if enough and not Path(request.benchmark).is_dir() else None
