"""From the records that a system serves to the answer of a trading question (CAR Appendix C)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from argus.authority.records import Record
from argus.authority.relation import Authority

EXCEPTION = "PermittedByException"
BLOCKED = "Prohibited"
CLEARED = "Permitted"
NO_CLEARANCE = "NoClearance"
REVIEW = "RequiresReview"
NO_EVIDENCE = ""
"""Nothing served is about the question: no answer, and never the right one."""

PRIORITY: tuple[tuple[str, tuple[str, ...]], ...] = (
    (EXCEPTION, ("EmergencyException",)),
    (BLOCKED, ("BlackoutAnnounced", "WatchlistAdded")),
    (CLEARED, ("PreClearanceApproved",)),
    (NO_CLEARANCE, ("BlackoutLifted",)),
)
"""Answer and the types of active event that give it, first match first."""


def about(record: Record, scope: Mapping[str, str]) -> bool:
    """Return whether a trading event bears on a question's employee and ticker.

    It must have the ticker; it must have the employee or, as a blackout, none.
    """
    if scope["ticker"] not in record.values("ticker"):
        return False
    employees = record.values("employee")
    return not employees or scope["employee"] in employees


def derive(active: Iterable[Record]) -> str:
    """Return the answer that active events of one scope give, NO_EVIDENCE without any.

    Other active types than those of PRIORITY, such as WatchlistRemoved, give REVIEW.
    """
    types = {record.type for record in active}
    if not types:
        return NO_EVIDENCE
    return next((answer for answer, giving in PRIORITY if types.intersection(giving)), REVIEW)


def answer_of(served: Iterable[str], scope: Mapping[str, str], authority: Authority) -> str:
    """Return what a careful reader answers who has the served documents and nothing else.

    served: document ids. Of those about the question's scope (`about`), those that another of them
    supersedes are dropped; the priority of Appendix C decides among the rest. authority: of the
    records as the pipeline knows them. Raises InputError for an id that it does not hold.
    """
    bearing = [id_ for id_ in served if about(authority.record(id_), scope)]
    return derive(authority.record(id_) for id_ in authority.frontier(bearing))
