"""Build a synthetic benchmark from drawn cases."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from operator import attrgetter
from random import Random
from types import SimpleNamespace
from typing import Generic, TypeVar

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Rule
from argus.authority.times import Moment, parse_moment

START = datetime(2023, 1, 2, tzinfo=UTC)
DAY = 24 * 60  # minutes

Event = TypeVar("Event")  # a record to be, as a maker draws it


def load_texts(section: str) -> SimpleNamespace:
    """Return the texts of one benchmark, by their names in a section of texts.toml."""
    file = files("argus.authority.benchmarks").joinpath("texts.toml")
    return SimpleNamespace(**tomllib.loads(file.read_text(encoding="utf-8"))[section])


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
    case's first event has. Each gets it with the chance that `rate` gives. The corpus is then
    contaminated, but the edges stay those without contamination. A distractor that is caught at one
    rate is caught at every higher one.
    """
    numbers = list(range(1, 1 + sum(len(case.gold) + len(case.others) for case in cases)))
    Random(f"{name} {seed} ids").shuffle(numbers)  # so that neither id nor order tells anything
    ids = (f"d{number:0{len(str(len(numbers)))}}" for number in numbers)
    chance = Random(f"{name} {seed} contamination")
    clean: list[Record] = []
    served: list[Record] = []
    questions: list[Question] = []
    for number, case in enumerate(cases, 1):
        chain = [record(next(ids), event) for event in case.gold]
        clean += chain
        served += chain
        gold = (chain[-1].id,)
        questions.append(
            Question(
                f"q{number:0{len(str(len(cases)))}}", case.text, gold, anchor=(chain[0].id,),
                chain=tuple(record.id for record in chain), equivalent=gold, scope=case.scope,
                answer=answer(chain[-1:]), hop=case.hop,
            )
        )  # fmt: skip
        for event in case.others:
            clean.append(record(next(ids), event))
            caught = chance.random() < rate(case)
            if caught and rekeyed is not None:
                served.append(record(clean[-1].id, rekeyed(event, case.gold[0])))
            else:
                served.append(clean[-1])
    contaminated = "-contaminated" if rekeyed is not None else ""
    by_id = attrgetter("id")
    authority = Authority(sorted(clean, key=by_id), rules)
    edges = [
        Edge(link.superseder, link.superseded, rule=link.rule)
        for id_ in authority.records
        for link in authority.links(id_)
    ]
    served.sort(key=by_id)
    return Benchmark(f"{name}{contaminated}", served, questions, edges, tuple(rules))


def moment(minute: int) -> Moment:
    """Return the moment so many minutes after the beginning of 2023's first working day, UTC."""
    text = (START + timedelta(minutes=minute)).isoformat(timespec="minutes")
    point = parse_moment(f"{text.removesuffix('+00:00')}Z")
    if point is None:
        raise ValueError(f"{text} is no time")
    return point
