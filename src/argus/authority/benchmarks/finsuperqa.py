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

from functools import partial
from itertools import product
from random import Random
from types import SimpleNamespace

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.judging import derive
from argus.authority.benchmarks.synthetic import DAY, Case, Event, assemble, load_texts, moment
from argus.authority.domains import load_domain
from argus.authority.records import Record

texts = load_texts("finance")
RULES = load_domain("trading").rules  # R1 to R10 of Appendix A
HOPS = ("T0", "T1", "T2", "T3")
EXAMPLES = 1000
# Employees who never ask. Tickers nobody asks about, without restrictions, and with them.
BYSTANDERS, CALM, RESTRICTED = 500, 500, 200
# Distractors per example: types of those of the same employee, number of the two other kinds.
SAME_EMPLOYEE = ("PreClearanceApproved",) * 3 + ("ConflictDisclosed",)
SAME_TICKER, RANDOM = 3, 3
LISTED = 3  # Employees besides the asking one that a blackout with an exception is addressed to
# Cases begin in that period. Their distractors lie that near to the first event.
PERIOD_DAYS, NEAR_DAYS = 600, 60
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


# Chance per distractor of getting the scope of the asking pair, in a contaminated corpus: in cases
# of one provenance (T0 to T2), and of two (T3), where the events of a pair come from several
# feeds. At these rates resolving by scope and time alone, the latest event of the anchor's pair,
# falls to the paper's 0.911 overall and 0.652 on T3 (Table 3), in the mean over seeds 0 to 3. No
# pipeline that knows the rules took part in setting them.
RATES = (0.001, 0.13)


def make(*, seed: int, contaminated: bool = False, rates: tuple[float, float] = RATES) -> Benchmark:
    """Make FinSuperQA. The same arguments give the same benchmark, to the byte.

    rates: of contamination, not used without it. With one seed the contaminated corpus holds the
    same questions and events, and less contamination a subset of more.
    """
    rng = Random(f"finsuperqa {seed}")
    world = _draw_world(rng)

    def rate(case: Case) -> float:
        return rates[case.hop == "T3"]

    return assemble(
        "finsuperqa",
        [_case(number, world, rng) for number in range(EXAMPLES)],
        RULES,
        record=partial(_record, world=world),
        subject=("employee", "ticker"),
        rate=rate if contaminated else None,
        answer=derive,
        seed=seed,
    )


def _draw_world(rng: Random) -> SimpleNamespace:
    """Return employees and tickers, drawn once per benchmark.

    cases: employee and ticker of each. own: per case two other, calm tickers of its employee.
    others: per case two other employees of its ticker. elsewhere: pairs of neither, restricted.
    Together they are the pool of 6,000 pairs. bystanders: employees who never ask. issuers: name by
    ticker. staff: number by employee.
    """
    surnames = [start + end for start, end in product(texts.SURNAME_STARTS, texts.SURNAME_ENDS)]
    people = [
        f"{rng.choice(texts.FIRST_NAMES)} {surname}"
        for surname in rng.sample(surnames, EXAMPLES + BYSTANDERS)
    ]
    drawn: dict[str, None] = {}
    while len(drawn) < EXAMPLES + CALM + RESTRICTED:
        drawn["".join(rng.choices(texts.TICKER_LETTERS, k=4))] = None
    tickers = list(drawn)
    issuers = rng.sample(list(product(texts.ISSUER_NAMES, texts.ISSUER_TRADES)), len(tickers))
    staff = rng.sample(range(20_000, 90_000), len(people))
    bystanders = people[EXAMPLES:]
    calm = tickers[EXAMPLES : EXAMPLES + CALM]
    restricted = tickers[EXAMPLES + CALM :]
    return SimpleNamespace(
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


def _case(number: int, world: SimpleNamespace, rng: Random) -> Case:
    hop = HOPS[number % len(HOPS)]
    employee, ticker = world.cases[number]
    begin = minute = rng.randrange(NEAR_DAYS * DAY, PERIOD_DAYS * DAY)
    desk = _provenance(rng.choice(texts.DESKS), rng)
    gold: list[Event] = []
    chain = rng.choice(CHAINS[hop])
    for type_ in chain:
        gold.append(_event(type_, employee, ticker, minute, desk, rng))
        if type_ == "BlackoutAnnounced" and "EmergencyException" in chain:
            people = [employee, *rng.sample(world.bystanders, LISTED)]
            listed = {"keys": ("employee", "ticker"), "listed": tuple(sorted(people))}
            gold[-1] = {**gold[-1], **listed}  # addressed to its employee and a few others
        minute += rng.randrange(DAY // 4, 10 * DAY)
    if hop == "T3":
        desk = _provenance(rng.choice(texts.OTHER_DESKS), rng)
        gold[-1] = {**gold[-1], "provenance": desk}
    scope = {"employee": employee, "ticker": ticker}
    others = _distractors(number, begin, world, rng)
    return Case(texts.QUESTIONS[hop].format(**scope), hop, scope, gold, others)


def _distractors(number: int, begin: int, world: SimpleNamespace, rng: Random) -> list[Event]:
    """Return the distractors of a case whose first event is at minute `begin`."""
    employee, ticker = world.cases[number]

    def event(type_: str, employee: str, ticker: str) -> Event:
        minute = begin + rng.randrange(-NEAR_DAYS * DAY, NEAR_DAYS * DAY)
        desk = _provenance(rng.choice(texts.DESKS), rng)
        return _event(type_, employee, ticker, minute, desk, rng)

    events = [event(type_, employee, rng.choice(world.own[number])) for type_ in SAME_EMPLOYEE]
    people = world.others[number]
    events += [
        event("PreClearanceApproved", rng.choice(people), ticker) for _ in range(SAME_TICKER)
    ]
    for _ in range(RANDOM):
        type_ = "PolicyUpdate" if rng.random() < UPDATE_SHARE else rng.choice(COMMON)
        events.append(event(type_, *rng.choice(world.elsewhere)))
    return events


def _provenance(desk: str, rng: Random) -> str:
    return f"{desk} / session {rng.randrange(1000, 10_000)}"


def _event(
    type_: str, employee: str, ticker: str, minute: int, provenance: str, rng: Random
) -> Event:
    """Return an event. keys: which of employee and ticker its scope holds.

    listed: all employees that it is addressed to, the one among them. Empty where it lists nobody.
    """
    return {
        "type": type_, "employee": employee, "ticker": ticker, "minute": minute,
        "provenance": provenance, "variant": rng.getrandbits(32),
        "keys": tuple(texts.ABOUT[type_]), "listed": (),
    }  # fmt: skip


def _record(id_: str, event: Event, world: SimpleNamespace) -> Record:
    draw = Random(event["variant"])
    listed, employee, ticker = event["listed"], event["employee"], event["ticker"]
    templates = texts.ADDRESSED if listed else texts.TEMPLATES[event["type"]]
    text = draw.choice(templates).format(
        list=", ".join(sorted(world.staff[person] for person in listed)),
        employee=employee,
        ticker=ticker,
        issuer=world.issuers[ticker],
        staff=world.staff[employee],
        shares=50 * draw.randrange(1, 60),
        days=draw.randrange(2, 10),
        team=draw.randrange(11, 99),
        role=draw.choice(texts.ROLES),
        edition=draw.randrange(2, 20),
    )
    entities = {"employee": listed or employee, "ticker": ticker}
    return Record(
        id_,
        event["type"],
        time=moment(event["minute"]),
        scope={key: entities[key] for key in event["keys"]},
        text=text,
        metadata={"provenance": event["provenance"]},
    )
