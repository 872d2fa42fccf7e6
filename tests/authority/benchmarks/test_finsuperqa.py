from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from argus.authority.benchmarks import makers
from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.judging import PRIORITY, REVIEW, answer_of
from argus.authority.benchmarks.makers import TRADING, make_finsuperqa
from argus.authority.relation import Authority
from argus.authority.rules import Record
from argus.indexes.lexical import query_words, words


@pytest.fixture(scope="module")
def small() -> Iterator[None]:
    """240 questions in place of 1,000."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(makers, "PAIRS", 240)
        yield


@pytest.fixture(scope="module")
def bench(small: None) -> Benchmark:
    return make_finsuperqa(seed=7)


@pytest.fixture(scope="module")
def contaminated(small: None) -> Benchmark:
    return make_finsuperqa(seed=7, contaminated=True)


@pytest.fixture(scope="module")
def records(bench: Benchmark) -> dict[str, Record]:
    return {record.id: record for record in bench.records}


@pytest.fixture(scope="module")
def authority(bench: Benchmark) -> Authority:
    return Authority(bench.records, bench.rules)


def test_one_seed_gives_one_benchmark_and_another_another(bench: Benchmark) -> None:
    assert make_finsuperqa(seed=7) == bench
    other = make_finsuperqa(seed=8)
    assert other.records != bench.records
    assert [q.text for q in other.questions] != [q.text for q in bench.questions]


def test_the_rules_alone_lead_from_each_anchor_to_its_gold(
    bench: Benchmark, authority: Authority
) -> None:
    for question in bench.questions:
        assert authority.closure(question.anchor) == list(question.chain)
        assert authority.controlling(question.anchor) == list(question.gold)


def test_answers_follow_from_the_gold_chain(bench: Benchmark, authority: Authority) -> None:
    for question in bench.questions:
        assert answer_of(question.chain, question.scope, authority) == question.answer
        assert answer_of(question.gold, question.scope, authority) == question.answer
    assert {q.answer for q in bench.questions} == {REVIEW, *(answer for answer, _ in PRIORITY)}


def test_what_supersedes_shares_no_word_with_its_question(
    bench: Benchmark, records: dict[str, Record]
) -> None:
    for question in bench.questions:
        for id_ in question.chain[1:]:
            assert not set(query_words(question.text)) & set(words(records[id_].text))


def test_gold_edges_are_those_of_the_rules(bench: Benchmark, authority: Authority) -> None:
    given = Authority(bench.records, (), bench.edges)
    for question in bench.questions:
        assert set(given.closure(question.anchor)) == set(question.chain)
    assert {edge.rule for edge in bench.edges} == {rule.name for rule in TRADING}


def test_contamination_keeps_questions_gold_kinds_and_times(
    bench: Benchmark, contaminated: Benchmark
) -> None:
    assert contaminated.questions == bench.questions
    assert contaminated.edges == bench.edges
    assert [(r.id, r.type, r.time, r.metadata) for r in contaminated.records] == [
        (r.id, r.type, r.time, r.metadata) for r in bench.records
    ]


def test_rules_withstand_contamination_better_than_time(
    bench: Benchmark, contaminated: Benchmark
) -> None:
    authority = Authority(contaminated.records, contaminated.rules)
    by_ticker: dict[str, list[Record]] = {}
    for record in contaminated.records:
        for ticker in record.values("ticker"):
            by_ticker.setdefault(ticker, []).append(record)
    right = Counter[str]()
    for question in contaminated.questions:
        scope = question.scope
        bearing = [
            record
            for record in by_ticker[scope["ticker"]]
            if record.values("employee") in ((), (scope["employee"],))
        ]
        latest = max(bearing, key=lambda record: (record.time.start, record.id))  # type: ignore[union-attr]
        right["time"] += answer_of([latest.id], scope, authority) == question.answer
        ruled = authority.controlling(question.anchor)
        right["rules"] += answer_of(ruled, scope, authority) == question.answer
    assert right["time"] < 225
    assert right["rules"] > right["time"] + 10
