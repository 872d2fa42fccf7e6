"""FinSuperQA: employee trading compliance, 1,000 questions over 12,250 events (CAR section 4).

Per hop type 250 questions (T0 to T3), each about a pair (employee, ticker) of its own out of a pool
of 6,000, with a chain of 1, 2, 3 or 3 events and ten distractors: four of the same employee and
another ticker, three of other employees and the same ticker, three of neither.

It differs from the published generator where that leaks the gold or leaves the relation open:

* There, blackouts are keyed to the asking employee although their text names none, so that looking
  up the pair finds the answer. Here an event's scope holds the names in its text: a blackout the
  issuer, an exception the issuer and a staff number, a policy nobody. A blackout that someone is
  excepted from is addressed to four employees and lists their numbers, since an exception (R3) must
  not lift it for anybody else.
* R1 says "same ticker". Pairs that are disjoint would still supersede each other's events, so no
  two questions share a ticker, and restrictions of distractors fall on tickers that nobody asks
  about. The closure of each anchor in the whole corpus is the gold chain, by the rules alone.
* Other employees clear trades in an asked ticker before and after the case, so that the latest
  event of a ticker is not the answer.
* Superseding events are written in another register (texts.toml). They share no word with the
  question, neither employee nor ticker.

Contaminated, distractors become events of the asking employee and ticker, each by chance, and keep
kind and time. Their texts say so: only the rules tell them from the case. Gold stays as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from random import Random

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.drawing import DAY, Case, assemble, load_texts, moment
from argus.authority.benchmarks.judging import derive
from argus.authority.domains import load_domain
from argus.authority.records import Record

texts = load_texts("finance")
RULES = load_domain("trading").rules  # R1 to R10 of Appendix A
HOPS = ("T0", "T1", "T2", "T3")
EXAMPLES = 1000
BYSTANDERS, CALM, RESTRICTED = 500, 500, 200
"""Employees who never ask. Tickers nobody asks about, without restrictions, and with them."""
SAME_EMPLOYEE = ("PreClearanceApproved",) * 3 + ("ConflictDisclosed",)
SAME_TICKER, RANDOM = 3, 3
"""Distractors per example: types of those of the same employee, number of the two other kinds."""
LISTED = 3  # Employees besides the asking one that a blackout with an exception is addressed to
PERIOD_DAYS, NEAR_DAYS = 600, 60
"""Cases begin in that period. Their distractors lie that near to the first event."""

CHAINS: dict[str, tuple[tuple[str, ...], ...]] = {
    "T0": (("PreClearanceApproved",),),
    "T1": (
        ("PreClearanceApproved", "BlackoutAnnounced"),
        ("PreClearanceApproved", "WatchlistAdded"),
    ),
    "T2": (
        ("PreClearanceApproved", "BlackoutAnnounced", "EmergencyException"),
        ("PreClearanceApproved", "BlackoutAnnounced", "BlackoutLifted"),
        ("PreClearanceApproved", "WatchlistAdded", "WatchlistRemoved"),
    ),
}
CHAINS["T3"] = CHAINS["T2"]
COMMON = tuple(type_ for type_ in texts.ABOUT if type_ != "PolicyUpdate")
# Of random events, that are policy updates; the rest are of the other kinds alike.
UPDATE_SHARE = 0.01


@dataclass(frozen=True)
class Rates:
    """Chance per distractor of getting the scope of the asking pair, in a contaminated corpus.

    within: in cases of one provenance (T0 to T2). across: in cases of two (T3), where the events of
    a pair are gathered from several feeds.
    """

    within: float = 0.0
    across: float = 0.0


# At which resolving by scope and time alone, the latest event of the anchor's pair, falls to the
# paper's 0.911 overall and 0.652 on T3 (Table 3), in the mean over seeds 0 to 3. No pipeline that
# knows the rules took part in setting them.
RATES = Rates(within=0.001, across=0.13)


@dataclass(frozen=True, slots=True)
class Event:
    """A record to be: its subject in full, and the material of its text.

    keys: which of employee and ticker its scope holds.
    listed: all employees that it is addressed to, the one among them. None where it lists nobody.
    """

    type: str
    employee: str
    ticker: str
    minute: int
    provenance: str
    variant: int
    keys: tuple[str, ...]
    listed: tuple[str, ...] = ()


@dataclass(frozen=True)
class World:
    """Employees and tickers, drawn once per benchmark.

    cases: employee and ticker of each. own: per case the other, calm tickers of its employee.
    others: per case the other employees of its ticker. elsewhere: pairs of neither, some
    restricted. Together they are the pool of 6,000 pairs. bystanders: employees who never ask.
    """

    cases: list[tuple[str, str]]
    own: list[tuple[str, ...]]
    others: list[tuple[str, ...]]
    elsewhere: list[tuple[str, str]]
    bystanders: list[str]
    issuers: dict[str, str]
    staff: dict[str, str]

    @property
    def pool(self) -> list[tuple[str, str]]:
        """Return all pairs, each once."""
        pairs = list(self.cases)
        for (employee, ticker), tickers, people in zip(
            self.cases, self.own, self.others, strict=True
        ):
            pairs += [(employee, other) for other in tickers]
            pairs += [(other, ticker) for other in people]
        return pairs + self.elsewhere


def make(*, seed: int, contaminated: bool = False, rates: Rates = RATES) -> Benchmark:
    """Make FinSuperQA. The same arguments give the same benchmark, to the byte.

    rates: of contamination, not used without it. With one seed the contaminated corpus holds the
    same questions and events, and less contamination a subset of more.
    """
    rng = Random(f"finsuperqa {seed}")
    world = _world(rng)

    def rate(case: Case[Event]) -> float:
        return rates.across if case.hop == "T3" else rates.within

    return assemble(
        "finsuperqa",
        [_case(number, world, rng) for number in range(EXAMPLES)],
        RULES,
        record=partial(_record, world=world),
        rekeyed=_rekeyed if contaminated else None,
        rate=rate,
        answer=derive,
        seed=seed,
    )


def _world(rng: Random) -> World:
    surnames = [start + end for start, end in product(texts.SURNAME_STARTS, texts.SURNAME_ENDS)]
    people = [
        f"{rng.choice(texts.FIRST_NAMES)} {surname}"
        for surname in rng.sample(surnames, EXAMPLES + BYSTANDERS)
    ]
    tickers = _tickers(EXAMPLES + CALM + RESTRICTED, rng)
    issuers = rng.sample(list(product(texts.ISSUER_NAMES, texts.ISSUER_TRADES)), len(tickers))
    staff = rng.sample(range(20_000, 90_000), len(people))
    bystanders = people[EXAMPLES:]
    calm = tickers[EXAMPLES : EXAMPLES + CALM]
    restricted = tickers[EXAMPLES + CALM :]
    return World(
        cases=list(zip(people[:EXAMPLES], tickers, strict=False)),
        own=[tuple(rng.sample(calm, 2)) for _ in range(EXAMPLES)],
        others=[tuple(rng.sample(bystanders, 2)) for _ in range(EXAMPLES)],
        elsewhere=[(person, t) for t in restricted for person in rng.sample(bystanders, 5)],
        bystanders=bystanders,
        issuers={
            ticker: f"{name} {trade} {rng.choice(texts.ISSUER_FORMS)}"
            for ticker, (name, trade) in zip(tickers, issuers, strict=True)
        },
        staff={person: str(number) for person, number in zip(people, staff, strict=True)},
    )


def _tickers(n: int, rng: Random) -> list[str]:
    tickers: dict[str, None] = {}
    while len(tickers) < n:
        tickers["".join(rng.choices(texts.TICKER_LETTERS, k=4))] = None
    return list(tickers)


def _case(number: int, world: World, rng: Random) -> Case[Event]:
    hop = HOPS[number % len(HOPS)]
    employee, ticker = world.cases[number]
    begin = rng.randrange(NEAR_DAYS * DAY, PERIOD_DAYS * DAY)
    desk = _provenance(rng.choice(texts.DESKS), rng)
    minute, gold = begin, []
    chain = rng.choice(CHAINS[hop])
    for type_ in chain:
        gold.append(_event(type_, employee, ticker, minute, desk, rng))
        if type_ == "BlackoutAnnounced" and "EmergencyException" in chain:
            gold[-1] = _addressed(gold[-1], world, rng)
        minute += rng.randrange(DAY // 4, 10 * DAY)
    if hop == "T3":
        gold[-1] = replace(gold[-1], provenance=_provenance(rng.choice(texts.OTHER_DESKS), rng))

    scope = {"employee": employee, "ticker": ticker}
    others = _distractors(number, begin, world, rng)
    return Case(texts.QUESTIONS[hop].format(**scope), hop, scope, gold, others)


def _distractors(number: int, begin: int, world: World, rng: Random) -> list[Event]:
    """Return the distractors of a case whose first event is at minute `begin`."""
    employee, ticker = world.cases[number]

    def near() -> int:
        return begin + rng.randrange(-NEAR_DAYS * DAY, NEAR_DAYS * DAY)

    def event(type_: str, employee: str, ticker: str, minute: int) -> Event:
        desk = _provenance(rng.choice(texts.DESKS), rng)
        return _event(type_, employee, ticker, minute, desk, rng)

    events = [
        event(type_, employee, rng.choice(world.own[number]), near()) for type_ in SAME_EMPLOYEE
    ]
    for _ in range(SAME_TICKER):
        person = rng.choice(world.others[number])
        events.append(event("PreClearanceApproved", person, ticker, near()))
    for _ in range(RANDOM):
        type_ = "PolicyUpdate" if rng.random() < UPDATE_SHARE else rng.choice(COMMON)
        events.append(event(type_, *rng.choice(world.elsewhere), near()))
    return events


def _provenance(desk: str, rng: Random) -> str:
    return f"{desk} / session {rng.randrange(1000, 10_000)}"


def _event(
    type_: str, employee: str, ticker: str, minute: int, provenance: str, rng: Random
) -> Event:
    keys = tuple(texts.ABOUT[type_])
    return Event(type_, employee, ticker, minute, provenance, rng.getrandbits(32), keys)


def _rekeyed(event: Event, case: Event) -> Event:
    """Return a distractor as an event of the asking pair."""
    return replace(event, employee=case.employee, ticker=case.ticker)


def _addressed(event: Event, world: World, rng: Random) -> Event:
    """Return a blackout for its employee and a few others, who are listed in it."""
    people = [event.employee, *rng.sample(world.bystanders, LISTED)]
    return replace(event, keys=("employee", "ticker"), listed=tuple(sorted(people)))


def _record(id_: str, event: Event, world: World) -> Record:
    draw = Random(event.variant)
    templates = texts.ADDRESSED if event.listed else texts.TEMPLATES[event.type]
    numbers = [world.staff[person] for person in event.listed]
    text = draw.choice(templates).format(
        list=", ".join(sorted(numbers)),
        employee=event.employee,
        ticker=event.ticker,
        issuer=world.issuers[event.ticker],
        staff=world.staff[event.employee],
        shares=50 * draw.randrange(1, 60),
        days=draw.randrange(2, 10),
        team=draw.randrange(11, 99),
        role=draw.choice(texts.ROLES),
        edition=draw.randrange(2, 20),
    )
    entities = {"employee": event.listed or event.employee, "ticker": event.ticker}
    return Record(
        id_,
        event.type,
        time=moment(event.minute),
        scope={key: entities[key] for key in event.keys},
        text=text,
        metadata={"provenance": event.provenance},
    )
