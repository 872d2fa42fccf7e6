"""A regression beyond noise: every figure against that of a baseline, by a paired test.

A figure fails where it is worse by more than the tolerance, the interval leaves out zero, and the
p-values of all figures, corrected for their number (Holm, 1979), say so. What failed since counts
as its worst value, 0: where it fails only then, it could not be measured. Nor could one of so few
items that no loss of theirs, however bad, would stand out among so many figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argus.evaluation.gate.outcome import Outcome, Verdict
from argus.evaluation.history.compare import (
    NotComparable,
    Pairs,
    check_comparable,
    differing_settings,
    paired,
)
from argus.measures.significance import LEVEL, UNCHANGED, PairedDifference, least_bound
from argus.runs import JobRun, runs_of
from argus.runs.figures import TRACKED

CHECK = "against"
LEAST_COMMON = 0.5
"""Share of the baseline's items that a run must have."""


@dataclass(frozen=True)
class Change:
    """A paired difference, with a p-value that does not end at one in the resamples."""

    difference: PairedDifference
    p_value: float

    @classmethod
    def of(cls, before: Mapping[str, float], after: Mapping[str, float]) -> Change:
        """Compare two sides' values of the same items."""
        change = paired(before, after)
        bound = least_bound(np.array([after[id_] - value for id_, value in before.items()]))
        return cls(change, min(change.p_value, bound))


@dataclass(frozen=True)
class _Tested:
    """A figure of a run and its baseline. at_worst: with what failed as 0. items: of these."""

    job: str
    figure: str
    folder: str
    plain: Change
    at_worst: Change
    items: int
    note: str


def against(folders: Sequence[Path], baseline: Path, tolerance: float) -> list[Outcome]:
    """Check every figure of the folders that the baseline has, too.

    Raises InputError for a baseline that is missing or damaged. What cannot be compared, with why,
    is not measured.
    """
    base = runs_of(baseline)
    tested: list[_Tested] = []
    outcomes: list[Outcome] = []
    jobs: set[str] = set()
    for folder in folders:
        for job, run in runs_of(folder).items():
            if job not in base:
                continue
            jobs.add(job)
            for one in _figures(base[job], run, str(folder)):
                (tested if isinstance(one, _Tested) else outcomes).append(one)  # type: ignore[arg-type]
    fewest = fewest_items(len(tested))
    for one in tested:
        if one.items < fewest:
            few = f"{one.items:,} {TRACKED[one.job].unit} are too few for {len(tested)} figures"
            detail = f"{one.job}, {one.figure}: {few}: at least {fewest} show a change"
            outcomes.append(_missing(one.folder, detail))
    tested = [one for one in tested if one.items >= fewest]
    for job in base.keys() - jobs:
        where = ", ".join(map(str, folders))
        outcomes.append(_missing(where, f"{job}: in {baseline}, and not among these results"))
    return [*_judged(tested, tolerance), *outcomes]


def _figures(before: JobRun, after: JobRun, folder: str) -> Iterator[_Tested | Outcome]:
    job = before.job
    if differing := differing_settings(before, after):
        yield _missing(folder, f"{job}: not the same figures: {', '.join(differing)}")
        return
    try:
        check_comparable(before, after)
    except NotComparable as reason:
        yield _missing(folder, f"{job}: {reason}")
        return
    unit = TRACKED[job].unit
    for name, values in before.items.items():
        if name not in after.items:
            yield _missing(folder, f"{job}, {name}: not measured any more")
            continue
        pairs = Pairs.of(values, after.items[name])
        whole = pairs.with_failed(values)
        measured = len(whole.before) + pairs.only_before
        if len(whole.before) < max(fewest_items(1), LEAST_COMMON * measured):
            few = f"only {len(whole.before):,} of {measured:,} {unit} of the baseline are there"
            yield _missing(folder, f"{job}, {name}: {few}")
            continue
        at_worst = Change.of(whole.before, whole.after)
        some_failed = pairs.failed and pairs.before
        plain = Change.of(pairs.before, pairs.after) if some_failed else at_worst
        note = f"{len(pairs.before):,} {unit}"
        note += f" and {len(pairs.failed):,} that failed" if pairs.failed else ""
        note += f"; {pairs.only_before:,} are gone" if pairs.only_before else ""
        yield _Tested(job, name, folder, plain, at_worst, len(whole.before), note)


def fewest_items(figures: int) -> int:
    """Return of how many items a change can be told from chance, among so many figures.

    If all of n items are worse, the sign test's p-value is 2/2ⁿ.
    """
    return math.floor(math.log2(2 * max(1, figures) / LEVEL)) + 1


def _judged(tested: Sequence[_Tested], tolerance: float) -> Iterator[Outcome]:
    plain = holm([one.plain.p_value for one in tested])
    at_worst = holm([one.at_worst.p_value for one in tested])
    for one, p, worst_p in zip(tested, plain, at_worst, strict=True):
        verdict = Verdict.PASS
        if _is_worse(one.plain, p, tolerance):
            verdict = Verdict.FAIL
        elif _is_worse(one.at_worst, worst_p, tolerance):
            verdict = Verdict.NOT_MEASURED
        change, ends = one.plain.difference, "no interval"
        if change.low is not None and change.high is not None:
            ends = f"95% {change.low:+.4f} to {change.high:+.4f}"
        detail = (
            f"{one.job}, {one.figure}: {change.mean_difference:+.4f} ({ends}, p={p:.3g} of "
            f"{len(tested)} tests) over {one.note}"
        )
        yield Outcome(CHECK, one.folder, verdict, change.mean_before, change.mean_after, detail)


def _is_worse(change: Change, p: float, tolerance: float) -> bool:
    difference = change.difference
    loss = -difference.mean_difference
    return p < LEVEL and difference.verdict == "worse" and loss > tolerance + UNCHANGED


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    out, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        out[i] = highest
    return out


def _missing(folder: str, detail: str) -> Outcome:
    return Outcome(CHECK, folder, Verdict.NOT_MEASURED, None, None, detail)
