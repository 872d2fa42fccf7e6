"""Asking a judge over HTTP about passages that hold an answer: verdicts, failures, resume."""

import json

import pytest

from argus.generative.failures.judging import LEDGER, Candidate, estimate_judging, judge_passages
from argus.llm import ChatConfig, LanguageModelError

CANDIDATES = tuple(
    Candidate(q, p, rank, f"Question {q}?", ("Bern", "Berne"), "T", f"Passage {p} says Bern.")
    for q, p, rank in (
        ("q1", "a", 1), ("q1", "b", 4), ("q2", "c", 2), ("q3", "d", 1), ("q3", "e", 2),
        ("q4", "f", 9),
    )
)  # fmt: skip


def saying(**verdicts):
    """Answer with the verdict on the passage, NO unless one is given; a dictionary as it is."""

    def behave(text, _):
        passage = text.partition("Passage ")[2][:1]
        said = verdicts.get(passage, "NO")
        if isinstance(said, dict):
            return said
        return {"text": json.dumps({"verdict": said, "explanation": f"Of {passage}."})}

    return behave


@pytest.fixture
def judge(endpoint, tmp_path):
    """Return the function that judges all candidates, or only estimates."""

    def go(ask=judge_passages, **options):
        config = ChatConfig(
            **{"model": "m", "base_url": endpoint.url, "backoff_s": 0.001, "attempts": 2} | options
        )
        return ask({"seal": CANDIDATES}, config, tmp_path / LEDGER)

    return go


def by_passage(judged, column):
    return dict(zip(*(judged.table[c].to_pylist() for c in ("passage_id", column)), strict=True))


def test_a_question_gets_the_best_verdict_on_its_passages(endpoint, judge):
    endpoint.behave = saying(a="PARTIAL", b="yes", d="PARTIAL")
    judged = judge()
    assert judged.best == {"seal": {"q1": "YES", "q2": "NO", "q3": "PARTIAL", "q4": "NO"}}
    assert judged.table.to_pylist()[0] == {
        "system": "seal", "query_id": "q1", "question": "Question q1?", "answers": "Bern / Berne",
        "passage_id": "a", "title": "T", "text": "Passage a says Bern.", "rank": 1, "state": "ok",
        "verdict": "PARTIAL", "explanation": "Of a.", "reason": "",
    }  # fmt: skip
    assert judged.summary["systems"]["seal"] == {
        "questions": {"total": 4, "YES": 1, "PARTIAL": 1, "NO": 2, "failed": 0},
        "passages": {"total": 6, "ok": 6, "failed": 0, "not_asked": 0,
                     "YES": 1, "PARTIAL": 2, "NO": 3},
    }  # fmt: skip
    schema = endpoint.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["YES", "NO", "PARTIAL"]
    assert schema["required"] == ["verdict", "explanation"]


def test_passages_that_fail_are_counted_and_asked_again(endpoint, judge):
    endpoint.behave = saying(
        a={"text": "I cannot say."}, c={"status": 500}, e={"text": '{"verdict": "PERHAPS"}'}
    )
    judged = judge()
    # q1: a failed, b is NO. q2: nothing but c, which failed. q3: d is NO, e failed. q4: NO.
    assert judged.best["seal"] == {"q1": "NO", "q2": "failed", "q3": "NO", "q4": "NO"}
    counts = judged.summary["systems"]["seal"]["passages"]
    assert (counts["ok"], counts["failed"], counts["NO"]) == (3, 3, 3)
    reasons = by_passage(judged, "reason")
    assert reasons["a"].startswith("the answer does not fit Judgement")
    assert reasons["c"].startswith("no answer in 2 attempts; last: HTTP 500")
    assert (reasons["b"], by_passage(judged, "verdict")["c"]) == ("", None)
    assert sum(f["passages"] for f in judged.summary["failures"]) == 3
    endpoint.requests.clear()
    endpoint.behave = saying(a="YES")
    left = judge(estimate_judging)
    assert (left.prompts, left.to_ask, left.cached) == (6, 3, 3)
    assert judge().best["seal"]["q1"] == "YES"
    assert len(endpoint.requests) == 3


def test_a_budget_that_ends_leaves_passages_not_asked(endpoint, judge):
    said = json.dumps({"verdict": "YES", "explanation": "so"})
    endpoint.behave = lambda text, n: {"content": endpoint.chat(said, usage=(2_000, 1_000))}
    judged = judge(max_total_tokens=6_000, concurrency=1, input_price=1.0, output_price=2.0)
    counts = judged.summary["systems"]["seal"]["passages"]
    assert counts["ok"] >= 1 and counts["not_asked"] == 6 - counts["ok"] >= 1
    assert judged.best["seal"]["q4"] == "failed"
    assert by_passage(judged, "state")["f"] == "not asked"
    assert by_passage(judged, "reason")["f"].startswith("not asked: ")
    # 2,000 tokens at 1 and 1,000 at 2 per million
    assert judged.summary["language_model"]["cost"] == pytest.approx(counts["ok"] * 0.004)


def test_an_endpoint_that_refuses_keeps_what_was_answered(endpoint, judge):
    good = saying(a="YES")
    endpoint.behave = lambda text, n: good(text, n) if n <= 2 else {"status": 403}
    with pytest.raises(LanguageModelError, match="What was answered so far is kept"):
        judge(concurrency=1)
    assert judge(estimate_judging).to_ask == 4
