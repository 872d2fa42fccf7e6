"""CVEPatchQA and LegalPrecedentQA: made alike, of different texts."""

from __future__ import annotations

import pytest

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.source import HINTED, HintedMaker
from argus.authority.relation import Authority


@pytest.fixture(scope="module", params=list(HINTED))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def make(name: str) -> HintedMaker:
    return HINTED[name]


@pytest.fixture(scope="module", params=[False, True], ids=["generic", "hint"])
def bench(request: pytest.FixtureRequest, make: HintedMaker) -> Benchmark:
    return make(seed=5, hint=request.param)


def test_one_seed_gives_one_benchmark_and_another_another(make: HintedMaker) -> None:
    assert make(seed=5) == make(seed=5)
    assert make(seed=5).records != make(seed=6).records
    plain, hinted = make(seed=5), make(seed=5, hint=True)
    assert plain.records == hinted.records
    pairs = zip(plain.questions, hinted.questions, strict=True)
    assert all(one.text in other.text and one.gold == other.gold for one, other in pairs)


def test_the_rules_alone_lead_from_each_anchor_to_its_gold(bench: Benchmark) -> None:
    authority = Authority(bench.records, bench.rules)
    given = Authority(bench.records, (), bench.edges)
    for question in bench.questions:
        assert authority.closure(question.anchor) == list(question.chain)
        assert given.closure(question.anchor) == list(question.chain)
        assert authority.controlling(question.anchor) == list(question.gold)


def test_contamination_keeps_questions_gold_kinds_and_times(make: HintedMaker) -> None:
    clean, dirty = make(seed=5), make(seed=5, contaminated=True)
    assert dirty.questions == clean.questions
    assert dirty.edges == clean.edges
    pairs = list(zip(clean.records, dirty.records, strict=True))
    assert all((a.id, a.type, a.time) == (b.id, b.type, b.time) for a, b in pairs)
    changed = [b for a, b in pairs if a != b]
    asking = [dict(question.scope) for question in clean.questions]
    assert changed
    assert all(dict(record.scope) in asking for record in changed)
