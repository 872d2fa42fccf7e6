"""The benchmark that a scoring is about: made by name, read from a folder, or given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from argus.authority.benchmarks import cvepatchqa, finsuperqa, legalprecedentqa
from argus.authority.benchmarks.collection import CORPUS, QUERIES, Benchmark, read_benchmark
from argus.authority.domains import load_domain
from argus.authority.opening import require_covered
from argus.authority.relation import Authority
from argus.errors import InputError


class Maker(Protocol):
    """Makes a benchmark. The same seed gives the same one, to the byte."""

    def __call__(self, *, seed: int, contaminated: bool = False) -> Benchmark:
        """Return it, disjoint or contaminated."""


class HintedMaker(Protocol):
    """Makes a benchmark whose questions may name their subject."""

    def __call__(self, *, seed: int, contaminated: bool = False, hint: bool = False) -> Benchmark:
        """Return it. hint: the product, or a party's name, is in every question (Table 8)."""


HINTED: dict[str, HintedMaker] = {
    "cvepatchqa": cvepatchqa.make,
    "legalprecedentqa": legalprecedentqa.make,
}
MAKERS: dict[str, Maker] = {
    "finsuperqa": finsuperqa.make,
    **HINTED,
}


@dataclass(frozen=True)
class Source:
    """A benchmark and where it came from."""

    benchmark: Benchmark
    corpus: Path | None = None
    queries: Path | None = None


def open_benchmark(
    benchmark: Benchmark | Path | str,
    queries: Path | str | None = None,
    rules: Path | str | None = None,
    *,
    seed: int = 0,
    contaminated: bool = False,
) -> Source:
    """Return a benchmark by name, folder, or as given.

    queries: another file of questions in the folder. rules: other rules for its pipelines. seed,
    contaminated: of one that is made. Raises InputError for arguments that do not go together.
    """
    source = _source(benchmark, queries, seed, contaminated)
    return source if rules is None else replace(source, benchmark=_under(rules, source.benchmark))


def _source(
    benchmark: Benchmark | Path | str,
    queries: Path | str | None,
    seed: int,
    contaminated: bool,
) -> Source:
    is_name = isinstance(benchmark, str) and benchmark in MAKERS
    if queries is not None and (is_name or isinstance(benchmark, Benchmark)):
        raise InputError(
            f"questions {str(queries)!r} for a benchmark that has its own",
            expected="--queries with a folder",
            fix="Leave it out.",
            where="--queries",
        )
    if isinstance(benchmark, Benchmark):
        return Source(benchmark, benchmark.file)
    if is_name:
        return Source(make_benchmark(str(benchmark), seed, contaminated))
    folder = Path(benchmark)
    if not folder.is_dir():
        raise InputError(
            f"no benchmark or folder {str(benchmark)!r}",
            expected=f"one of {', '.join(MAKERS)}, a folder, or car:FILE for a released file",
            fix="Check the name.",
            where="--benchmark",
        )
    if contaminated:
        raise InputError(
            "contaminated, and read from a folder",
            expected=f"--contaminated with {', '.join(MAKERS)}",
            fix="Leave it out: a folder is what it is.",
            where="--contaminated",
        )
    file = folder / QUERIES if queries is None else _queries_file(folder, Path(queries))
    return Source(read_benchmark(folder, str(file.resolve())), folder / CORPUS, file)


def _under(rules: Path | str, benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with other rules for its pipelines."""
    known = load_domain(rules).rules
    require_covered(Authority(benchmark.records, known))
    return replace(benchmark, rules=known)


def _queries_file(folder: Path, queries: Path) -> Path:
    """Return the file of questions: in the folder, or where its path says."""
    inside = folder / queries
    return queries if queries.is_file() and not inside.is_file() else inside


def make_benchmark(name: str, seed: int, contaminated: bool, hint: bool = False) -> Benchmark:
    """Make a synthetic benchmark by name. Raise InputError for an unknown name or missing hints."""
    if name not in MAKERS:
        raise InputError(
            f"benchmark {name!r}",
            expected=f"one of {', '.join(MAKERS)}",
            fix="Check the name.",
            where="argus authority",
        )
    if not hint:
        return MAKERS[name](seed=seed, contaminated=contaminated)
    if name not in HINTED:
        raise InputError(
            f"hints for {name}",
            expected=f"--hint with {' or '.join(HINTED)}",
            fix="Leave it out: its questions name employee and ticker anyway.",
            where="--hint",
        )
    return HINTED[name](seed=seed, contaminated=contaminated, hint=True)
