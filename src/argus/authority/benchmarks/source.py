"""Open the benchmark that a scoring is about: made by name, read from a folder, or given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from argus.authority.benchmarks import finsuperqa
from argus.authority.benchmarks.collection import CORPUS, QUERIES, Benchmark, read_benchmark
from argus.authority.benchmarks.synthetic import make_cvepatchqa, make_legalprecedentqa
from argus.authority.domains import load_domain
from argus.authority.opening import require_covered
from argus.authority.relation import Authority
from argus.errors import InputError

# Each makes a benchmark, disjoint or `contaminated`. The same seed gives the same one, to the byte.
MAKERS: dict[str, Callable[..., Benchmark]] = {
    "finsuperqa": finsuperqa.make,
    "cvepatchqa": make_cvepatchqa,
    "legalprecedentqa": make_legalprecedentqa,
}
HINTED = ("cvepatchqa", "legalprecedentqa")  # whose questions may name their subject (`hint`)


def open_benchmark(
    benchmark: Benchmark | Path | str,
    queries: Path | str | None = None,
    rules: Path | str | None = None,
    *,
    seed: int = 0,
    contaminated: bool = False,
) -> tuple[Benchmark, dict[str, Path | None]]:
    """Return a benchmark by name, folder, or as given, and its files of corpus and queries.

    queries: another file of questions in the folder. rules: other rules for its pipelines. seed,
    contaminated: of one that is made. Raises InputError for arguments that do not go together.
    """
    is_name = isinstance(benchmark, str) and benchmark in MAKERS
    files: dict[str, Path | None] = {"corpus": None, "queries": None}
    if queries is not None and (is_name or isinstance(benchmark, Benchmark)):
        got = f"questions {str(queries)!r} for a benchmark that has its own"
        expected = "--queries with a folder"
        raise InputError(got, expected=expected, fix="Leave it out.", where="--queries")
    if isinstance(benchmark, Benchmark):
        made, files["corpus"] = benchmark, benchmark.file
    elif is_name:
        made = make_benchmark(str(benchmark), seed, contaminated)
    else:
        folder = Path(benchmark)
        if not folder.is_dir():
            got = f"no benchmark or folder {str(benchmark)!r}"
            expected = f"one of {', '.join(MAKERS)}, a folder, or car:FILE for a released file"
            raise InputError(got, expected=expected, fix="Check the name.", where="--benchmark")
        if contaminated:
            got, expected = "contaminated, and read from a folder", ", ".join(MAKERS)
            fix, where = "Leave it out: a folder is what it is.", "--contaminated"
            raise InputError(got, expected=f"--contaminated with {expected}", fix=fix, where=where)
        file = folder / (QUERIES if queries is None else queries)
        if queries is not None and Path(queries).is_file() and not file.is_file():
            file = Path(queries)
        made = read_benchmark(folder, str(file.resolve()))
        files = {"corpus": folder / CORPUS, "queries": file}
    if rules is not None:
        known = load_domain(rules).rules
        require_covered(Authority(made.records, known))
        made = replace(made, rules=known)
    return made, files


def make_benchmark(name: str, seed: int, contaminated: bool, hint: bool = False) -> Benchmark:
    """Make a synthetic benchmark by name. Raise InputError for an unknown name or missing hints."""
    if name not in MAKERS:
        got, expected = f"benchmark {name!r}", f"one of {', '.join(MAKERS)}"
        raise InputError(got, expected=expected, fix="Check the name.", where="argus authority")
    if not hint:
        return MAKERS[name](seed=seed, contaminated=contaminated)
    if name not in HINTED:
        expected = f"--hint with {' or '.join(HINTED)}"
        fix = "Leave it out: its questions name employee and ticker anyway."
        raise InputError(f"hints for {name}", expected=expected, fix=fix, where="--hint")
    return MAKERS[name](seed=seed, contaminated=contaminated, hint=True)
