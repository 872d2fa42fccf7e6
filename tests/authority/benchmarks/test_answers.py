from __future__ import annotations

import pytest

from argus.authority.benchmarks.finsuperqa import RULES
from argus.authority.benchmarks.judging import (
    BLOCKED,
    CLEARED,
    EXCEPTION,
    NO_CLEARANCE,
    NO_EVIDENCE,
    REVIEW,
    about,
    answer_of,
    derive,
)
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.times import parse_moment
from argus.errors import InputError

SCOPE = {"employee": "Ann", "ticker": "XYZ"}


def event(id_: str, type_: str, day: int, **scope: str) -> Record:
    return Record(id_, type_, time=parse_moment(f"2024-01-{day:02}"), scope=scope)


CLEARANCE = event("clearance", "PreClearanceApproved", 1, employee="Ann", ticker="XYZ")
BLACKOUT = event("blackout", "BlackoutAnnounced", 2, ticker="XYZ")
LIFTED = event("lifted", "BlackoutLifted", 3, ticker="XYZ")
EXEMPT = event("exempt", "EmergencyException", 4, employee="Ann", ticker="XYZ")
OTHER = event("other", "EmergencyException", 5, employee="Bob", ticker="XYZ")
ELSEWHERE = event("elsewhere", "BlackoutAnnounced", 6, ticker="ABC")
ADDED = event("added", "WatchlistAdded", 2, ticker="XYZ")
REMOVED = event("removed", "WatchlistRemoved", 3, ticker="XYZ")
CONFLICT = event("conflict", "ConflictDisclosed", 3, employee="Ann")


def read(served: list[Record], corpus: list[Record] | None = None) -> str:
    authority = Authority(served if corpus is None else corpus, RULES)
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


def test_what_bears_on_a_question_has_its_ticker_and_employee() -> None:
    records = [CLEARANCE, BLACKOUT, LIFTED, EXEMPT, OTHER, ELSEWHERE, CONFLICT]
    assert [r.id for r in records if about(r, SCOPE)] == [
        "clearance",
        "blackout",
        "lifted",
        "exempt",
    ]


def test_a_reader_drops_what_another_served_document_supersedes() -> None:
    assert read([CLEARANCE]) == CLEARED
    assert read([CLEARANCE, BLACKOUT]) == BLOCKED
    assert read([BLACKOUT, CLEARANCE, LIFTED]) == NO_CLEARANCE
    assert read([EXEMPT, BLACKOUT]) == EXCEPTION


def test_the_end_of_a_chain_supersedes_its_beginning() -> None:
    corpus = [CLEARANCE, BLACKOUT, LIFTED]
    assert read([CLEARANCE, LIFTED], corpus) == NO_CLEARANCE
    assert read([CLEARANCE, LIFTED]) == CLEARED  # nothing links the two without the blackout


def test_documents_of_others_change_no_answer() -> None:
    assert read([CLEARANCE, OTHER, ELSEWHERE, CONFLICT]) == CLEARED
    assert read([OTHER, ELSEWHERE, CONFLICT]) == NO_EVIDENCE
    assert read([BLACKOUT, OTHER]) == BLOCKED  # Bob's exception frees Bob alone


def test_an_unknown_document_is_refused() -> None:
    with pytest.raises(InputError, match="no record 'ghost'"):
        answer_of(["ghost"], SCOPE, Authority([CLEARANCE], RULES))
