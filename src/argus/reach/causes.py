"""Why a record does not come back for its own vector."""

from __future__ import annotations

from enum import StrEnum

from argus.reach.exact import ExactRanks


class Cause(StrEnum):
    """What keeps a record from being found."""

    BROKEN = "broken vector"
    EQUAL = "equal vectors"
    """As many records as a list holds are as near as the record itself."""
    INDEX = "lost by the approximate index"
    METRIC = "outscored: the metric does not fit the norms"
    CHANGED = "changed while it was read"
    UNEXAMINED = "not examined"


def cause(ranks: ExactRanks, row: int, k: int, *, is_exact: bool) -> Cause:
    """Return why a record that was asked for did not come back within k.

    is_exact: whether the store compares every vector, so that no index can lose one.
    """
    higher, tied = int(ranks.higher[row]), int(ranks.tied[row])
    if tied == 0:
        return Cause.CHANGED
    if higher >= k:
        return Cause.METRIC
    if higher + tied > k:
        return Cause.EQUAL
    return Cause.CHANGED if is_exact else Cause.INDEX
