"""The part of a check-up that other programs read."""

from __future__ import annotations

from typing_extensions import TypedDict


class CheckRecord(TypedDict):
    """One check. state: good, note (nothing to mend now) or bad; mend: how, empty where good."""

    part: str
    state: str
    text: str
    mend: str


class HealthSummary(TypedDict):
    """All checks in their order, and how many are in each state."""

    checks: list[CheckRecord]
    good: int
    notes: int
    bad: int
