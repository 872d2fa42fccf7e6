from __future__ import annotations

from argus.authority.benchmarks.judging import (
    BLOCKED,
    CLEARED,
    EXCEPTION,
    NO_CLEARANCE,
    NO_EVIDENCE,
    REVIEW,
    answer_of,
    derive,
)
from argus.authority.benchmarks.makers import TRADING
from argus.authority.relation import Authority
from argus.authority.rules import Record
from argus.authority.times import parse_moment

SCOPE = {"employee": "Ann", "ticker": "XYZ"}


def event(id_: str, type_: str, day: int, **scope: str) -> Record:
    return Record(id_, type_, time=parse_moment(f"2024-01-{day:02}"), scope=scope)


CLEARANCE = event("clearance", "PreClearanceApproved", 1, employee="Ann", ticker="XYZ")
BLACKOUT = event("blackout", "BlackoutAnnounced", 2, ticker="XYZ")
LIFTED = event("lifted", "BlackoutLifted", 3, ticker="XYZ")
EXEMPT = event("exempt", "EmergencyException", 4, employee="Ann", ticker="XYZ")
ADDED = event("added", "WatchlistAdded", 2, ticker="XYZ")
REMOVED = event("removed", "WatchlistRemoved", 3, ticker="XYZ")


def read(*served: Record) -> str:
    return answer_of([record.id for record in served], SCOPE, Authority(served, TRADING))


def test_the_priority_is_that_of_appendix_c() -> None:
    for active, answer in (
        ([EXEMPT, BLACKOUT, CLEARANCE, LIFTED], EXCEPTION),
        ([BLACKOUT, CLEARANCE, LIFTED], BLOCKED),
        ([ADDED, CLEARANCE], BLOCKED),
        ([CLEARANCE, LIFTED], CLEARED),
        ([LIFTED, REMOVED], NO_CLEARANCE),
        ([REMOVED], REVIEW),
        ([], NO_EVIDENCE),
    ):
        assert derive(active) == derive(active[::-1]) == answer


def test_a_reader_drops_what_another_served_document_supersedes() -> None:
    assert read(CLEARANCE) == CLEARED
    assert read(CLEARANCE, BLACKOUT) == BLOCKED
    assert read(BLACKOUT, CLEARANCE, LIFTED) == NO_CLEARANCE
    assert read(EXEMPT, BLACKOUT) == EXCEPTION
