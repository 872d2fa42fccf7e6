from __future__ import annotations

import pytest

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


def read(served: list[Record], corpus: list[Record] | None = None) -> str:
    authority = Authority(served if corpus is None else corpus, TRADING)
    return answer_of([record.id for record in served], SCOPE, authority)


@pytest.mark.parametrize(
    ("active", "answer"),
    [
        ([EXEMPT, BLACKOUT, CLEARANCE, LIFTED], EXCEPTION),
        ([BLACKOUT, CLEARANCE, LIFTED], BLOCKED),
        ([ADDED, CLEARANCE], BLOCKED),
        ([CLEARANCE, LIFTED], CLEARED),
        ([LIFTED, REMOVED], NO_CLEARANCE),
        ([REMOVED], REVIEW),
        ([], NO_EVIDENCE),
    ],
)
def test_the_priority_is_that_of_appendix_c(active: list[Record], answer: str) -> None:
    assert derive(active) == answer
    assert derive(active[::-1]) == answer


def test_a_reader_drops_what_another_served_document_supersedes() -> None:
    assert read([CLEARANCE]) == CLEARED
    assert read([CLEARANCE, BLACKOUT]) == BLOCKED
    assert read([BLACKOUT, CLEARANCE, LIFTED]) == NO_CLEARANCE
    assert read([EXEMPT, BLACKOUT]) == EXCEPTION
