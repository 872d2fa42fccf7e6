"""Judge a retrieved list question by question, where authority counts (CAR section 2.2).

TCA and "the controlling document is among the k" are two numbers. The second does not see a
superseded document that is served without its superseder, and it is never called TCA here.

`ceilings` bounds controlling-hit@k, and so TCA@k by Theorem 4. A ranker by the question's text
serves every question of one text the same k documents, so it misses some of more gold documents
than that. A ranker by the documents' texts cannot tell which of m equal texts is the gold one: k of
them hit it with a chance of k/m. Look-ups by scope or by edges are bound by the first alone, and
answers derived from other documents by neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.conditions import check_conditions
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.errors import InputError
from argus.measures.intervals import wilson


@dataclass(frozen=True, slots=True)
class Outcome:
    """The documents that a system serves for one question, best first, or why there are none.

    anchors: documents that the first stage found and the second looked at, best first. None without
    stages.
    failure: why the question could not be asked: it is counted apart, never as a zero.
    longer: more documents were returned than were asked for: the first of them count.
    """

    documents: tuple[str, ...] = ()
    anchors: tuple[str, ...] | None = None
    failure: str = ""
    longer: bool = False


# The reader: the answer â that a question has by a retrieved list of document ids; None where it
# cannot derive one, and Theorem 4 judges.
AnswerOf = Callable[[Question, Sequence[str]], str | None]

BY_ANSWERS = "answers"  # TCA is AnswerCorrect and NoIgnoredSuperseder (Def. 7)
# TCA is frontier inclusion and NoIgnoredSuperseder, where a question has no answer a*, or no scope
# to derive an answer in.
BY_CONDITIONS = "theorem 4"


class CeilingFigures(TypedDict):
    """Upper bounds of controlling-hit@k, as shares of all questions. See `ceilings`.

    duplicate_questions bounds systems that answer by the question's text. equal_gold_texts and both
    bound systems that rank by the documents' texts.

    duplicate_questions: ceiling of hit@k for whoever answers by the question's text, 0 to 1.
    equal_gold_texts: ceiling for whoever ranks by the documents' texts, 0 to 1.
    both: ceiling for whoever does both, 0 to 1.
    questions_with_duplicates: questions whose text another question has, too.
    questions_with_equal_gold: questions with a gold document whose text another document has, too.
    decidable: questions that neither bounds.
    """

    duplicate_questions: float
    equal_gold_texts: float
    both: float
    questions_with_duplicates: int
    questions_with_equal_gold: int
    decidable: int


class ShareFigures(TypedDict):
    """A mean of values in [0, 1] over n questions with its 95% Wilson interval.

    value: the mean, from 0 to 1.
    n: questions that it is of.
    """

    value: float
    low: float
    high: float
    n: int


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


@dataclass(frozen=True, slots=True)
class Stages:
    """The events of Proposition 1 for one question, each within the one before.

    As printed they are not nested, and without that the chain rule does not give the proposition: a
    controlling document can be served although no anchor was found. `Factors.tca_without` counts
    these cases apart.

    anchor: E1: a gold anchor is among the anchors of the first stage.
    chain: E2: and the gold documents are in the closure of the anchors.
    frontier: E3: and TCA is 1.
    """

    anchor: bool
    chain: bool
    frontier: bool


class Judge:
    """The gold side of a benchmark. Its edges and answers judge all retrieved documents.

    Where it has no edges, its rules are the relation. answer_of: the reader of benchmarks whose
    questions have answers. You can leave it out where none has. Raises InputError for gold edges
    that make a cycle or name no record, and ValueError where answers have no reader.
    """

    def __init__(self, benchmark: Benchmark, answer_of: AnswerOf | None = None) -> None:
        rules = () if benchmark.edges else benchmark.rules
        self.relation = Authority(benchmark.records, rules, benchmark.edges)
        self._answer_of = answer_of
        if answer_of is None and any(question.answer for question in benchmark.questions):
            raise ValueError(f"{benchmark.name} has answers: a reader is needed to compare with.")

    def figures(self, question: Question, retrieved: Sequence[str]) -> Figures:
        """Return the scores of a list of distinct document ids for a question."""
        documents = set(retrieved)
        conditions = check_conditions(retrieved, self.relation, question.anchor or question.gold)
        noticed = not conditions.ignored
        answer = None
        if question.answer and self._answer_of is not None:
            answer = self._answer_of(question, retrieved)
        correct = None if answer is None else answer == question.answer
        right = not conditions.missing if correct is None else correct
        return Figures(
            answer_correct=correct,
            no_ignored_superseder=noticed,
            tca=right and noticed,
            tca_by=BY_CONDITIONS if correct is None else BY_ANSWERS,
            controlling_hit=not documents.isdisjoint(question.gold),
            controlling_hit_equivalent=not documents.isdisjoint(
                {*question.gold, *question.equivalent}
            ),
            provenance_recall=_part(question.chain, documents),
            recall=_part(question.gold, documents),
            answer=answer or "",
        )

    def stages(
        self, question: Question, anchors: Sequence[str], reached: Collection[str], *, tca: bool
    ) -> Stages:
        """Return the events of Proposition 1.

        anchors: documents that the first stage found and the second looked at. reached: their
        closure, as the pipeline knows the relation. It is not used without a gold anchor.
        """
        anchor = has_anchor(question, anchors)
        chain = anchor and all(id_ in reached for id_ in question.gold)
        return Stages(anchor, chain, chain and tca)


def has_anchor(question: Question, retrieved: Iterable[str]) -> bool:
    """Return whether a gold anchor was retrieved. Without one, a gold document counts."""
    return not set(retrieved).isdisjoint(question.anchor or question.gold)


def share(values: Iterable[float | bool | None]) -> ShareFigures | None:
    """Return the mean of the values that are there. None where there are none.

    Wilson's interval is that of a proportion. For means of values between 0 and 1 it is
    conservative.
    """
    numbers = [float(value) for value in values if value is not None]
    if not numbers:
        return None
    mean = sum(numbers) / len(numbers)
    low, high = wilson(mean, len(numbers))
    return {"value": mean, "low": float(low), "high": float(high), "n": len(numbers)}


class FactorFigures(TypedDict):
    """Proposition 1 measured, TCA = anchor x chain x frontier plus the rest.

    anchor: share of questions whose first stage has a gold anchor (E1).
    chain: of these, share whose closure has the gold documents (E2).
    frontier: of these, share with TCA 1 (E3).
    product: product of the three, which bounds TCA.
    tca_without: share of the questions that have TCA 1 without an anchor.
    """

    anchor: ShareFigures | None
    chain: ShareFigures | None
    frontier: ShareFigures | None
    product: float
    tca_without: float


def factors(stages: Sequence[Stages], tca: Sequence[bool]) -> FactorFigures:
    """Return the factors of Proposition 1 over questions. `tca[i]` belongs to `stages[i]`.

    A factor is None where the event before it never happened. `product + tca_without` is TCA.
    """
    n, whole = max(len(stages), 1), sum(s.frontier for s in stages)
    return {
        "anchor": share(s.anchor for s in stages),
        "chain": share(s.chain for s in stages if s.anchor),
        "frontier": share(s.frontier for s in stages if s.chain),
        "product": whole / n,
        "tca_without": (sum(tca) - whole) / n,
    }


def _part(relevant: Sequence[str], documents: Collection[str]) -> float:
    return sum(id_ in documents for id_ in relevant) / len(relevant) if relevant else 0.0


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
    types = {_as_in_paper(record.type) for record in active}
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


def reader_of(benchmark: Benchmark) -> AnswerOf | None:
    """Return a function that derives an answer from served documents by the rules, or None.

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
    """Return the relation that a pipeline may know: the rules, or else the edges."""
    edges = () if benchmark.rules else benchmark.edges
    return Authority(benchmark.records, benchmark.rules, edges)


def _as_in_paper(kind: str) -> str:
    """Return PreClearanceApproved for pre_clearance_approved, and another type as it is."""
    return "".join(part.capitalize() for part in kind.split("_")) if kind.islower() else kind


def ceilings(benchmark: Benchmark, k: int) -> tuple[CeilingFigures, frozenset[str]]:
    """Return the most that controlling-hit@k can be, and the ids of decidable questions.

    A question is decidable if neither duplicate questions nor equal gold texts bound it.
    """
    texts = {record.id: record.document.content.strip() for record in benchmark.records}
    alike: dict[str, list[Question]] = {}
    for question in benchmark.questions:
        alike.setdefault(question.text.strip(), []).append(question)
    groups = list(alike.values())
    copies = Counter(texts.values())
    n = max(len(benchmark.questions), 1)
    both = [_limit(group, k, texts, copies) for group in groups]
    decidable = frozenset(
        question.id
        for group, limit in zip(groups, both, strict=True)
        if limit > len(group) - 1e-9
        for question in group
    )
    distinct, singly = {id_: id_ for id_ in texts}, dict.fromkeys(texts, 1)
    return {
        "duplicate_questions": sum(_limit(g, k, distinct, singly) for g in groups) / n,
        "equal_gold_texts": sum(_limit([q], k, texts, copies) for q in benchmark.questions) / n,
        "both": sum(both) / n,
        "questions_with_duplicates": sum(len(group) for group in groups if len(group) > 1),
        "questions_with_equal_gold": sum(
            any(copies[texts[id_]] > 1 for id_ in q.gold) for q in benchmark.questions
        ),
        "decidable": len(decidable),
    }, decidable


def _limit(
    group: Sequence[Question], k: int, kinds: Mapping[str, str], copies: Mapping[str, int]
) -> float:
    """Return how many of some questions of one text k documents can hit.

    kinds: document -> its kind. copies: number of documents of each kind. Each place that goes to a
    kind is worth the questions with gold of that kind, over its copies.
    """
    golds = Counter(kinds[id_] for question in group for id_ in question.gold)
    worth = sorted(((n / copies[kind], copies[kind]) for kind, n in golds.items()), reverse=True)
    places, hits = k, 0.0
    for value, most in worth:
        filled = min(places, most)
        hits += value * filled
        places -= filled
    return min(hits, float(len(group)))
