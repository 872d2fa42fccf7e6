"""Two windows of time compared: questions asked in both, paired; the others, by permutation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.measures.intervals import newcombe
from argus.measures.significance import DifferenceFigures, paired_difference
from argus.traffic.figures.outcomes import OUTCOMES
from argus.traffic.figures.shares import Share, share
from argus.traffic.log.book import LogBook
from argus.traffic.times import seconds

MOST_TESTED = 50_000
"""Questions of one test, by their hashes; the shares are of all asks."""
DRAWN_AT_MOST = 100_000_000
"""Values that a test draws: of many questions there are fewer permutations, not below LEAST."""
LEAST = 1_000
FEWEST = 5
"""Questions of a window below which no permutation can tell anything."""


class Permutation(TypedDict):
    """Means over questions asked in one window alone; two-sided p by permuting the windows.

    before: questions asked in the first window alone.
    after: questions asked in the second window alone.
    difference: second mean less the first.
    p_value: two-sided p-value.
    """

    before: int
    after: int
    difference: float
    p_value: float


class WindowChange(TypedDict):
    """One outcome in both windows. Shares are of asks; tests are over questions, which repeat.

    outcome: outcome, in words.
    before: share in the first window.
    after: share in the second window.
    low, high: 95% interval of after less before (Newcombe), as if asks were independent.
    same_questions: difference over questions asked in both windows; None without.
    """

    outcome: str
    before: Share
    after: Share
    low: float
    high: float
    same_questions: DifferenceFigures | None
    other_questions: Permutation | None


class Windows(TypedDict):
    """What changed at a moment. None of it is of asks without a time.

    split: moment that parts the windows, ISO 8601, UTC.
    asks_before: asks before it.
    asks_after: asks from then on.
    changes: every outcome in both windows.
    """

    split: str
    asks_before: int
    asks_after: int
    changes: list[WindowChange]


def split_at(book: LogBook, named: str | None) -> float | None:
    """Return where windows meet: as named, or the middle of asks with a time; None of none."""
    if named is not None:
        return seconds(named)
    (n,) = book.one("SELECT COUNT(at) FROM asks")
    if n < 2:
        return None
    (middle,) = book.one("SELECT at FROM asks WHERE at IS NOT NULL ORDER BY at LIMIT 1 OFFSET ?",
                         n // 2)  # fmt: skip
    return float(middle)


def compare_windows(
    book: LogBook, outcomes: Sequence[str], split: float, *, seed: int, resamples: int
) -> Windows | None:
    """Compare what came before a moment with what came from then on; None where one is empty."""
    before, after = book.one("SELECT SUM(at < ?), SUM(at >= ?) FROM asks", split, split)
    if not before or not after:
        return None
    changes = (_change(book, one, split, seed=seed, resamples=resamples) for one in outcomes)
    return {
        "split": datetime.fromtimestamp(split, UTC).isoformat(timespec="seconds"),
        "asks_before": before,
        "asks_after": after,
        "changes": [change for change in changes if change is not None],
    }


def _change(
    book: LogBook, outcome: str, split: float, *, seed: int, resamples: int
) -> WindowChange | None:
    counts = dict.fromkeys((0, 1), (0, 0))
    where = f"FROM outcomes WHERE at IS NOT NULL AND {outcome} IS NOT NULL"
    for window, n, bad in book.rows(
        f"SELECT at >= ?, COUNT(*), SUM({outcome}) {where} GROUP BY 1", split
    ):
        counts[window] = n, bad
    first, second = (share(bad, n) for n, bad in (counts[0], counts[1]))
    if first is None or second is None:
        return None
    means: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for question, window, mean in book.rows(
        f"SELECT question, at >= ?, AVG({outcome}) {where} AND question IN "
        "(SELECT id FROM questions ORDER BY id LIMIT ?) GROUP BY 1, 2",
        split, MOST_TESTED,
    ):  # fmt: skip
        means[window][str(question)] = mean
    both = means[0].keys() & means[1].keys()
    low, high = newcombe(second["share"], second["n"], first["share"], first["n"])
    alone = [np.array([v for q, v in sorted(own.items()) if q not in both]) for own in means]
    return {
        "outcome": OUTCOMES[outcome],
        "before": first,
        "after": second,
        "low": float(low),
        "high": float(high),
        "same_questions": paired_difference(
            {q: means[0][q] for q in both}, {q: means[1][q] for q in both},
            seed=seed, resamples=resamples,
        ).figures() if both else None,
        "other_questions": permuted(alone[0], alone[1], seed=seed, resamples=resamples),
    }  # fmt: skip


def permuted(
    before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], *, seed: int, resamples: int
) -> Permutation | None:
    """Return the difference of two means and its two-sided p, by permuting who is in which.

    With the +1 of Phipson and Smyth (2010). None where either has fewer than FEWEST values.
    """
    if min(len(before), len(after)) < FEWEST:
        return None
    values = np.concatenate([before, after])
    difference = float(after.mean() - before.mean())
    n = max(LEAST, min(resamples, DRAWN_AT_MOST // len(values)))
    rng, total, extreme = np.random.default_rng(seed), float(values.sum()), 0
    for _ in range(n):
        some = float(rng.permutation(values)[: len(before)].sum())
        drawn = (total - some) / len(after) - some / len(before)
        extreme += abs(drawn) >= abs(difference) - 1e-12
    return {
        "before": len(before),
        "after": len(after),
        "difference": difference,
        "p_value": (extreme + 1) / (n + 1),
    }
