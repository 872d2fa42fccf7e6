"""LegalPrecedentQA: does a ruling still stand? 500 questions on 75 doctrines (CAR 6.7, 6.8).

Half of the questions are of type T0 (the prior ruling stands), half T1: a later opinion overrules
it under the same case, and shares no word with the question. There are 1,200 rulings, sixteen on
each doctrine, of which 700 are distractors, and 350 opinions that overrule rulings out of the
corpus. No two cases share a plaintiff, so only its own opinion supersedes an anchor.

A generic question tells the doctrine alone, which leaves sixteen rulings to choose from, so five
documents hold the one that is meant in about 5/16 of the cases. With hint it names the parties.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from random import Random

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.drawing import DAY, Case, assemble, load_texts, moment
from argus.authority.records import Record
from argus.authority.rules import Rule, ScopeKey

texts, names = load_texts("legal"), load_texts("finance")
EXAMPLES, RULINGS, OPINIONS = 500, 1200, 350
PERIOD_DAYS, NEAR_DAYS = 600, 200
# Chance per distractor of getting the scope of the asking case, in a contaminated corpus.
RATE = 0.02
RULES = (Rule(("overruling",), ("ruling",), (ScopeKey("case", "case"),), name="overruled"),)


@dataclass(frozen=True, slots=True)
class Event:
    """A ruling, or an opinion that overrules it, to be."""

    type: str
    plaintiff: str
    defendant: str
    doctrine: str
    minute: int
    cite: str
    variant: int


def make(*, seed: int, contaminated: bool = False, hint: bool = False) -> Benchmark:
    """Make LegalPrecedentQA. The same arguments give the same benchmark, to the byte.

    hint: whether questions name the parties. contaminated: each distractor gets the scope of the
    asking case with the chance RATE and keeps kind and time.
    """
    rng = Random(f"legalprecedentqa {seed}")
    rulings = _rulings(rng)
    others: list[list[Event]] = [[] for _ in range(EXAMPLES)]
    for number, ruling in enumerate(rulings[EXAMPLES:]):
        event = ruling if number < RULINGS - EXAMPLES else _opinion(ruling, rng)
        others[number % EXAMPLES].append(event)
    cases = [
        _case(number, rulings[number], others[number], rng, hint) for number in range(EXAMPLES)
    ]
    return assemble(
        "legalprecedentqa",
        cases,
        RULES,
        record=_record,
        rekeyed=_rekeyed if contaminated else None,
        rate=lambda case: RATE,
        seed=seed,
    )


def _rulings(rng: Random) -> list[Event]:
    """Return the rulings of the corpus, then those that only an opinion in it tells of."""
    surnames = [start + end for start, end in product(names.SURNAME_STARTS, names.SURNAME_ENDS)]
    rng.shuffle(surnames)
    n = RULINGS + OPINIONS
    plaintiffs, defendants = surnames[:n], surnames[n:]
    doctrines = rng.sample(texts.DOCTRINES, len(texts.DOCTRINES))
    pages = rng.sample(range(100_000, 900_000), n)
    return [
        Event(
            "ruling",
            plaintiff,
            rng.choice(defendants),
            doctrines[number % len(doctrines)],
            rng.randrange(PERIOD_DAYS * DAY),
            f"{page // 1000} Rep. {page % 1000}",
            rng.getrandbits(32),
        )
        for number, (plaintiff, page) in enumerate(zip(plaintiffs, pages, strict=True))
    ]


def _case(number: int, ruling: Event, others: list[Event], rng: Random, hint: bool) -> Case[Event]:
    gold = [ruling]
    if number % 2:
        gold.append(_opinion(ruling, rng))
    question = rng.choice(texts.GENERIC).format(doctrine=ruling.doctrine)
    if hint:
        question = texts.HINT.format(
            question=question, plaintiff=ruling.plaintiff, defendant=ruling.defendant
        )
    return Case(question, f"T{number % 2}", {"case": _name(ruling)}, gold, others)


def _opinion(ruling: Event, rng: Random) -> Event:
    later = ruling.minute + rng.randrange(DAY, NEAR_DAYS * DAY)
    return replace(ruling, type="overruling", minute=later, variant=rng.getrandbits(32))


def _rekeyed(event: Event, case: Event) -> Event:
    return replace(event, plaintiff=case.plaintiff, defendant=case.defendant, cite=case.cite)


def _name(event: Event) -> str:
    return f"{event.plaintiff} v. {event.defendant}"


def _record(id_: str, event: Event) -> Record:
    draw = Random(event.variant)
    templates = texts.RULINGS if event.type == "ruling" else texts.OPINIONS
    text = draw.choice(templates).format(
        plaintiff=event.plaintiff,
        defendant=event.defendant,
        doctrine=event.doctrine,
        cite=event.cite,
        setting=draw.choice(texts.SETTINGS),
        holding=draw.choice(texts.HOLDINGS),
    )
    scope = {"case": _name(event)}
    return Record(id_, event.type, time=moment(event.minute), scope=scope, text=text)
