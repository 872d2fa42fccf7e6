"""CVEPatchQA and LegalPrecedentQA: made alike, of different texts."""

from __future__ import annotations

from collections import Counter

import pytest

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.legalprecedentqa import texts as legal
from argus.authority.benchmarks.source import HINTED, HintedMaker
from argus.authority.relation import Authority
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import query_words, words

RECORDS = {"cvepatchqa": 2750, "legalprecedentqa": 1800}
GENERIC_RECALL = {"cvepatchqa": (0.80, 0.92), "legalprecedentqa": (0.25, 0.38)}
"""Of anchors in BM25's top 5; the paper: 0.86 and 0.31."""


@pytest.fixture(scope="module", params=list(HINTED))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def make(name: str) -> HintedMaker:
    return HINTED[name]


@pytest.fixture(scope="module", params=[False, True], ids=["generic", "hint"])
def bench(request: pytest.FixtureRequest, make: HintedMaker) -> Benchmark:
    return make(seed=5, hint=request.param)


def top5(bench: Benchmark) -> list[list[str]]:
    contents = [record.document.content for record in bench.records]
    index = LexicalIndex.build([record.id for record in bench.records], contents)
    return index.search([question.text for question in bench.questions], 5).ids


def recall(bench: Benchmark) -> float:
    found = [q.anchor[0] in ids for q, ids in zip(bench.questions, top5(bench), strict=True)]
    return sum(found) / len(found)


def test_half_of_five_hundred_questions_have_a_superseder(bench: Benchmark, name: str) -> None:
    assert Counter(question.hop for question in bench.questions) == {"T0": 250, "T1": 250}
    assert {len(q.chain) for q in bench.questions if q.hop == "T0"} == {1}
    assert {len(q.chain) for q in bench.questions if q.hop == "T1"} == {2}
    assert len({record.id for record in bench.records}) == len(bench.records) == RECORDS[name]


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


def test_no_two_cases_share_a_scope(bench: Benchmark) -> None:
    for key in bench.questions[0].scope:
        assert len({question.scope[key] for question in bench.questions}) == 500
    gold = {id_ for question in bench.questions for id_ in question.chain}
    asked_about = {tuple(question.scope.values()) for question in bench.questions}
    others = {tuple(r.scope.values()) for r in bench.records if r.id not in gold}
    assert not asked_about & others


def test_what_supersedes_shares_no_word_with_its_question(bench: Benchmark) -> None:
    records = {record.id: record for record in bench.records}
    for question in bench.questions:
        for id_ in question.chain[1:]:
            assert not set(query_words(question.text)) & set(words(records[id_].text))


def test_no_text_tells_an_id(bench: Benchmark) -> None:
    ids = {record.id for record in bench.records}
    assert not any(ids & set(words(record.text)) for record in bench.records)


def test_relevance_alone_finds_no_superseder(bench: Benchmark) -> None:
    for question, ids in zip(bench.questions, top5(bench), strict=True):
        assert len(ids) == 5
        assert not set(question.chain[1:]) & set(ids)


def test_generic_questions_miss_anchors_and_hints_find_them(make: HintedMaker, name: str) -> None:
    low, high = GENERIC_RECALL[name]
    assert low <= recall(make(seed=5)) <= high
    assert recall(make(seed=5, hint=True)) == 1.0


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


def test_there_are_75_doctrines_with_sixteen_rulings_each() -> None:
    bench = HINTED["legalprecedentqa"](seed=5)
    assert len(set(legal.DOCTRINES)) == 75
    texts = [record.text for record in bench.records if record.type == "ruling"]
    assert [sum(doctrine in text for text in texts) for doctrine in legal.DOCTRINES] == [16] * 75
