"""From the records that a system serves to the answer of a trading question (CAR Appendix C)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from argus.authority.benchmarks.metrics import AnswerOf
from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.errors import InputError

ANSWERED_BY = frozenset({"employee", "ticker"})
"""Scope keys of the questions whose answers `answer_of` derives."""

EXCEPTION = "PermittedByException"
BLOCKED = "Prohibited"
CLEARED = "Permitted"
NO_CLEARANCE = "NoClearance"
REVIEW = "RequiresReview"
NO_EVIDENCE = ""
"""Nothing served is about the question: no answer, and never the right one."""
RELEASED = {
    EXCEPTION: "compliant",
    BLOCKED: "non_compliant",
    CLEARED: "active",
    NO_CLEARANCE: "non_compliant",
    REVIEW: "requires_review",
}
"""What the released file calls these answers; its event types are `pre_clearance_approved`, ..."""

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

    Other active types than those of PRIORITY, such as WatchlistRemoved, give REVIEW. A type is read
    as the paper or as the released file writes it.
    """
    types = {_as_in_paper(record.type) for record in active}
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


def reader_of(benchmark: Benchmark) -> AnswerOf | None:
    """Return what derives an answer from what was served, by the rules; None without answers.

    An answer is in the words of the question's own. One without any scope is not derived: Theorem 4
    judges, and it is counted. Raises InputError for answers to questions of other scopes than an
    employee and a ticker: nothing here could derive them.
    """
    answered = [q for q in benchmark.questions if q.answer]
    if not answered:
        return None
    scoped = (q for q in answered if q.has_derivable_answer)
    strange = next((q for q in scoped if not q.scope.keys() >= ANSWERED_BY), None)
    if strange is not None:
        raise InputError(
            f"question {strange.id!r} has an answer, and the scope {dict(strange.scope)}",
            expected=f"a scope with {' and '.join(sorted(ANSWERED_BY))}, as FinSuperQA has it",
            fix="Leave the answers out: TCA is then judged by Theorem 4.",
            where=benchmark.name,
        )
    known = pipeline_relation(benchmark)

    def read(question: Question, served: Sequence[str]) -> str | None:
        if not question.scope:
            return None
        answer = answer_of(served, question.scope, known)
        return RELEASED.get(answer, answer) if question.answer in RELEASED.values() else answer

    return read


def pipeline_relation(benchmark: Benchmark) -> Authority:
    """Return what a pipeline may know of a benchmark: its rules, or its edges where it has none."""
    edges = () if benchmark.rules else benchmark.edges
    return Authority(benchmark.records, benchmark.rules, edges)


def _as_in_paper(kind: str) -> str:
    """Return PreClearanceApproved for pre_clearance_approved; another type as it is."""
    return "".join(part.capitalize() for part in kind.split("_")) if kind.islower() else kind
