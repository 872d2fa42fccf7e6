"""`argus gate --history`: list the recorded runs of a folder, and test the changes between two.

`history`: folders -> the runs of each job, and for each figure the paired difference between two
runs over the same documents and questions. `argus.runs` records the runs. `gate` tests a baseline
by the same `paired`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.algorithms import student_quantile, student_tail
from argus.errors import InputError
from argus.jobs.result import Result
from argus.measures.significance import (
    ALIKE,
    FEWEST_CHANGED,
    LEVEL,
    UNCHANGED,
    PairedDifference,
    difference_words,
    least_bound,
    paired_difference,
)
from argus.runs import TRACKED, JobRun, damaged_in, runs_in

MAX_RESAMPLED = 10_000  # items up to which values are resampled; beyond, Student's t serves
MAX_NAMED = 20  # items of each direction that are named
SEED = 0
# Fields of a run's record that the list of runs shows.
LISTED = ("number", "job", "finished", "argus", "means")


@dataclass(frozen=True, repr=False)
class HistoryResult(Result):
    """Runs in the order of recording, and the last change of each job.

    summary:
        runs: number (from 1), job, place, finished (ISO 8601, UTC), argus and means (of each
            figure).
        changes: one per job, see `compare_runs`.
        damaged: folders of runs that cannot be read.
    """

    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        for run in self.summary["runs"]:
            means = ", ".join(f"{name} {value:.4f}" for name, value in run["means"].items())
            yield f"{run['number']:>4}  {run['finished'][:16]}  {run['job']}: {means}"
        for place in self.summary["damaged"]:
            yield f"WARNING: {place} cannot be read and is left out"
        for change in self.summary["changes"]:
            yield f"{change['job']}, run {change['before']} to run {change['after']}:"
            if change["settings"]:
                yield f"  not the same figures: {', '.join(change['settings'])}"
            if not change["same_corpus"]:
                yield f"  another corpus: told of the {change['unit']} that both have"
            for figure in (figure for figure in change["figures"] if figure["test"]):
                test, items = figure["test"], f"{figure['common']:,} {change['unit']}"
                yield (
                    f"  {figure['figure']}, {items}: {difference_words(test)}"
                    f"; {test['improved']:,} better, {test['harmed']:,} worse"
                )
                for item in figure["worse"][:3]:
                    yield f"    {item['id']}: {item['before']:.3f} -> {item['after']:.3f}"
        if not self.summary["changes"]:
            yield "no job has two runs that can be compared yet: run one again with the same --out"


def history(folders: Sequence[Path | str]) -> HistoryResult:
    """Return the runs of folders of results, and the change between the last two of each job.

    folders: of results, or of runs (their `history`). Runs of several folders make one list, by
    folder and number. Raises InputError for one without a run.
    """
    runs: list[JobRun] = []
    for folder in map(Path, folders):
        found = runs_in(folder)
        if not found:
            got = "no run in it" if folder.is_dir() else "no such folder"
            if damaged := damaged_in(folder):
                got = f"none of its {len(damaged):,} runs can be read"
            expected = "a folder of results that was written since runs are recorded"
            fix = "Run the job again with the same --out, or argus report on the folder: it "
            raise InputError(got, expected=expected, fix=f"{fix}records it.", where=folder)
        runs += found
    jobs = dict.fromkeys(run.job for run in runs)
    last = ([run for run in runs if run.job == name][-2:] for name in jobs)
    pairs = [(two[0], two[1]) for two in last if len(two) > 1 and have_common(*two)]
    summary = {
        "runs": [
            {name: run.record[name] for name in LISTED} | {"place": str(run.place)} for run in runs
        ],
        "changes": [compare_runs(*pair) for pair in pairs],
        "damaged": [str(place) for folder in folders for place in damaged_in(Path(folder))],
    }
    return HistoryResult(summary)


def have_common(before: JobRun, after: JobRun) -> bool:
    """Return whether both runs measured a figure of one item."""
    return any(
        value is not None and after.items.get(name, {}).get(id_) is not None
        for name, values in before.items.items()
        for id_, value in values.items()
    )


@dataclass(frozen=True)
class Pairs:
    """One figure's values on the items of two runs. failed: measured before, and failed after."""

    before: dict[str, float]
    after: dict[str, float]
    failed: tuple[str, ...]
    only_before: int
    only_after: int

    @classmethod
    def of(cls, before: Mapping[str, float | None], after: Mapping[str, float | None]) -> Pairs:
        """Pair the items that both runs measured."""
        first = {id_: v for id_, v in before.items() if v is not None}
        second = {id_: v for id_, v in after.items() if v is not None}
        common = [id_ for id_ in first if id_ in second]
        failed = tuple(id_ for id_ in first if id_ in after and id_ not in second)
        only_before = len(first) - len(common) - len(failed)
        only_after = len(second.keys() - first.keys())
        old, new = ({id_: side[id_] for id_ in common} for side in (first, second))
        return cls(old, new, failed, only_before, only_after)


def differing_settings(before: JobRun, after: JobRun) -> list[str]:
    """Return the settings in which two runs differ, of those that define the figures."""
    first, second = before.record["settings"], after.record["settings"]
    names = (n for n in TRACKED[before.job].settings if first.get(n) != second.get(n))
    return [f"{name} {first.get(name)} → {second.get(name)}" for name in names]


def compare_runs(before: JobRun, after: JobRun) -> dict[str, Any]:
    """Test every figure of two runs of one job.

    Keys:
        job, unit: job of both runs, and kind of an item: document, entity or question.
        before, after: numbers of the runs.
        settings: settings of the figures that differ.
        same_corpus, same_encoder: whether both runs used the same.
        figures: of each figure that both have
            figure: its name.
            common, only_before, only_after: items that both runs, or one alone, measured.
            failed_after: items that were measured before and failed after. They are in no mean.
            test: paired test over the common items. None without any.
            worse, better: id, before and after of items, the most changed first.
            verdict: better, worse, or empty if it may be chance.
    """
    figures = []
    for name in (name for name in before.items if name in after.items):
        pairs = Pairs.of(before.items[name], after.items[name])
        test = paired(pairs.before, pairs.after) if pairs.before else None
        changes = {id_: pairs.after[id_] - value for id_, value in pairs.before.items()}
        moved = sorted((d, id_) for id_, d in changes.items() if abs(d) > UNCHANGED)
        named = [{"id": i, "before": pairs.before[i], "after": pairs.after[i]} for _, i in moved]
        n_worse = sum(change < 0 for change, _ in moved)
        figures.append(
            {
                "figure": name,
                "common": len(pairs.before),
                "only_before": pairs.only_before,
                "only_after": pairs.only_after,
                "failed_after": len(pairs.failed),
                "test": None if test is None else test.figures(),
                "worse": named[:n_worse][:MAX_NAMED],
                "better": named[n_worse:][::-1][:MAX_NAMED],
                "verdict": "" if test is None else test.verdict,
            }
        )
    return {
        "job": before.job,
        "unit": TRACKED[before.job].unit,
        "before": before.record["number"],
        "after": after.record["number"],
        "settings": differing_settings(before, after),
        "same_corpus": before.record["corpus"] == after.record["corpus"],
        "same_encoder": before.record["encoder"] == after.record["encoder"],
        "figures": figures,
    }


def paired(before: Mapping[str, float], after: Mapping[str, float]) -> PairedDifference:
    """Return the paired difference, by resampling or, of many items, by Student's t."""
    if len(before) <= MAX_RESAMPLED:
        return paired_difference(before, after, seed=SEED)
    ids = sorted(before)
    first, second = (np.array([side[id_] for id_ in ids]) for side in (before, after))
    difference = second - first
    difference[np.abs(difference) <= UNCHANGED] = 0.0
    n, changed = len(difference), int((difference != 0).sum())
    mean, error = float(difference.mean()), float(difference.std(ddof=1)) / math.sqrt(n)
    enough = changed >= FEWEST_CHANGED
    sure = enough and float(np.ptp(difference)) > UNCHANGED
    reach = student_quantile(LEVEL, n - 1) * error
    p_value = student_tail(mean / error, n - 1) if sure else least_bound(difference)
    return PairedDifference(
        queries=n,
        mean_before=float(first.mean()),
        mean_after=float(second.mean()),
        mean_difference=mean,
        low=mean - reach if sure else None,
        high=mean + reach if sure else None,
        p_value=p_value if enough else 1.0,
        exact=False,
        no_interval="" if sure else ALIKE if enough else f"only {changed} of {n} changed",
        improved=int((difference > 0).sum()),
        harmed=int((difference < 0).sum()),
        unchanged=n - changed,
    )
