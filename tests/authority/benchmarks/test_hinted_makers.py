"""CVEPatchQA and LegalPrecedentQA: made alike, of different texts."""

from functools import cache

import pytest

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.makers import HINTED, MAKERS
from argus.authority.relation import Authority


@cache
def make(name: str, **options: bool) -> Benchmark:
    return MAKERS[name](seed=5, **options)


@pytest.fixture(scope="module", params=HINTED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_hint_changes_nothing_but_the_questions(name: str) -> None:
    plain, hinted = make(name), make(name, hint=True)
    assert plain.records == hinted.records
    pairs = zip(plain.questions, hinted.questions, strict=True)
    assert all(one.text in other.text and one.gold == other.gold for one, other in pairs)


def test_one_seed_gives_one_benchmark_and_another_another() -> None:
    again, other = (MAKERS["legalprecedentqa"](seed=seed) for seed in (5, 6))
    assert again == make("legalprecedentqa") and other.records != again.records


def test_the_rules_alone_lead_from_each_anchor_to_its_gold(name: str) -> None:
    bench = make(name)
    authority = Authority(bench.records, bench.rules)
    given = Authority(bench.records, (), bench.edges)
    for question in bench.questions:
        assert authority.closure(question.anchor) == list(question.chain)
        assert given.closure(question.anchor) == list(question.chain)
        assert authority.controlling(question.anchor) == list(question.gold)
