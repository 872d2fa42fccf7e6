"""Make the synthetic benchmarks CVEPatchQA and LegalPrecedentQA (CAR 6.7, 6.8), and assemble any.

In both, half of the 500 questions are of type T0 (the anchor is in force), half T1: a later
document supersedes it in the same scope, and shares no word with the question. No two cases share a
scope, so only its own document supersedes an anchor.

An event is a record to be: its type, minute and variant (the seed of its text), and whatever its
texts name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import product
from operator import attrgetter
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Rule, ScopeKey
from argus.authority.times import Moment, parse_moment

START = datetime(2023, 1, 2, tzinfo=UTC)
DAY = 24 * 60  # minutes
EXAMPLES, PERIOD_DAYS = 500, 600
# Chance per distractor of getting the scope of the asking case, in a contaminated corpus.
RATE = 0.02
FLAW = ("product", "cve_id")  # scope of CVEPatchQA
PATCHED = Rule(("patch",), ("disclosure",), tuple(ScopeKey(k, k) for k in FLAW), name="patched")
OTHER_FLAWS, NEAR_DAYS, MENDING_DAYS = 3, 120, 60
OVERRULED = Rule(("overruling",), ("ruling",), (ScopeKey("case", "case"),), name="overruled")
RULINGS, OPINIONS, OVERRULING_DAYS = 1200, 350, 200
Event = Mapping[str, Any]


def load_texts(section: str) -> SimpleNamespace:
    """Return the texts of one benchmark, by their names in a section of texts.toml."""
    file = files("argus.authority.benchmarks").joinpath("texts.toml")
    return SimpleNamespace(**tomllib.loads(file.read_text(encoding="utf-8"))[section])


class Case(NamedTuple):
    """One question with the events of its own, oldest first, and its distractors."""

    text: str
    hop: str
    scope: Mapping[str, str]
    gold: Sequence[Event]
    others: Sequence[Event]


def assemble(
    name: str,
    cases: Sequence[Case],
    rules: Sequence[Rule],
    *,
    record: Callable[[str, Event], Record],
    subject: Sequence[str],
    rate: Callable[[Case], float] | None = None,
    answer: Callable[[Sequence[Record]], str] = lambda active: "",
    seed: int,
) -> Benchmark:
    """Return the benchmark of cases: ids in random order, gold edges by the rules.

    record: makes one of an id and an event. rate: the chance of each distractor to be about the
    subject of the case: the fields `subject` of its first event. The corpus is then contaminated,
    but the edges stay those without contamination. A distractor that is caught at one rate is
    caught at every higher one. None: no contamination.
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
            served.append(clean[-1])
            if rate is not None and chance.random() < rate(case):
                about = {field: case.gold[0][field] for field in subject}
                served[-1] = record(clean[-1].id, {**event, **about})
    by_id = attrgetter("id")
    authority = Authority(sorted(clean, key=by_id), rules)
    edges = [
        Edge(link.superseder, link.superseded, rule=link.rule)
        for id_ in authority.records
        for link in authority.links(id_)
    ]
    served.sort(key=by_id)
    name = name if rate is None else f"{name}-contaminated"
    return Benchmark(name, served, questions, edges, tuple(rules))


def moment(minute: int) -> Moment:
    """Return the moment so many minutes after the beginning of 2023's first working day, UTC."""
    text = (START + timedelta(minutes=minute)).isoformat(timespec="minutes")
    point = parse_moment(f"{text.removesuffix('+00:00')}Z")
    assert point is not None
    return point


security, legal = load_texts("security"), load_texts("legal")
surnames = load_texts("finance")


def make_cvepatchqa(*, seed: int, contaminated: bool = False, hint: bool = False) -> Benchmark:
    """Make CVEPatchQA: is a flaw patched? The same arguments give the same benchmark, to the byte.

    A release note supersedes a disclosure under the same product and CVE id. Each case has four
    distractors: three disclosures of other products and a release note of a fourth. A generic
    question tells two or three of weakness, component, attacker and effect. Other disclosures share
    these, so it sometimes misses its anchor. hint: whether questions name the product.
    contaminated: each distractor gets the scope of the asking case with the chance RATE and keeps
    kind and time.
    """
    rng = Random(f"cvepatchqa {seed}")
    starts, ends = security.PRODUCT_STARTS.split(), security.PRODUCT_ENDS.split()
    products = [start + end for start, end in product(starts, ends)]
    joined = [a + b for a, b in product(products, ("", "lite", "pro"))]
    rng.shuffle(joined)
    numbers = rng.sample(range(100_000, 999_999), len(joined))
    names = ((name, f"CVE-2023-{n}") for name, n in zip(joined, numbers, strict=True))
    return assemble(
        "cvepatchqa",
        [_flaw(number, names, rng, hint) for number in range(EXAMPLES)],
        [PATCHED],
        record=_advisory,
        subject=FLAW,
        rate=(lambda case: RATE) if contaminated else None,
        seed=seed,
    )


def _flaw(number: int, names: Iterator[tuple[str, str]], rng: Random, hint: bool) -> Case:
    """Draw one case. names: products and CVE ids, each once."""

    def disclosure(minute: int) -> Event:
        name, cve_id = next(names)
        return {
            "type": "disclosure", "product": name, "cve_id": cve_id, "minute": minute,
            "weakness": rng.choice(list(security.WEAKNESSES)),
            "component": rng.choice(security.COMPONENTS),
            "attacker": rng.choice(security.ATTACKERS),
            "effect": rng.choice(security.EFFECTS),
            "variant": rng.getrandbits(32),
        }  # fmt: skip

    def note(of: Event) -> Event:
        later = of["minute"] + rng.randrange(DAY, MENDING_DAYS * DAY)
        return {**of, "type": "patch", "minute": later, "variant": rng.getrandbits(32)}

    begin = rng.randrange(NEAR_DAYS * DAY, PERIOD_DAYS * DAY)
    gold = [disclosure(begin)]
    if number % 2:
        gold.append(note(gold[0]))
    others = [
        disclosure(begin + rng.randrange(-NEAR_DAYS * DAY, NEAR_DAYS * DAY))
        for _ in range(OTHER_FLAWS)
    ]
    others.append(note(disclosure(begin)))
    question = rng.choice(security.GENERIC).format(**gold[0])
    if hint:
        question = security.HINT.format(product=gold[0]["product"], question=question)
    return Case(question, f"T{number % 2}", {key: gold[0][key] for key in FLAW}, gold, others)


def _advisory(id_: str, event: Event) -> Record:
    draw = Random(event["variant"])
    major, minor = draw.randrange(1, 12), draw.randrange(0, 20)
    chore, second = draw.sample(security.CHORES, 2)
    templates = security.DISCLOSURES if event["type"] == "disclosure" else security.NOTES
    text = draw.choice(templates).format(
        **event,
        version=f"{major}.{minor}",
        fixed=f"{major}.{minor}.{draw.randrange(1, 9)}",
        severity=draw.choice(security.SEVERITIES),
        change=security.WEAKNESSES[event["weakness"]],
        chore=chore,
        second=second,
        month=draw.choice(security.MONTHS),
    )
    scope = {key: event[key] for key in FLAW}
    return Record(id_, event["type"], time=moment(event["minute"]), scope=scope, text=text)


def make_legalprecedentqa(
    *, seed: int, contaminated: bool = False, hint: bool = False
) -> Benchmark:
    """Make LegalPrecedentQA: does a ruling still stand? The same arguments give the same benchmark.

    An opinion overrules a prior ruling under the same case. There are 1,200 rulings on 75
    doctrines, sixteen on each, of which 700 are distractors, and 350 opinions that overrule rulings
    out of the corpus. A generic question tells the doctrine alone, which leaves sixteen rulings to
    choose from, so five documents hold the one that is meant in about 5/16 of the cases. hint:
    whether questions name the parties. contaminated: as for CVEPatchQA.
    """
    rng = Random(f"legalprecedentqa {seed}")

    def opinion(ruling: Event) -> Event:
        later = ruling["minute"] + rng.randrange(DAY, OVERRULING_DAYS * DAY)
        return {**ruling, "type": "overruling", "minute": later, "variant": rng.getrandbits(32)}

    rulings = _rulings(rng)
    others: list[list[Event]] = [[] for _ in range(EXAMPLES)]
    for number, ruling in enumerate(rulings[EXAMPLES:]):
        event = ruling if number < RULINGS - EXAMPLES else opinion(ruling)
        others[number % EXAMPLES].append(event)
    cases = []
    for number, ruling in enumerate(rulings[:EXAMPLES]):
        gold = [ruling, opinion(ruling)] if number % 2 else [ruling]
        question = rng.choice(legal.GENERIC).format(**ruling)
        if hint:
            question = legal.HINT.format(question=question, **ruling)
        scope = {"case": _case_name(ruling)}
        cases.append(Case(question, f"T{number % 2}", scope, gold, others[number]))
    return assemble(
        "legalprecedentqa",
        cases,
        [OVERRULED],
        record=_opinion,
        subject=("plaintiff", "defendant", "cite"),
        rate=(lambda case: RATE) if contaminated else None,
        seed=seed,
    )


def _rulings(rng: Random) -> list[Event]:
    """Return the rulings of the corpus, then those that only an opinion in it tells of."""
    parties = [a + b for a, b in product(surnames.SURNAME_STARTS, surnames.SURNAME_ENDS)]
    rng.shuffle(parties)
    n = RULINGS + OPINIONS
    plaintiffs, defendants = parties[:n], parties[n:]
    doctrines = rng.sample(legal.DOCTRINES, len(legal.DOCTRINES))
    pages = rng.sample(range(100_000, 900_000), n)
    return [
        {
            "type": "ruling", "plaintiff": plaintiff, "defendant": rng.choice(defendants),
            "doctrine": doctrines[number % len(doctrines)],
            "minute": rng.randrange(PERIOD_DAYS * DAY),
            "cite": f"{page // 1000} Rep. {page % 1000}", "variant": rng.getrandbits(32),
        }
        for number, (plaintiff, page) in enumerate(zip(plaintiffs, pages, strict=True))
    ]  # fmt: skip


def _case_name(event: Event) -> str:
    return f"{event['plaintiff']} v. {event['defendant']}"


def _opinion(id_: str, event: Event) -> Record:
    draw = Random(event["variant"])
    templates = legal.RULINGS if event["type"] == "ruling" else legal.OPINIONS
    text = draw.choice(templates).format(
        **event, setting=draw.choice(legal.SETTINGS), holding=draw.choice(legal.HOLDINGS)
    )
    scope = {"case": _case_name(event)}
    return Record(id_, event["type"], time=moment(event["minute"]), scope=scope, text=text)
