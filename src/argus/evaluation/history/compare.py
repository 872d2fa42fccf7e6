"""Two runs of one job compared, figure by figure and item by item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.errors import InputError
from argus.evaluation.history.summary import FigureChange, ItemChange, RunChange
from argus.measures.significance import (
    ALIKE,
    FEWEST_CHANGED,
    UNCHANGED,
    PairedDifference,
    least_bound,
    paired_difference,
)
from argus.runs import JobRun
from argus.runs.figures import TRACKED

MOST_RESAMPLED = 10_000
"""Items up to which signs are tossed and values resampled; beyond, Student's t serves."""
NAMED = 20
"""Items of each direction that are named."""
SEED = 0


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
        """Pair what both runs hold."""
        first = {id_: v for id_, v in before.items() if v is not None}
        common = [id_ for id_ in first if after.get(id_) is not None]
        failed = tuple(id_ for id_ in first if id_ in after and after[id_] is None)
        second = {id_: value for id_ in common if (value := after[id_]) is not None}
        new = sum(v is not None and first.get(id_) is None for id_, v in after.items())
        lost = len(first) - len(common) - len(failed)
        return cls({id_: first[id_] for id_ in common}, second, failed, lost, new)

    def with_failed(self, before: Mapping[str, float | None]) -> Pairs:
        """Return the same where what failed counts as its worst value, 0."""
        values = {id_: v for id_ in self.failed if (v := before[id_]) is not None}
        zeros = dict.fromkeys(values, 0.0)
        return Pairs(
            self.before | values, self.after | zeros, (), self.only_before, self.only_after
        )


def differing_settings(before: JobRun, after: JobRun) -> list[str]:
    """Return the settings, of those that define the figures, in which two runs differ."""
    first, second = before.record["settings"], after.record["settings"]
    return [
        f"{name} {first.get(name)} → {second.get(name)}"
        for name in TRACKED[before.job].settings
        if first.get(name) != second.get(name)
    ]


def compare_runs(before: JobRun, after: JobRun) -> RunChange:
    """Return what changed between two runs of one job, by a paired test of each figure.

    Raises InputError for runs of different jobs, and where they have no item in common.
    """
    check_comparable(before, after)
    figures = [
        change_of(name, Pairs.of(before.items[name], after.items[name]))
        for name in before.items
        if name in after.items
    ]
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


class NotComparable(InputError):
    """Two runs that have nothing in common."""


def check_comparable(before: JobRun, after: JobRun) -> None:
    """Raise NotComparable for runs of different jobs, and for runs without a common item."""
    if before.job != after.job:
        raise NotComparable(
            f"a run of {before.job} and one of {after.job}",
            expected="two runs of the same job",
            fix="argus history lists the runs of a folder.",
            where=before.place,
        )
    common = [
        name
        for name in before.items
        if name in after.items
        and any(
            after.items[name].get(i) is not None
            for i, v in before.items[name].items()
            if v is not None
        )
    ]
    if not common:
        raise NotComparable(
            f"no {TRACKED[before.job].unit} in common with {after.place}",
            expected="two runs over the same documents or questions",
            fix="Take the baseline from a run of the same corpus.",
            where=before.place,
        )


def change_of(name: str, pairs: Pairs) -> FigureChange:
    """Return what became of a figure; without common items there are no means."""
    tested = paired(pairs.before, pairs.after) if pairs.before else None
    changes = {id_: pairs.after[id_] - v for id_, v in pairs.before.items()}
    moved = sorted(
        (i for i, d in changes.items() if abs(d) > UNCHANGED), key=lambda i: (changes[i], i)
    )

    def named(ids: list[str]) -> list[ItemChange]:
        return [{"id": i, "before": pairs.before[i], "after": pairs.after[i]} for i in ids]

    return {
        "figure": name,
        "common": len(pairs.before),
        "only_before": pairs.only_before,
        "only_after": pairs.only_after,
        "failed_after": len(pairs.failed),
        "test": None if tested is None else tested.figures(),
        "worse": named([i for i in moved if changes[i] < 0][:NAMED]),
        "better": named([i for i in reversed(moved) if changes[i] > 0][:NAMED]),
        "verdict": "" if tested is None else tested.verdict,
    }


def paired(before: Mapping[str, float], after: Mapping[str, float]) -> PairedDifference:
    """Return the paired difference; of many items by Student's t, of fewer by resampling."""
    if len(before) <= MOST_RESAMPLED:
        return paired_difference(before, after, seed=SEED)
    ids = sorted(before)
    first = np.array([before[i] for i in ids])
    return _by_t(first, np.array([after[i] for i in ids]))


def _by_t(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> PairedDifference:
    """Return the same by Student's t, whose sample is large here."""
    from scipy.stats import t

    difference = second - first
    difference[np.abs(difference) <= UNCHANGED] = 0.0
    n, changed = len(difference), int((difference != 0).sum())
    mean, error = float(difference.mean()), float(difference.std(ddof=1)) / math.sqrt(n)
    enough = changed >= FEWEST_CHANGED
    sure = enough and float(np.ptp(difference)) > UNCHANGED
    reach = float(t.ppf(0.975, n - 1)) * error
    p_value = float(2 * t.sf(abs(mean) / error, n - 1)) if sure else least_bound(difference)
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
