"""Figures over all asks of a log: failing ones over time, by slice, in two windows; feedback.

An ask fails in four ways (OUTCOMES). Every figure is counted in the log's own file, so that no ask
is held in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import TypedDict

from argus.measures import wilson
from argus.measures.intervals import newcombe
from argus.measures.significance import DifferenceFigures, paired_difference
from argus.measures.slices import FEW, NONE, SlicedField, SliceShare, slice_names
from argus.traffic.book import LogBook
from argus.traffic.times import seconds

DAY_S = 86_400
DAY = f"COALESCE(CAST(asks.at / {DAY_S} AS INTEGER), -1)"
"""SQL: the day of an ask since 1970; -1 without a time."""
OUTCOMES = {
    "empty": "nothing came back",
    "bad": "bad feedback",
    "unopened": "no result opened",
    "stale": "a superseded document served",
}
"""Column of the view `outcomes` to its name; a high share is the worse one."""
MAX_STEPS = 60
STEPS = (1, 7, 28, 364)
"""Days of a step of time. The shortest is used with at most MAX_STEPS steps."""
OVER_TIME = pa.schema(
    [("begins", pa.timestamp("s", "UTC")), ("days", pa.int64()), ("asks", pa.int64())]
    + [(column, pa.int64()) for name in OUTCOMES for column in (name, f"{name}_of")]
)
"""One row per step of time that has asks.

begins: beginning of the step, UTC.
days: length of the step.
asks: asks in it.
empty: asks for which nothing came back.
bad: asks with bad feedback.
unopened: asks of which no result was opened.
stale: asks that were served a superseded document.
empty_of, bad_of, unopened_of, stale_of: asks of which that is known.
"""
MAX_TESTED = 50_000
"""Questions of one test, by their hashes; the shares are of all asks."""
MAX_DRAWN, MIN_PERMUTATIONS = 100_000_000, 1_000
"""Values that a test draws: many questions have fewer permutations, but never below the minimum."""
MIN_VALUES = 5
"""Questions of a window below which no permutation can tell anything."""


class Share(TypedDict):
    """Of n asks; the 95% interval is Wilson's, as if asks were independent.

    n: asks that it is of.
    share: the share, from 0 to 1.
    """

    n: int
    share: float
    low: float
    high: float


def share(count: float, n: int) -> Share | None:
    """Return the share of count in n; None of none."""
    if not n:
        return None
    low, high = wilson(count / n, n)
    return {"n": n, "share": count / n, "low": float(low), "high": float(high)}


def in_words(figures: Share) -> str:
    """Return a share with interval and denominator."""
    return (
        f"{figures['share']:.1%} ({figures['low']:.1%} to {figures['high']:.1%}) of "
        f"{figures['n']:,}"
    )


def make_outcomes(book: LogBook, *, has_stale: bool) -> list[str]:
    """Make the view `outcomes`, a row per ask, and return the outcomes that are known of any.

    has_stale: whether there is a table `stale (list, day, stale)`. Unknown outcomes are null.
    """
    (clicks,) = book.one("SELECT COALESCE(SUM(clicks), 0) FROM asks")
    joined = f"LEFT JOIN stale ON stale.list = asks.list AND stale.day = {DAY}"
    unopened = "CASE WHEN lists.n > 0 THEN asks.clicks = 0 END" if clicks else "NULL"
    slices = "".join(f", asks.s{i}" for i in range(len(book.slices)))
    book.do(
        "CREATE VIEW outcomes AS SELECT asks.question, asks.at, lists.n = 0 AS empty, "
        "CASE WHEN (asks.good > 0) <> (asks.bad > 0) THEN asks.bad > 0 END AS bad, "
        f"{unopened} AS unopened, {'stale.stale' if has_stale else 'NULL'} AS stale {slices} "
        f"FROM asks LEFT JOIN lists ON lists.id = asks.list {joined if has_stale else ''}"
    )
    counts = book.one(f"SELECT {', '.join(f'COUNT({name})' for name in OUTCOMES)} FROM outcomes")
    return [name for name, n in zip(OUTCOMES, counts, strict=True) if n]


def step_days(book: LogBook) -> int:
    """Return the days of a step of time."""
    first, last = book.one("SELECT MIN(at), MAX(at) FROM asks")
    span = ((last or 0) - (first or 0)) / DAY_S
    return next((step for step in STEPS if span / step <= MAX_STEPS), STEPS[-1])


def over_time(book: LogBook) -> pa.Table:
    """Return one row per step of time that has asks; an unknown outcome is null."""
    days = step_days(book)
    columns = ", ".join(f"SUM({name}), COUNT({name})" for name in OUTCOMES)
    rows = book.rows(
        f"SELECT CAST(at / {DAY_S * days} AS INTEGER), COUNT(*), {columns} FROM outcomes "
        "WHERE at IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    table = [
        dict(zip(OVER_TIME.names, (step * DAY_S * days, days, n, *rest), strict=True))
        for step, n, *rest in rows
    ]
    return pa.Table.from_pylist(table, schema=OVER_TIME)


class FeedbackFigures(TypedDict):
    """Of asks with any feedback. An ask that has both good and bad is in no share.

    with_opinion: asks with good or bad feedback.
    bad: bad ones, of asks with an opinion that does not contradict itself.
    clicked: asks with a click, of those with results; None where the log has none.
    first_click: mean rank of the best result that was opened; None where not known.
    """

    with_opinion: int
    bad: Share | None
    contradicting: int
    """Asks with good and bad feedback at once."""
    changed_mind: int
    """Pairs of a person and a question that have both, over several asks."""
    disputed: int
    """Questions that some approve of and others do not."""
    clicked: Share | None
    first_click: float | None
    unknown: int
    """Signals that name no question of the log."""


def feedback_figures(book: LogBook, unknown: int) -> FeedbackFigures | None:
    """Sum up feedback over all asks; None without any. unknown: signals that name no question."""
    opinions, bad, both, clicks, with_results, mean = book.one(
        "SELECT COALESCE(SUM(good > 0 OR bad > 0), 0), COALESCE(SUM(bad > 0 AND good = 0), 0), "
        "COALESCE(SUM(good > 0 AND bad > 0), 0), SUM(clicks > 0), SUM(n > 0), AVG(first) "
        "FROM asks LEFT JOIN lists ON list = lists.id"
    )
    if not (opinions or clicks or unknown):
        return None
    having = "HAVING SUM(good > 0) > 0 AND SUM(bad > 0) > 0"
    (changed,) = book.one(
        "SELECT COUNT(*) FROM (SELECT 1 FROM asks WHERE person <> '' AND (good > 0) <> (bad > 0) "
        f"GROUP BY person, question {having})"
    )
    (disputed,) = book.one(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM asks GROUP BY question {having} AND COUNT(*) > 1)"
    )
    return {
        "with_opinion": opinions,
        "bad": share(bad, opinions - both),
        "contradicting": both,
        "changed_mind": changed,
        "disputed": disputed,
        "clicked": share(min(clicks, with_results), with_results)
        if clicks and with_results
        else None,
        "first_click": mean,
        "unknown": unknown,
    }


def slice_shares(
    book: LogBook, outcomes: Sequence[str]
) -> tuple[list[SlicedField], list[SliceShare]]:
    """Return the fields that cut the log, and the share of every outcome by their slices."""
    fields: list[SlicedField] = []
    shares: list[SliceShare] = []
    for i, field in enumerate(book.slices):
        values: dict[Any, int] = dict(book.rows(f"SELECT s{i}, COUNT(*) FROM asks GROUP BY 1"))
        without = values.pop(None, 0)
        names, cut = slice_names(values)
        slices = len(set(names.values())) + bool(without)
        fields.append({"field": field, "slices": slices, "without": without, "cut": cut})
        for outcome in outcomes:
            counts: dict[str, list[int]] = {}
            for value, n, bad in book.rows(
                f"SELECT s{i}, COUNT(*), SUM({outcome}) FROM outcomes WHERE {outcome} IS NOT NULL "
                "GROUP BY 1"
            ):
                own = counts.setdefault(NONE if value is None else names[value], [0, 0])
                own[0] += n
                own[1] += bad
            total = sum(n for n, _ in counts.values())
            whole = sum(bad for _, bad in counts.values()) / total if total else 0.0
            for name, (n, bad) in counts.items():
                low, high = wilson(bad / n, n)
                shares.append(
                    {
                        "field": field, "slice": name, "share_of": OUTCOMES[outcome], "n": n,
                        "share": bad / n, "low": float(low), "high": float(high), "whole": whole,
                        "worse_by": float(low - wilson(whole, total)[1]), "is_few": n < FEW,
                    }
                )  # fmt: skip
    return fields, shares


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


def compare_windows(
    book: LogBook, outcomes: Sequence[str], named: str | None, *, seed: int, resamples: int
) -> Windows | None:
    """Compare asks before a moment with those from then on; None if either window is empty.

    named: the moment; None takes the middle of asks with a time. Questions asked in both windows
    are compared in pairs, the others by permutation.
    """
    (n,) = book.one("SELECT COUNT(at) FROM asks")
    middle = "SELECT at FROM asks WHERE at IS NOT NULL ORDER BY at LIMIT 1 OFFSET ?"
    split = seconds(named)
    if split is None:
        split = float(book.one(middle, n // 2)[0]) if n > 1 else 0.0
    before, after = book.one("SELECT SUM(at < ?), SUM(at >= ?) FROM asks", split, split)
    if not before or not after:
        return None
    changes: list[WindowChange] = []
    for outcome in outcomes:
        known = f"FROM outcomes WHERE at IS NOT NULL AND {outcome} IS NOT NULL"
        counts = book.rows(f"SELECT at >= ?, COUNT(*), SUM({outcome}) {known} GROUP BY 1", split)
        shares = {window: share(bad, n) for window, n, bad in counts}
        first, second = shares.get(0), shares.get(1)
        if first is None or second is None:
            continue
        means: tuple[dict[str, float], dict[str, float]] = ({}, {})
        for question, window, mean in book.rows(
            f"SELECT question, at >= ?, AVG({outcome}) {known} AND question IN "
            "(SELECT id FROM questions ORDER BY id LIMIT ?) GROUP BY 1, 2",
            split, MAX_TESTED,
        ):  # fmt: skip
            means[window][str(question)] = mean
        both = means[0].keys() & means[1].keys()
        low, high = newcombe(second["share"], second["n"], first["share"], first["n"])
        alone = [np.array([v for q, v in sorted(own.items()) if q not in both]) for own in means]
        changes.append(
            {
                "outcome": OUTCOMES[outcome],
                "before": first,
                "after": second,
                "low": float(low),
                "high": float(high),
                "same_questions": paired_difference(
                    {q: means[0][q] for q in both}, {q: means[1][q] for q in both},
                    seed=seed, resamples=resamples,
                ).figures() if both else None,
                "other_questions": permute(alone[0], alone[1], seed=seed, resamples=resamples),
            }
        )  # fmt: skip
    return {
        "split": datetime.fromtimestamp(split, UTC).isoformat(timespec="seconds"),
        "asks_before": before,
        "asks_after": after,
        "changes": changes,
    }


def permute(
    before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], *, seed: int, resamples: int
) -> Permutation | None:
    """Test the difference of two means by permuting who is in which; None for too few values.

    Two-sided, with the +1 of Phipson and Smyth (2010).
    """
    if min(len(before), len(after)) < MIN_VALUES:
        return None
    values = np.concatenate([before, after])
    difference = float(after.mean() - before.mean())
    n = max(MIN_PERMUTATIONS, min(resamples, MAX_DRAWN // len(values)))
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
