"""The part of a check-up that other programs read."""

from __future__ import annotations

from typing_extensions import TypedDict


class CheckRecord(TypedDict):
    """One check.

    part: what was checked.
    state: good, note (nothing to mend now) or bad.
    text: what was seen.
    mend: how to mend it; empty where good.
    """

    part: str
    state: str
    text: str
    mend: str


class HealthSummary(TypedDict):
    """All checks in their order, and how many are in each state.

    good: checks that are good.
    notes: checks with something to know, nothing to mend now.
    bad: checks with something to mend.
    """

    checks: list[CheckRecord]
    good: int
    notes: int
    bad: int
