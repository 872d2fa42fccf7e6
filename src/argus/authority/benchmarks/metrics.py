"""What a retrieved list is worth where authority counts (CAR section 2.2), question by question.

TCA and "the controlling document is among the k" are two numbers: the second does not see a
superseded document that is served without its superseder, and it is never called TCA here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.conditions import check_conditions
from argus.authority.relation import Authority
from argus.measures.intervals import wilson

AnswerOf = Callable[[Question, Sequence[str]], str | None]
"""The reader: the answer â that a question has by a retrieved list of document ids; None where it
cannot derive one, and Theorem 4 judges."""

BY_ANSWERS = "answers"
"""TCA is AnswerCorrect and NoIgnoredSuperseder (Def. 7)."""
BY_CONDITIONS = "theorem 4"
"""TCA is frontier inclusion and NoIgnoredSuperseder, where a question has no answer a*, or no scope
to derive an answer in."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one question's retrieved list is worth."""

    answer_correct: bool | None
    """â = a*; None where the question has no a*, or no scope."""
    no_ignored_superseder: bool
    """Of every superseded document of the list, one superseder is in the list, by any chain."""
    tca: bool
    tca_by: str
    """BY_ANSWERS or BY_CONDITIONS."""
    controlling_hit: bool
    """Some gold document is in the list."""
    controlling_hit_equivalent: bool
    """Some gold document, or one that says the same to the letter, is in the list."""
    provenance_recall: float
    """ProvRec: share of the gold chain in the list."""
    recall: float
    """R@k: share of the relevant documents, the gold ones, in the list."""
    answer: str
    """â; "" where the question has no a*."""


@dataclass(frozen=True, slots=True)
class Stages:
    """The events of Proposition 1 for one question, each within the one before.

    As printed they are not nested, and without that the chain rule does not give the proposition:
    what controls a question can be served although no anchor was found. What is left so is counted
    apart, in `Factors.tca_without`.
    """

    anchor: bool
    """E1: a gold anchor is among the anchors of the first stage."""
    chain: bool
    """E2: and the gold documents are in the closure of the anchors."""
    frontier: bool
    """E3: and TCA is 1."""


@dataclass(frozen=True, slots=True)
class Share:
    """A mean of values in [0, 1] over n questions with its 95% Wilson interval."""

    value: float
    low: float
    high: float
    n: int


class Judge:
    """The gold side of a benchmark: whatever is retrieved is judged by its edges and answers.

    Where it has no edges, its rules are the relation. answer_of: the reader of benchmarks whose
    questions have answers; may be left out where none has. Raises InputError for gold edges that
    make a cycle or name no record, and ValueError where answers have no reader.
    """

    def __init__(self, benchmark: Benchmark, answer_of: AnswerOf | None = None) -> None:
        rules = () if benchmark.edges else benchmark.rules
        self.relation = Authority(benchmark.records, rules, benchmark.edges)
        self._answer_of = answer_of
        if answer_of is None and any(question.answer for question in benchmark.questions):
            raise ValueError(f"{benchmark.name} has answers: a reader is needed to compare with.")

    def figures(self, question: Question, retrieved: Sequence[str]) -> Figures:
        """Return what a list of distinct document ids is worth for a question."""
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

        anchors: what the first stage found and the second looked at. reached: their closure, as
        the pipeline knows the relation; it is not looked at without a gold anchor.
        """
        anchor = has_anchor(question, anchors)
        chain = anchor and all(id_ in reached for id_ in question.gold)
        return Stages(anchor, chain, chain and tca)


def has_anchor(question: Question, retrieved: Iterable[str]) -> bool:
    """Return whether a gold anchor was retrieved; of a question without one, a gold document."""
    return not set(retrieved).isdisjoint(question.anchor or question.gold)


def share(values: Iterable[float | bool | None]) -> Share | None:
    """Return the mean of the values that are there; None where there are none.

    Wilson's interval is that of a proportion; of means of values between 0 and 1 it is
    conservative.
    """
    numbers = [float(value) for value in values if value is not None]
    if not numbers:
        return None
    mean = sum(numbers) / len(numbers)
    low, high = wilson(mean, len(numbers))
    return Share(mean, float(low), float(high), len(numbers))


@dataclass(frozen=True, slots=True)
class Factors:
    """Proposition 1 measured: TCA = anchor x chain x frontier, and what came without an anchor.

    A factor is None where the event before it never happened. Each is a share of the questions in
    which that one did.
    """

    anchor: Share | None
    chain: Share | None
    frontier: Share | None
    product: float
    """Their product: the share of questions in which all three events happened."""
    tca_without: float
    """Share with TCA 1 though an earlier event failed: found by relevance alone, or by luck.
    `product + tca_without` is TCA."""


def factors(stages: Sequence[Stages], tca: Sequence[bool]) -> Factors:
    """Return the factors over questions; `tca[i]` is that of the question of `stages[i]`."""
    anchored = [s for s in stages if s.anchor]
    chained = [s for s in stages if s.chain]
    n = max(len(stages), 1)
    whole = sum(s.frontier for s in stages)
    return Factors(
        anchor=share(s.anchor for s in stages),
        chain=share(s.chain for s in anchored),
        frontier=share(s.frontier for s in chained),
        product=whole / n,
        tca_without=(sum(tca) - whole) / n,
    )


def _part(relevant: Sequence[str], documents: Collection[str]) -> float:
    return sum(id_ in documents for id_ in relevant) / len(relevant) if relevant else 0.0
