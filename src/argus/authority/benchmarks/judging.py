"""Score retrieved lists against the controlling documents of a benchmark (CAR section 2.2).

`Judge`: a question and a list of ids -> `Figures` of that list. `score`: all answers of a system ->
a row per question. `summarise`: rows -> means with counts. `question_table`: the table of all rows.
TCA is a right answer without an ignored superseder. It is not "a controlling document is among the
k", which does not see a superseded document that is served without its superseder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.relation import Authority
from argus.authority.rules import Record
from argus.authority.theory import check_conditions
from argus.data.types import State
from argus.measures.intervals import wilson


class Outcome(NamedTuple):
    """The documents that a system serves for one question, best first, or why there are none.

    anchors: documents that the first stage found and the second looked at, best first. None without
    stages.
    failure: why the question could not be asked: it is counted apart, never as a zero.
    """

    documents: tuple[str, ...] = ()
    anchors: tuple[str, ...] | None = None
    failure: str = ""


BY_ANSWERS = "answers"  # TCA is AnswerCorrect and NoIgnoredSuperseder (Def. 7)
# TCA is frontier inclusion and NoIgnoredSuperseder, where a question has no answer a*, or no scope
# to derive an answer in.
BY_CONDITIONS = "theorem 4"


@dataclass(frozen=True, slots=True)
class Figures:
    """Scores of one question's retrieved list.

    answer_correct: â = a*. None where the question has no a*, or no scope.
    no_ignored_superseder: of every superseded document of the list, one superseder is in the list,
    by any chain.
    tca_by: BY_ANSWERS or BY_CONDITIONS.
    controlling_hit: some gold document is in the list.
    controlling_hit_equivalent: some gold document, or one that says the same to the letter, is in
    the list.
    provenance_recall: ProvRec: share of the gold chain in the list.
    recall: R@k: share of the relevant documents, the gold ones, in the list.
    answer: â, "" where the question has no a*.
    """

    answer_correct: bool | None
    no_ignored_superseder: bool
    tca: bool
    tca_by: str
    controlling_hit: bool
    controlling_hit_equivalent: bool
    provenance_recall: float
    recall: float
    answer: str


class Stages(NamedTuple):
    """The events of Proposition 1 for one question, each within the one before.

    As printed they are not nested, and without that the chain rule does not give the proposition: a
    controlling document can be served although no anchor was found. `factors` counts these cases
    apart.

    anchor: E1: a gold anchor is among the anchors of the first stage.
    chain: E2: and the gold documents are in the closure of the anchors.
    frontier: E3: and TCA is 1.
    """

    anchor: bool
    chain: bool
    frontier: bool


class Judge:
    """The gold side of a benchmark. Its edges and answers judge all retrieved documents.

    Where it has no edges, its rules are the relation. Raises InputError for gold edges that make a
    cycle or name no record.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.relation = gold_relation(benchmark)
        # By which a reader derives answers from served documents.
        self._known = pipeline_relation(benchmark)

    def figures(self, question: Question, retrieved: Sequence[str]) -> Figures:
        """Return the scores of a list of distinct document ids for a question.

        Theorem 4 judges where there is no answer, or no scope to derive one in.
        """
        documents = set(retrieved)

        def part(relevant: Sequence[str]) -> float:
            return sum(i in documents for i in relevant) / len(relevant) if relevant else 0.0

        conditions = check_conditions(retrieved, self.relation, question.anchor or question.gold)
        noticed, equal = not conditions.ignored, {*question.gold, *question.equivalent}
        answer, correct = "", None
        if has_answer(question):
            answer = answer_of(retrieved, question.scope, self._known)
            if question.answer in RELEASED.values():  # in the words of the question's own answer
                answer = RELEASED.get(answer, answer)
            correct = answer == question.answer
        right = not conditions.missing if correct is None else correct
        return Figures(
            answer_correct=correct,
            no_ignored_superseder=noticed,
            tca=right and noticed,
            tca_by=BY_CONDITIONS if correct is None else BY_ANSWERS,
            controlling_hit=not documents.isdisjoint(question.gold),
            controlling_hit_equivalent=not documents.isdisjoint(equal),
            provenance_recall=part(question.chain),
            recall=part(question.gold),
            answer=answer,
        )


def has_answer(question: Question) -> bool:
    """Return whether a question has an answer, and the scope to derive one in."""
    return bool(question.answer) and question.scope.keys() >= ANSWERED_BY


def gold_relation(benchmark: Benchmark) -> Authority:
    """Return the relation that judges: the edges, or else the rules."""
    rules = () if benchmark.edges else benchmark.rules
    return Authority(benchmark.records, rules, benchmark.edges)


def has_anchor(question: Question, retrieved: Iterable[str]) -> bool:
    """Return whether a gold anchor was retrieved. Without one, a gold document counts."""
    return not set(retrieved).isdisjoint(question.anchor or question.gold)


def share(values: Iterable[float | bool | None]) -> dict[str, Any] | None:
    """Return the mean of the values that are there. None where there are none.

    value: the mean, from 0 to 1.
    low, high: its 95% Wilson interval.
    n: values that it is of.

    Wilson's interval is that of a proportion. For means of values between 0 and 1 it is
    conservative.
    """
    numbers = [float(value) for value in values if value is not None]
    if not numbers:
        return None
    mean = sum(numbers) / len(numbers)
    low, high = wilson(mean, len(numbers))
    return {"value": mean, "low": float(low), "high": float(high), "n": len(numbers)}


def factors(stages: Sequence[Stages], tca: Sequence[bool]) -> dict[str, Any]:
    """Return the factors of Proposition 1 over questions. `tca[i]` belongs to `stages[i]`.

    A factor is None where the event before it never happened. `product + tca_without` is TCA.

    anchor: share of questions whose first stage has a gold anchor (E1).
    chain: of these, share whose closure has the gold documents (E2).
    frontier: of these, share with TCA 1 (E3).
    product: product of the three, which bounds TCA.
    tca_without: share of the questions that have TCA 1 without an anchor.
    """
    n, whole = max(len(stages), 1), sum(s.frontier for s in stages)
    return {
        "anchor": share(s.anchor for s in stages),
        "chain": share(s.chain for s in stages if s.anchor),
        "frontier": share(s.frontier for s in stages if s.chain),
        "product": whole / n,
        "tca_without": (sum(tca) - whole) / n,
    }


# Scope keys of the questions whose answers `answer_of` derives.
ANSWERED_BY = frozenset({"employee", "ticker"})

EXCEPTION = "PermittedByException"
BLOCKED = "Prohibited"
CLEARED = "Permitted"
NO_CLEARANCE = "NoClearance"
REVIEW = "RequiresReview"
NO_EVIDENCE = ""  # Nothing served is about the question: no answer, and never the right one
# What the released file calls these answers; its event types are `pre_clearance_approved`, ...
RELEASED = {
    EXCEPTION: "compliant",
    BLOCKED: "non_compliant",
    CLEARED: "active",
    NO_CLEARANCE: "non_compliant",
    REVIEW: "requires_review",
}

# Answer and the types of active event that give it, first match first.
PRIORITY: tuple[tuple[str, tuple[str, ...]], ...] = (
    (EXCEPTION, ("EmergencyException",)),
    (BLOCKED, ("BlackoutAnnounced", "WatchlistAdded")),
    (CLEARED, ("PreClearanceApproved",)),
    (NO_CLEARANCE, ("BlackoutLifted",)),
)


def about(record: Record, scope: Mapping[str, str]) -> bool:
    """Return whether a trading event bears on a question's employee and ticker.

    It must have the ticker. It must have the employee or, as a blackout, none.
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
    kinds = (record.type for record in active)
    types = {"".join(map(str.capitalize, k.split("_"))) if k.islower() else k for k in kinds}
    if not types:
        return NO_EVIDENCE
    return next((answer for answer, giving in PRIORITY if types.intersection(giving)), REVIEW)


def answer_of(served: Iterable[str], scope: Mapping[str, str], authority: Authority) -> str:
    """Return the answer of a careful reader who has the served documents and nothing else.

    served: document ids. Of those about the question's scope (`about`), those that another of them
    supersedes are dropped. The priority of Appendix C decides among the rest. authority: of the
    records as the pipeline knows them. Raises InputError for an id that it does not hold.
    """
    bearing = [id_ for id_ in served if about(authority.record(id_), scope)]
    return derive(authority.record(id_) for id_ in authority.frontier(bearing))


def pipeline_relation(benchmark: Benchmark) -> Authority:
    """Return the relation that a pipeline may know: the rules, or else the edges."""
    edges = () if benchmark.rules else benchmark.edges
    return Authority(benchmark.records, benchmark.rules, edges)


# Where anchor recall of the first stage is looked at besides k (stage-1 ablation).
ANCHOR_DEPTHS = (1, 5, 10, 20)
# Figures of a question whose means are shares of a system, with their headings (K stands for the
# number served).
SHARES = {
    "tca": "TCA", "answer_correct": "answer", "no_ignored_superseder": "none ignored",
    "controlling_hit": "hit@K", "controlling_hit_equivalent": "hit@K (equal text)",
    "provenance_recall": "ProvRec", "recall": "R@K",
}  # fmt: skip
Closure = Callable[[Sequence[str]], set[str]]  # Ids that a pipeline reaches from its anchors


class Scored(NamedTuple):
    """One question of one system.

    figures: none where the system failed.
    stages: none where it failed, or has no stages.
    has_anchor: whether a gold anchor is among the first k of the first stage. Without stages, among
    the retrieved documents. None where it failed.
    """

    question: Question
    outcome: Outcome
    figures: Figures | None = None
    stages: Stages | None = None
    has_anchor: bool | None = None

    @property
    def state(self) -> State:
        """Measured, or failed."""
        return State.FAILED if self.figures is None else State.MEASURED


def score(
    benchmark: Benchmark,
    outcomes: Mapping[str, Outcome],
    judge: Judge,
    *,
    k: int,
    closure: Closure | None = None,
) -> list[Scored]:
    """Score a system's outcomes, one per question id, in the order of the questions.

    closure: the system's own, for the factors of Proposition 1. A question without outcome failed.
    """
    nothing = Outcome(failure="no outcome")
    scored = []
    for question in benchmark.questions:
        outcome = outcomes.get(question.id, nothing)
        if outcome.failure:
            scored.append(Scored(question, outcome))
            continue
        served, anchors, stages = outcome.documents[:k], outcome.anchors, None
        figures = judge.figures(question, served)
        if anchors is not None and closure is not None:
            first = has_anchor(question, anchors)
            chain = first and closure(anchors) >= {*question.gold}
            stages = Stages(first, chain, chain and figures.tca)
        found = has_anchor(question, served if anchors is None else anchors[:k])
        scored.append(Scored(question, outcome, figures, stages, found))
    return scored


def summarise(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the figures of one system: overall, and per hop type where questions have one.

    questions: total, measured and failed questions, and reasons of failures, to how many.
    overall: every share over all questions, failed ones left out: see `share`.
    hops: the same by hop type.
    anchor_recall_at: share whose first stage has a gold anchor, by depth. Empty without stages.
    factors: `factors` of Proposition 1. None without stages.

    The shares:
    tca: served as Def. 7 wants it: a correct answer without an ignored superseder, or Theorem 4.
    answer_correct: the derived answer is the gold answer.
    no_ignored_superseder: every superseded document comes with a superseder.
    controlling_hit: a gold document is in the list.
    controlling_hit_equivalent: the same, or a document that says the same to the letter.
    provenance_recall: share of the gold chain in the list.
    recall: share of the gold documents in the list.
    anchor_recall: the list has a gold anchor.
    """
    by_hop: dict[str, dict[str, Any]] = {}
    for hop in ("", *sorted({s.question.hop for s in scored if s.question.hop})):
        of = [s for s in scored if hop in ("", s.question.hop)]
        measured = [s.figures for s in of if s.figures is not None]
        by_hop[hop] = {n: share(getattr(figures, n) for figures in measured) for n in SHARES}
        by_hop[hop]["anchor_recall"] = share(s.has_anchor for s in of)
    states = Counter(s.state for s in scored)
    reasons = Counter(s.outcome.failure for s in scored if s.outcome.failure)
    counts: dict[str, Any] = {
        "total": len(scored),
        "measured": states[State.MEASURED],
        "failed": states[State.FAILED],
        "reasons": dict(reasons.most_common()),
    }
    staged = [(s.question, s.outcome.anchors) for s in scored if s.outcome.anchors is not None]
    pairs = [(s.stages, s.figures.tca) for s in scored if s.stages is not None and s.figures]
    return {
        "questions": counts,
        "overall": by_hop.pop(""),
        "hops": by_hop,
        "anchor_recall_at": {
            str(depth): share(has_anchor(q, anchors[:depth]) for q, anchors in staged)
            for depth in (ANCHOR_DEPTHS if staged else ())
        },
        "factors": factors([s for s, _ in pairs], [tca for _, tca in pairs]) if pairs else None,
    }


# Scored questions of a system, by its name and what it does.
Results = Mapping[tuple[str, str], Sequence[Scored]]


_FLAGS = ("anchor_found", "event_anchor", "event_chain", "event_frontier")
# One row per system and question. Null where a question failed or it does not apply.
#
# hop: type of hop, where questions have one.
# tca: whether controlling documents answer it (TCA).
# tca_by: how that is judged: answers, or theorem 4.
# answer_correct: whether the derived answer is the gold one.
# no_ignored_superseder: whether every superseded document comes with a superseder.
# controlling_hit: whether a gold document is in the list.
# controlling_hit_equivalent: the same, or one that says the same to the letter.
# provenance_recall: share of the gold chain in the list.
# recall: share of the gold documents in the list.
# anchor_found: whether the list has a gold anchor.
# event_anchor: E1: the first stage has a gold anchor.
# event_chain: E2: and its closure has the gold documents.
# event_frontier: E3: and TCA is 1.
# answer: answer that is derived from the list.
# gold_answer: answer of the benchmark.
# served: ids of the list, parted by "; ".
# gold: ids of the gold documents, likewise.
# anchor: ids of the gold anchors, likewise.
_SCHEMA = pa.schema(
    dict.fromkeys(("system", "question_id", "question", "hop", "state", "reason"), pa.string())
    | {"tca": pa.bool_(), "tca_by": pa.string()}
    | dict.fromkeys(SHARES, pa.bool_())
    | dict.fromkeys(("provenance_recall", "recall"), pa.float64())
    | dict.fromkeys(_FLAGS, pa.bool_())
    | dict.fromkeys(("answer", "gold_answer", "served", "gold", "anchor"), pa.string())
)


def question_table(results: Results) -> pa.Table:
    """Return one row per system and question."""
    rows = [
        {
            "system": name, "question_id": s.question.id, "question": s.question.text,
            "hop": s.question.hop or None, "state": str(s.state), "reason": s.outcome.failure,
            **{of: getattr(s.figures, of, None) for of in (*SHARES, "tca_by", "answer")},
            "anchor_found": s.has_anchor,
            **{f"event_{of}": getattr(s.stages, of, None) for of in Stages._fields},
            "gold_answer": s.question.answer, "served": "; ".join(s.outcome.documents),
            "gold": "; ".join(s.question.gold), "anchor": "; ".join(s.question.anchor),
        }
        for (name, _), scored in results.items()
        for s in scored
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=_SCHEMA)
