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


def test_rules_alone_lead_from_each_anchor_to_gold_and_answer(
    small: None, bench: Benchmark
) -> None:
    assert make_finsuperqa(seed=7) == bench
    other = make_finsuperqa(seed=8)
    assert other.records != bench.records
    assert [q.text for q in other.questions] != [q.text for q in bench.questions]
    records = {record.id: record for record in bench.records}
    authority = Authority(bench.records, bench.rules)
    given = Authority(bench.records, (), bench.edges)
    for question in bench.questions:
        assert authority.closure(question.anchor) == list(question.chain)
        assert authority.controlling(question.anchor) == list(question.gold)
        assert set(given.closure(question.anchor)) == set(question.chain)
        for ids in (question.chain, question.gold):
            assert answer_of(ids, question.scope, authority) == question.answer
        for id_ in question.chain[1:]:  # what supersedes shares no word with its question
            assert not set(query_words(question.text)) & set(words(records[id_].text))
    assert {q.answer for q in bench.questions} == {REVIEW, *(answer for answer, _ in PRIORITY)}
    assert {edge.rule for edge in bench.edges} == {rule.name for rule in TRADING}


def test_rules_withstand_contamination_better_than_time(small: None, bench: Benchmark) -> None:
    contaminated = make_finsuperqa(seed=7, contaminated=True)
    assert (contaminated.questions, contaminated.edges) == (bench.questions, bench.edges)
    for made, plain in zip(contaminated.records, bench.records, strict=True):
        assert (made.id, made.type, made.time) == (plain.id, plain.type, plain.time)
        assert made.metadata == plain.metadata
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
