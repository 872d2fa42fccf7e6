"""CVEPatchQA: is a flaw patched? 500 questions about disclosures and release notes (CAR 6.7, 6.8).

Half of the questions are of type T0 (no release note: the disclosure is in force), half T1: a
release note supersedes it under the same product and CVE id, and shares no word with the question.
Each case has four distractors: three disclosures of other products and a release note of a
fourth. No two cases share a product or CVE id, so only its own note supersedes an anchor.

A generic question tells two or three of weakness, component, attacker and effect. Other disclosures
share these, so it sometimes misses its anchor. With hint it names the product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.drawing import DAY, Case, assemble, load_texts, moment
from argus.authority.records import Record
from argus.authority.rules import Rule, ScopeKey

texts = load_texts("security")
EXAMPLES = 500
OTHER_FLAWS = 3
PERIOD_DAYS, NEAR_DAYS, MENDING_DAYS = 600, 120, 60
# Chance per distractor of getting the scope of the asking case, in a contaminated corpus.
RATE = 0.02
SCOPE = ("product", "cve_id")
RULES = (Rule(("patch",), ("disclosure",), tuple(ScopeKey(k, k) for k in SCOPE), name="patched"),)


@dataclass(frozen=True, slots=True)
class Event:
    """A disclosure or a release note to be.

    fields: the flaw's facts, for the blanks of its texts.
    """

    type: str
    product: str
    cve_id: str
    minute: int
    fields: tuple[tuple[str, str], ...]
    variant: int


def make(*, seed: int, contaminated: bool = False, hint: bool = False) -> Benchmark:
    """Make CVEPatchQA. The same arguments give the same benchmark, to the byte.

    hint: whether questions name the product. contaminated: each distractor gets the scope of the
    asking case with the chance RATE and keeps kind and time.
    """
    rng = Random(f"cvepatchqa {seed}")
    names = _names(rng)
    cases = [_case(number, names, rng, hint=hint) for number in range(EXAMPLES)]
    return assemble(
        "cvepatchqa",
        cases,
        RULES,
        record=_record,
        rekeyed=_rekeyed if contaminated else None,
        rate=lambda case: RATE,
        seed=seed,
    )


def _names(rng: Random) -> Iterator[tuple[str, str]]:
    """Yield products and CVE ids, each once."""
    starts, ends = texts.PRODUCT_STARTS.split(), texts.PRODUCT_ENDS.split()
    products = [start + end for start, end in product(starts, ends)]
    joined = [a + b for a, b in product(products, ("", "lite", "pro"))]
    rng.shuffle(joined)
    numbers = rng.sample(range(100_000, 999_999), len(joined))
    return ((name, f"CVE-2023-{n}") for name, n in zip(joined, numbers, strict=True))


def _case(number: int, names: Iterator[tuple[str, str]], rng: Random, *, hint: bool) -> Case[Event]:
    begin = rng.randrange(NEAR_DAYS * DAY, PERIOD_DAYS * DAY)
    disclosure = _disclosure(next(names), begin, rng)
    gold = [disclosure]
    if number % 2:
        gold.append(_note(disclosure, rng))
    others = [
        _disclosure(next(names), begin + rng.randrange(-NEAR_DAYS * DAY, NEAR_DAYS * DAY), rng)
        for _ in range(OTHER_FLAWS)
    ]
    others.append(_note(_disclosure(next(names), begin, rng), rng))
    scope = {"product": disclosure.product, "cve_id": disclosure.cve_id}
    question = rng.choice(texts.GENERIC).format(**dict(disclosure.fields))
    if hint:
        question = texts.HINT.format(product=disclosure.product, question=question)
    return Case(question, f"T{number % 2}", scope, gold, others)


def _disclosure(name: tuple[str, str], minute: int, rng: Random) -> Event:
    fields = {
        "weakness": rng.choice(list(texts.WEAKNESSES)),
        "component": rng.choice(texts.COMPONENTS),
        "attacker": rng.choice(texts.ATTACKERS),
        "effect": rng.choice(texts.EFFECTS),
    }
    return Event("disclosure", *name, minute, tuple(fields.items()), rng.getrandbits(32))


def _note(disclosure: Event, rng: Random) -> Event:
    later = disclosure.minute + rng.randrange(DAY, MENDING_DAYS * DAY)
    return replace(disclosure, type="patch", minute=later, variant=rng.getrandbits(32))


def _rekeyed(event: Event, case: Event) -> Event:
    return replace(event, product=case.product, cve_id=case.cve_id)


def _record(id_: str, event: Event) -> Record:
    draw = Random(event.variant)
    fields = dict(event.fields)
    major, minor = draw.randrange(1, 12), draw.randrange(0, 20)
    chore, second = draw.sample(texts.CHORES, 2)
    templates = texts.DISCLOSURES if event.type == "disclosure" else texts.NOTES
    text = draw.choice(templates).format(
        **fields,
        product=event.product,
        cve_id=event.cve_id,
        version=f"{major}.{minor}",
        fixed=f"{major}.{minor}.{draw.randrange(1, 9)}",
        severity=draw.choice(texts.SEVERITIES),
        change=texts.WEAKNESSES[fields["weakness"]],
        chore=chore,
        second=second,
        month=draw.choice(texts.MONTHS),
    )
    scope = {"product": event.product, "cve_id": event.cve_id}
    return Record(id_, event.type, time=moment(event.minute), scope=scope, text=text)
