"""Scoring: counts, hop types, stages, and the identity of Theorems 3 and 4 on FinSuperQA."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.first_stages import FirstStages
from argus.authority.benchmarks.job import score_systems
from argus.authority.benchmarks.judging import Judge, Outcome, answer_of
from argus.authority.benchmarks.scoring import score, summarise
from argus.authority.benchmarks.source import MAKERS
from argus.authority.benchmarks.systems import ANCHORS, SYSTEMS, Bench
from argus.authority.config import ScoreConfig
from argus.authority.records import Record
from argus.authority.resolve import trace
from argus.authority.rules import Edge
from argus.data.types import State
from tests.support.results import shown, sizes

QUESTIONS = [
    Question("q1", "a?", ("a2",), ("a1",), ("a1", "a2"), hop="T1"),
    Question("q2", "b?", ("b2",), ("b1",), ("b1", "b2"), hop="T1"),
    Question("q3", "c?", ("c1",), ("c1",), ("c1",), hop="T0"),
]
TINY = Benchmark(
    "tiny",
    [Record(id_, "note") for id_ in ("a1", "a2", "b1", "b2", "c1")],
    QUESTIONS,
    [Edge("a2", "a1"), Edge("b2", "b1")],
)


def test_a_failed_question_is_counted_and_no_zero() -> None:
    outcomes = {
        "q1": Outcome(("a2", "a1")),
        "q2": Outcome(failure="raised ValueError: no"),
        "q3": Outcome(("a1",)),
    }
    scored = score(TINY, outcomes, Judge(TINY), k=5)
    found = summarise(scored)
    assert [s.state for s in scored] == [State.MEASURED, State.FAILED, State.MEASURED]
    assert found["questions"] == {
        "total": 3,
        "measured": 2,
        "failed": 1,
        "reasons": {"raised ValueError: no": 1},
    }
    assert (found["overall"]["tca"]["value"], found["overall"]["tca"]["n"]) == (0.5, 2)
    assert (found["hops"]["T1"]["tca"]["value"], found["hops"]["T1"]["tca"]["n"]) == (1.0, 1)
    assert found["hops"]["T0"]["tca"]["value"] == 0.0
    assert found["overall"]["answer_correct"] is None, "not applicable is no number"
    assert found["factors"] is None and found["anchor_recall_at"] == {}


def test_only_the_first_k_count() -> None:
    outcomes = {q.id: Outcome(("c1", *q.chain)) for q in QUESTIONS}
    assert summarise(score(TINY, outcomes, Judge(TINY), k=3))["overall"]["tca"]["value"] == 1
    at_1 = summarise(score(TINY, outcomes, Judge(TINY), k=1))["overall"]
    assert at_1["tca"]["value"] == pytest.approx(1 / 3)
    assert at_1["anchor_recall"]["value"] == pytest.approx(1 / 3)


def test_a_question_without_outcome_failed() -> None:
    found = summarise(score(TINY, {"q1": Outcome(("a2",))}, Judge(TINY), k=5))
    assert found["questions"]["reasons"] == {"no outcome": 2}


def test_stages_stand_apart_and_anchors_have_depths() -> None:
    outcomes = {
        "q1": Outcome(("a2",), anchors=("c1", "b1", "a1")),
        "q2": Outcome(("b1",), anchors=("b1",)),
        "q3": Outcome(("c1",), anchors=("a1",)),
    }
    closures = {"a1": {"a1", "a2"}, "b1": {"b1"}, "c1": {"c1"}}
    scored = score(
        TINY, outcomes, Judge(TINY), k=5, closure=lambda ids: set().union(*map(closures.get, ids))
    )
    found = summarise(scored)
    assert found["anchor_recall_at"]["1"]["value"] == pytest.approx(1 / 3)
    assert found["anchor_recall_at"]["5"]["value"] == pytest.approx(2 / 3)
    factors = found["factors"]
    assert factors["anchor"]["value"] == pytest.approx(2 / 3)
    assert factors["chain"]["value"] == 0.5, "the closure of b1 lacks b2"
    assert factors["frontier"]["value"] == 1
    assert factors["product"] == pytest.approx(1 / 3)
    assert factors["tca_without"] == pytest.approx(1 / 3), "c1 was served without its anchor"
    assert found["overall"]["tca"]["value"] == pytest.approx(
        factors["product"] + factors["tca_without"]
    )


def test_gold_reached_from_another_anchor_is_in_the_closure() -> None:
    outcomes = {"q1": Outcome(("a2",), anchors=("a1", "c1"))}
    closures = {("a1",): {"a1"}, ("a1", "c1"): {"a1", "c1", "a2"}}
    one = replace(TINY, questions=QUESTIONS[:1])
    scored = score(one, outcomes, Judge(one), k=5, closure=lambda ids: closures[tuple(ids)])
    assert scored[0].stages is not None and scored[0].stages.frontier


@pytest.fixture(scope="module")
def finance() -> Benchmark:
    made = MAKERS["finsuperqa"](seed=3)
    return replace(made, questions=made.questions[:120])


@pytest.fixture(scope="module")
def by_system(finance):
    bench = Bench(finance, FirstStages(finance, k=5), k=5)
    judge = Judge(finance, lambda q, ids: answer_of(ids, q.scope, bench.relation))
    names = ("bm25", "tfidf", "probe", "latest-okapi", "two-stage-bm25", "oracle")
    found = {}
    for name in names:
        system = SYSTEMS[name]
        closure = None if system.closure is None else system.closure(bench)
        found[name] = score(finance, system.run(bench), judge, k=5, closure=closure)
    return found


def test_tca_by_theorem_4_is_tca_by_answers_on_finsuperqa(finance, by_system) -> None:
    unanswered = replace(finance, questions=[replace(q, answer="") for q in finance.questions])
    judge = Judge(unanswered)
    compared = 0
    for scored in by_system.values():
        for question, one in zip(unanswered.questions, scored, strict=True):
            assert one.figures is not None
            by_conditions = judge.figures(question, one.outcome.documents[:5])
            assert by_conditions.tca is one.figures.tca, (question, one.outcome.documents)
            compared += 1
    assert compared == 6 * 120


def test_two_stages_get_right_what_relevance_alone_cannot(by_system) -> None:
    for name in ("bm25", "tfidf"):
        hops = summarise(by_system[name])["hops"]
        assert hops["T1"]["tca"]["value"] == hops["T2"]["tca"]["value"] == 0, name
        assert hops["T0"]["tca"]["value"] > 0.9
    for name in ("two-stage-bm25", "oracle", "probe"):
        assert summarise(by_system[name])["overall"]["tca"]["value"] == 1, name


def test_two_stages_get_what_their_anchors_allow(by_system) -> None:
    found = summarise(by_system["two-stage-bm25"])
    assert found["overall"]["tca"]["value"] == found["overall"]["anchor_recall"]["value"]
    assert found["factors"]["product"] == found["overall"]["tca"]["value"]


def test_stopping_at_k_serves_what_all_anchors_would(finance, by_system) -> None:
    bench = Bench(finance, FirstStages(finance, k=5), k=5)
    for scored in by_system["two-stage-bm25"]:
        ranking = bench.stages.bm25.run[scored.question.id]
        whole = trace(ranking, bench.relation, k=5, anchors=ANCHORS)
        assert scored.outcome.documents == tuple(hit.id for hit in whole.hits)
        assert scored.outcome.anchors == whole.anchors


def test_a_scoring_shows_its_figures(tmp_path, monkeypatch) -> None:
    result = score_systems(TINY, out=tmp_path, encoder=None, config=ScoreConfig(systems=("bm25",)))
    lines = shown(result)
    assert lines[0].startswith(f"{TINY.name}: 3 questions over ") and lines[2].startswith("bm25")
    assert sizes(result, monkeypatch) == {"table": 3}
