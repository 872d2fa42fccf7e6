"""A share with its interval, as all figures of traffic have it."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.measures import wilson


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
