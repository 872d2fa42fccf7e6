"""The runs of some folders: what changed between the last two of each job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.errors import InputError
from argus.evaluation.history.compare import compare_runs
from argus.evaluation.history.summary import HistorySummary, RunChange, RunLine
from argus.jobs.result import Result
from argus.runs import JobRun, runs_in
from argus.runs.folder import damaged_in
from argus.runs.run import RUN


@dataclass(frozen=True, repr=False)
class HistoryResult(Result):
    """What changed from run to run."""

    summary: HistorySummary

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        for run in self.summary["runs"]:
            means = ", ".join(f"{name} {value:.4f}" for name, value in run["means"].items())
            clock = " (the clock ran back)" if run["clock_ran_back"] else ""
            yield f"{run['number']:>4}  {run['finished'][:16]}  {run['job']}: {means}{clock}"
        for place in self.summary["damaged"]:
            yield f"WARNING: {place} cannot be read and is left out"
        for change in self.summary["changes"]:
            yield from _lines(change)
        if not self.summary["changes"]:
            yield "no job has two runs that can be compared yet: run one again with the same --out"


def history(
    folders: Sequence[Path | str],
    *,
    job: str | None = None,
    before: int | None = None,
    after: int | None = None,
) -> HistoryResult:
    """Return the runs of folders of results, and what changed between two of each job.

    folders: of results, or of runs (their `history`). Runs of several are one list, by folder and
    number. job: this alone. before, after: the numbers of the runs that are compared, of the first
    folder that has them; default: the last two. Raises
    InputError for a folder without a run, and for numbers that are no runs of one job.
    """
    runs = [run for folder in folders for run in _runs(Path(folder))]
    runs = [run for run in runs if job is None or run.job == job]
    if not runs:
        raise InputError(
            f"no run of {job}" if job else "no folder",
            expected="a job with runs", fix="Leave out --job to see all.", where="argus history",
        )  # fmt: skip
    pairs = [(_numbered(runs, before), _numbered(runs, after))] if before or after else _last(runs)
    changes = [compare_runs(*pair) for pair in pairs]
    damaged = [str(place) for folder in folders for place in damaged_in(Path(folder))]
    summary: HistorySummary = {"runs": run_lines(runs), "changes": changes, "damaged": damaged}
    return HistoryResult(summary)


def _runs(folder: Path) -> list[JobRun]:
    runs = runs_in(folder)
    if not runs and (damaged := damaged_in(folder)):
        raise InputError(
            f"none of its {len(damaged):,} runs can be read: {_listed(damaged)}",
            expected=f"a {RUN} as Argus recorded it in one of them at least",
            fix="Put them back from a copy, or remove them; then argus report on the folder of "
            "results records what lies there.",
            where=folder,
        )
    if not runs:
        raise InputError(
            "no run in it" if folder.is_dir() else "no such folder",
            expected="a folder of results that was written since runs are recorded",
            fix="Run the job again with the same --out, or argus report on the folder: it records "
            "what lies there.",
            where=folder,
        )
    return runs


def _listed(places: Sequence[Path]) -> str:
    return ", ".join(place.name for place in places[:5]) + (" ..." if len(places) > 5 else "")


def _numbered(runs: Sequence[JobRun], number: int | None) -> JobRun:
    for run in runs:
        if run.record["number"] == number:
            return run
    raise InputError(
        f"no run {number}",
        expected=f"one of {', '.join(str(run.record['number']) for run in runs)}",
        fix="Give --before and --after together, two runs of one job.",
        where="--before, --after",
    )


def _last(runs: Sequence[JobRun]) -> Iterator[tuple[JobRun, JobRun]]:
    """Yield the last two runs of each job that can be compared."""
    by_job: dict[str, list[JobRun]] = {}
    for run in runs:
        by_job.setdefault(run.job, []).append(run)
    for of_job in by_job.values():
        if len(of_job) > 1 and _have_common(of_job[-2], of_job[-1]):
            yield of_job[-2], of_job[-1]


def _have_common(before: JobRun, after: JobRun) -> bool:
    return any(
        set(values) & set(after.items.get(name, ())) for name, values in before.items.items()
    )


def run_lines(runs: Sequence[JobRun]) -> list[RunLine]:
    """Return what the list of runs tells of each, in their order."""
    return [_line(run, runs[i - 1] if i else None) for i, run in enumerate(runs)]


def _line(run: JobRun, last: JobRun | None) -> RunLine:
    record = run.record
    return {
        "number": record["number"],
        "job": run.job,
        "place": str(run.place),
        "finished": record["finished"],
        "argus": record["argus"],
        "means": record["means"],
        "clock_ran_back": last is not None and record["finished"] < last.record["finished"],
    }


def _lines(change: RunChange) -> Iterator[str]:
    """Yield what changed between two runs, and who changed most."""
    yield f"{change['job']}, run {change['before']} to run {change['after']}:"
    if change["settings"]:
        yield f"  not the same figures: {', '.join(change['settings'])}"
    if not change["same_corpus"]:
        yield f"  another corpus: told of the {change['unit']} that both have"
    for figure in change["figures"]:
        test = figure["test"]
        if test is None:
            continue
        interval = f"no interval: {test['no_interval']}"
        if test["low"] is not None:
            interval = f"95% {test['low']:+.4f} to {test['high']:+.4f}, p={test['p_value']:.3g}"
        yield (
            f"  {figure['figure']}: {test['mean_before']:.4f} -> {test['mean_after']:.4f} "
            f"({test['mean_difference']:+.4f}, {interval}) over {figure['common']:,} "
            f"{change['unit']}: {figure['verdict'] or 'chance may do it'}; {test['improved']:,} "
            f"better, {test['harmed']:,} worse"
        )
        for item in figure["worse"][:3]:
            yield f"    {item['id']}: {item['before']:.3f} -> {item['after']:.3f}"
