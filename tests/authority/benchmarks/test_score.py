"""Scoring: counts, hop types, stages, and the identity of Theorems 3 and 4 on FinSuperQA."""

from dataclasses import replace

from argus.authority.benchmarks import makers
from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.judging import Judge, Outcome, score, summarise
from argus.authority.benchmarks.systems import SYSTEMS, Bench
from argus.authority.rules import Edge, Record
from argus.data.types import State


def test_a_failed_question_is_counted_and_no_zero() -> None:
    questions = [
        Question("q1", "a?", ("a2",), ("a1",), ("a1", "a2"), hop="T1"),
        Question("q2", "b?", ("b2",), ("b1",), ("b1", "b2"), hop="T1"),
        Question("q3", "c?", ("c1",), ("c1",), ("c1",), hop="T0"),
    ]
    records = [Record(id_, "note") for id_ in ("a1", "a2", "b1", "b2", "c1")]
    tiny = Benchmark("tiny", records, questions, [Edge("a2", "a1"), Edge("b2", "b1")])
    outcomes = {
        "q1": Outcome(("a2", "a1")),
        "q2": Outcome(failure="raised ValueError: no"),
        "q3": Outcome(("a1",)),
    }
    scored = score(tiny, outcomes, Judge(tiny), k=5)
    found = summarise(scored)
    assert [s.state for s in scored] == [State.MEASURED, State.FAILED, State.MEASURED]
    reasons = {"raised ValueError: no": 1}
    assert found["questions"] == {"total": 3, "measured": 2, "failed": 1, "reasons": reasons}
    assert (found["overall"]["tca"]["value"], found["overall"]["tca"]["n"]) == (0.5, 2)
    assert (found["hops"]["T1"]["tca"]["value"], found["hops"]["T1"]["tca"]["n"]) == (1.0, 1)
    assert found["hops"]["T0"]["tca"]["value"] == 0.0
    assert found["overall"]["answer_correct"] is None, "not applicable is no number"
    assert found["factors"] is None and found["anchor_recall_at"] == {}


def test_two_stages_get_right_what_relevance_alone_cannot(monkeypatch) -> None:
    monkeypatch.setattr(makers, "PAIRS", 120)
    finance = makers.make_finsuperqa(seed=3)
    bench, judge, by_system = Bench(finance, k=5), Judge(finance), {}
    unanswered = replace(finance, questions=[replace(q, answer="") for q in finance.questions])
    by_conditions = Judge(unanswered)
    for name in ("bm25", "tfidf", "probe", "latest-okapi", "two-stage-bm25", "oracle"):
        system = SYSTEMS[name]
        closure = system.closure(bench)
        scored = score(finance, system.run(bench), judge, k=5, closure=closure)
        for question, one in zip(unanswered.questions, scored, strict=True):
            assert one.figures is not None
            found = by_conditions.figures(question, one.outcome.documents[:5])
            assert found.tca is one.figures.tca, (question, one.outcome.documents)
        by_system[name] = scored
    for name in ("bm25", "tfidf"):
        hops = summarise(by_system[name])["hops"]
        assert hops["T1"]["tca"]["value"] == hops["T2"]["tca"]["value"] == 0, name
        assert hops["T0"]["tca"]["value"] > 0.9
    for name in ("two-stage-bm25", "oracle", "probe"):
        assert summarise(by_system[name])["overall"]["tca"]["value"] == 1, name
