from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.finsuperqa import RULES, Rates, make, texts
from argus.authority.benchmarks.judging import PRIORITY, REVIEW, answer_of
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import query_words, words

NAMED = {"PreClearanceApproved", "ConflictDisclosed", "PolicyAcknowledged"}
"""Written by the employee's side, in the words of the questions."""


@pytest.fixture(scope="module")
def bench() -> Benchmark:
    return make(seed=7)


@pytest.fixture(scope="module")
def contaminated() -> Benchmark:
    return make(seed=7, contaminated=True)


@pytest.fixture(scope="module")
def records(bench: Benchmark) -> dict[str, Record]:
    return {record.id: record for record in bench.records}


@pytest.fixture(scope="module")
def authority(bench: Benchmark) -> Authority:
    return Authority(bench.records, bench.rules)


@pytest.fixture(scope="module")
def top5(bench: Benchmark) -> list[list[str]]:
    contents = [record.document.content for record in bench.records]
    index = LexicalIndex.build([record.id for record in bench.records], contents)
    return index.search([question.text for question in bench.questions], 5).ids


def test_there_are_a_thousand_questions_over_12_250_events(bench: Benchmark) -> None:
    assert Counter(q.hop for q in bench.questions) == dict.fromkeys(("T0", "T1", "T2", "T3"), 250)
    assert len({record.id for record in bench.records}) == 12_250
    lengths = {
        hop: {len(q.chain) for q in bench.questions if q.hop == hop} for hop in texts.QUESTIONS
    }
    assert lengths == {"T0": {1}, "T1": {2}, "T2": {3}, "T3": {3}}
    assert sum(len(q.chain) for q in bench.questions) == 2250


def test_one_seed_gives_one_benchmark_and_another_another(bench: Benchmark) -> None:
    assert make(seed=7) == bench
    other = make(seed=8)
    assert other.records != bench.records
    assert [q.text for q in other.questions] != [q.text for q in bench.questions]


def test_no_two_questions_share_an_employee_or_a_ticker(bench: Benchmark) -> None:
    for key in ("employee", "ticker"):
        assert len({question.scope[key] for question in bench.questions}) == 1000


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


def test_only_the_last_event_of_t3_has_another_provenance(
    bench: Benchmark, records: dict[str, Record]
) -> None:
    for question in bench.questions:
        *before, last = (records[id_].metadata["provenance"] for id_ in question.chain)
        assert len({*before}) <= 1
        assert (last in before or not before) == (question.hop != "T3")


def test_a_scope_holds_what_its_text_is_about_and_no_more(records: dict[str, Record]) -> None:
    for record in records.values():
        if record.type == "BlackoutAnnounced" and record.values("employee"):
            continue
        assert tuple(record.scope) == tuple(texts.ABOUT[record.type])


def test_only_a_blackout_with_an_exception_lists_whom(
    bench: Benchmark, records: dict[str, Record]
) -> None:
    excepted = {
        q.chain[1] for q in bench.questions if records[q.chain[-1]].type == "EmergencyException"
    }
    assert len(excepted) > 100
    for record in records.values():
        if record.type == "BlackoutAnnounced":
            listed = record.values("employee")
            assert len(listed) == (4 if record.id in excepted else 0)
            assert sum(word.isdigit() and len(word) == 5 for word in words(record.text)) == len(
                listed
            )


def test_an_exception_lifts_a_blackout_for_nobody_else(
    bench: Benchmark, records: dict[str, Record]
) -> None:
    question = next(q for q in bench.questions if records[q.chain[-1]].type == "EmergencyException")
    clearance, blackout, exception = (records[id_] for id_ in question.chain)
    stranger = replace(exception, scope={**exception.scope, "employee": "Somebody Else"})
    authority = Authority([clearance, blackout, stranger], RULES)
    assert authority.controlling([clearance.id]) == [blackout.id]
    assert answer_of([blackout.id, stranger.id], question.scope, authority) == "Prohibited"


def test_the_latest_event_of_a_ticker_is_often_not_the_answer(bench: Benchmark) -> None:
    latest: dict[str, Record] = {}
    for record in bench.records:
        for ticker in record.values("ticker"):
            kept = latest.setdefault(ticker, record)
            if record.time.start > kept.time.start:  # type: ignore[union-attr]
                latest[ticker] = record
    right = sum(latest[q.scope["ticker"]].id in q.gold for q in bench.questions)
    assert right < 300


def test_what_supersedes_shares_no_word_with_its_question(
    bench: Benchmark, records: dict[str, Record]
) -> None:
    for question in bench.questions:
        for id_ in question.chain[1:]:
            assert not set(query_words(question.text)) & set(words(records[id_].text))


def test_only_the_anchor_names_both_employee_and_ticker(bench: Benchmark) -> None:
    named: dict[str, set[str]] = {}
    for record in bench.records:
        for word in words(record.text):
            named.setdefault(word, set()).add(record.id)
    for question in bench.questions:
        surname = words(question.scope["employee"])[-1]
        ticker = words(question.scope["ticker"])[0]
        assert named[surname] & named[ticker] == set(question.anchor)


def test_no_text_tells_an_id_or_an_answer(bench: Benchmark) -> None:
    ids = {record.id for record in bench.records}
    telling = ids | {words(q.answer)[0] for q in bench.questions}
    for record in bench.records:
        assert telling.isdisjoint(words(record.text))


def test_distractors_are_of_three_kinds(bench: Benchmark) -> None:
    gold = {id_ for question in bench.questions for id_ in question.chain}
    employees = {question.scope["employee"] for question in bench.questions}
    tickers = {question.scope["ticker"] for question in bench.questions}
    kinds = Counter(
        (bool(employees & set(r.values("employee"))), bool(tickers & set(r.values("ticker"))))
        for r in bench.records
        if r.id not in gold
    )
    assert kinds == {(True, False): 4000, (False, True): 3000, (False, False): 3000}


def test_gold_edges_are_those_of_the_rules(bench: Benchmark, authority: Authority) -> None:
    given = Authority(bench.records, (), bench.edges)
    for question in bench.questions:
        assert set(given.closure(question.anchor)) == set(question.chain)
    assert {edge.rule for edge in bench.edges} == {rule.name for rule in RULES}


def test_relevance_alone_finds_each_anchor_and_no_superseder(
    bench: Benchmark, top5: list[list[str]]
) -> None:
    for question, ids in zip(bench.questions, top5, strict=True):
        assert ids[0] == question.anchor[0]
        assert len(ids) == 5  # so five documents outrank the superseder: N+ >= 5
        assert not set(question.chain[1:]) & set(ids)


def test_contamination_keeps_questions_gold_kinds_and_times(
    bench: Benchmark, contaminated: Benchmark
) -> None:
    assert contaminated.questions == bench.questions
    assert contaminated.edges == bench.edges
    assert [(r.id, r.type, r.time, r.metadata) for r in contaminated.records] == [
        (r.id, r.type, r.time, r.metadata) for r in bench.records
    ]


def test_contamination_rekeys_distractors_to_the_asking_pair(
    bench: Benchmark, contaminated: Benchmark
) -> None:
    asking = [dict(question.scope) for question in bench.questions]
    changed = [
        new
        for old, new in zip(bench.records, contaminated.records, strict=True)
        if old.scope != new.scope
    ]
    assert 250 < len(changed) < 400  # of 2,500 at 0.13 and 7,500 at 0.001
    parts = {frozenset(s.items()) for s in asking}
    parts |= {frozenset([item]) for scope in asking for item in scope.items()}
    assert all(frozenset(record.scope.items()) in parts for record in changed)
    gold = {id_ for question in bench.questions for id_ in question.chain}
    assert not gold & {record.id for record in changed}


def test_more_contamination_holds_less(bench: Benchmark) -> None:
    def changed(rates: Rates) -> set[str]:
        made = make(seed=7, contaminated=True, rates=rates)
        pairs = zip(bench.records, made.records, strict=True)
        return {old.id for old, new in pairs if old != new}

    assert changed(Rates()) == set()
    few, many = changed(Rates(0.01, 0.01)), changed(Rates(0.02, 0.05))
    assert few < many


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
    assert right["time"] < 935
    assert right["rules"] > right["time"] + 20
