"""What the makers of benchmarks share: from drawn cases to a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Generic, TypeVar

from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Rule
from argus.authority.times import Moment, parse_moment

START = datetime(2023, 1, 2, tzinfo=UTC)
DAY = 24 * 60
"""Minutes."""

Event = TypeVar("Event")
"""A record to be, as a maker draws it."""


@dataclass(frozen=True)
class Case(Generic[Event]):
    """One question with the events of its own, oldest first, and its distractors."""

    text: str
    hop: str
    scope: Mapping[str, str]
    gold: Sequence[Event]
    others: Sequence[Event]


def assemble(
    name: str,
    cases: Sequence[Case[Event]],
    rules: Sequence[Rule],
    *,
    record: Callable[[str, Event], Record],
    rekeyed: Callable[[Event, Event], Event] | None = None,
    rate: Callable[[Case[Event]], float] = lambda case: 0.0,
    answer: Callable[[Sequence[Record]], str] = lambda active: "",
    seed: int,
) -> Benchmark:
    """Return the benchmark of cases: ids in random order, gold edges by the rules.

    record: makes one of an id and an event. rekeyed: a distractor as an event of the scope that the
    case's first event has; each gets it with the chance that `rate` gives, in which case the corpus
    is contaminated, and the edges stay those without. A distractor that is caught at one rate is
    caught at every higher one.
    """
    ids = _shuffled_ids(sum(len(case.gold) + len(case.others) for case in cases), name, seed)
    chance = Random(f"{name} {seed} contamination")
    clean: list[Record] = []
    served: list[Record] = []
    questions: list[Question] = []
    for number, case in enumerate(cases, 1):
        chain = [record(next(ids), event) for event in case.gold]
        clean += chain
        served += chain
        id_ = f"q{number:0{len(str(len(cases)))}}"
        questions.append(_question(id_, case, chain, answer(chain[-1:])))
        for event in case.others:
            clean.append(record(next(ids), event))
            caught = chance.random() < rate(case)
            if caught and rekeyed is not None:
                served.append(record(clean[-1].id, rekeyed(event, case.gold[0])))
            else:
                served.append(clean[-1])
    contaminated = "-contaminated" if rekeyed is not None else ""
    edges = _edges(_by_id(clean), rules)
    return Benchmark(f"{name}{contaminated}", _by_id(served), questions, edges, tuple(rules))


def moment(minute: int) -> Moment:
    """Return the moment so many minutes after the beginning of 2023's first working day, UTC."""
    text = (START + timedelta(minutes=minute)).isoformat(timespec="minutes")
    point = parse_moment(f"{text.removesuffix('+00:00')}Z")
    if point is None:
        raise ValueError(f"{text} is no time")
    return point


def _shuffled_ids(n: int, name: str, seed: int) -> Iterator[str]:
    """Yield ids in random order, so that neither an id nor the order of ids tells anything."""
    numbers = list(range(1, n + 1))
    Random(f"{name} {seed} ids").shuffle(numbers)
    width = len(str(n))
    return (f"d{number:0{width}}" for number in numbers)


def _question(id_: str, case: Case[Event], chain: Sequence[Record], answer: str) -> Question:
    gold = (chain[-1].id,)
    return Question(
        id_,
        case.text,
        gold,
        anchor=(chain[0].id,),
        chain=tuple(record.id for record in chain),
        equivalent=gold,
        scope=case.scope,
        answer=answer,
        hop=case.hop,
    )


def _by_id(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record.id)


def _edges(records: Iterable[Record], rules: Sequence[Rule]) -> list[Edge]:
    """Return every direct supersession that the rules find, in the order of the records."""
    authority = Authority(records, rules)
    return [
        Edge(link.superseder, link.superseded, rule=link.rule)
        for id_ in authority.records
        for link in authority.links(id_)
    ]
