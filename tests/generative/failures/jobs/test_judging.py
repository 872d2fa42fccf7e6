"""Asking a judge over HTTP about passages that hold an answer: verdicts, failures, resume."""

import json

import pytest

from argus.generative.failures.judging import LEDGER, Candidate, estimate_judging, judge_passages
from argus.llm import ChatConfig, LanguageModelError


def candidate(query, passage, rank=1, text=None):
    text = text or f"Passage {passage} says Bern."
    return Candidate(query, passage, rank, f"Question {query}?", ("Bern", "Berne"), "T", text)


CANDIDATES = (
    candidate("q1", "a", 1), candidate("q1", "b", 4), candidate("q2", "c", 2),
    candidate("q3", "d", 1), candidate("q3", "e", 2), candidate("q4", "f", 9),
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
def config(endpoint):
    def make(**options):
        return ChatConfig(
            **{"model": "m", "base_url": endpoint.url, "backoff_s": 0.001, "attempts": 2} | options
        )

    return make


def by_passage(judged, column):
    return dict(zip(*(judged.table[c].to_pylist() for c in ("passage_id", column)), strict=True))


def test_a_question_gets_the_best_verdict_on_its_passages(endpoint, config, tmp_path):
    endpoint.behave = saying(a="PARTIAL", b="yes", d="PARTIAL")
    judged = judge_passages({"seal": iter(CANDIDATES)}, config(), tmp_path / LEDGER)
    assert judged.best == {"seal": {"q1": "YES", "q2": "NO", "q3": "PARTIAL", "q4": "NO"}}
    rows = judged.table.to_pylist()
    assert [(r["query_id"], r["passage_id"], r["rank"], r["verdict"]) for r in rows] == [
        ("q1", "a", 1, "PARTIAL"), ("q1", "b", 4, "YES"), ("q2", "c", 2, "NO"),
        ("q3", "d", 1, "PARTIAL"), ("q3", "e", 2, "NO"), ("q4", "f", 9, "NO"),
    ]  # fmt: skip
    assert rows[0] == {
        "system": "seal", "query_id": "q1", "question": "Question q1?", "answers": "Bern / Berne",
        "passage_id": "a", "title": "T", "text": "Passage a says Bern.", "rank": 1, "state": "ok",
        "verdict": "PARTIAL", "explanation": "Of a.", "reason": "",
    }  # fmt: skip
    assert judged.summary["systems"]["seal"] == {
        "questions": {"total": 4, "YES": 1, "PARTIAL": 1, "NO": 2, "failed": 0},
        "passages": {"total": 6, "ok": 6, "failed": 0, "not_asked": 0,
                     "YES": 1, "PARTIAL": 2, "NO": 3},
    }  # fmt: skip
    assert judged.summary["failures"] == []


def test_the_schema_and_the_prompt_of_the_thesis_are_sent(endpoint, config, tmp_path):
    endpoint.behave = saying()
    judge_passages({"seal": CANDIDATES[:1]}, config(), tmp_path / LEDGER)
    (body,) = endpoint.requests
    assert body["messages"][1]["content"].startswith(
        "Question: Question q1?\nExpected answer: Bern / Berne\nRetrieved passage title: T\n"
    )
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["YES", "NO", "PARTIAL"]
    assert schema["required"] == ["verdict", "explanation"]
    assert body["max_tokens"] == 1_024


def test_passages_that_fail_are_counted_and_the_rest_decides(endpoint, config, tmp_path):
    endpoint.behave = saying(
        a={"text": "I cannot say."}, c={"status": 500}, e={"text": '{"verdict": "PERHAPS"}'}, d="NO"
    )
    judged = judge_passages({"seal": CANDIDATES}, config(), tmp_path / LEDGER)
    # q1: a failed, b is NO. q2: nothing but c, which failed. q3: d is NO, e failed. q4: NO.
    assert judged.best["seal"] == {"q1": "NO", "q2": "failed", "q3": "NO", "q4": "NO"}
    counts = judged.summary["systems"]["seal"]
    assert counts["questions"] == {
        "total": 4, "YES": 0, "PARTIAL": 0, "NO": 3, "failed": 1,
    }  # fmt: skip
    assert counts["passages"] == {
        "total": 6, "ok": 3, "failed": 3, "not_asked": 0, "YES": 0, "PARTIAL": 0, "NO": 3,
    }  # fmt: skip
    reasons = by_passage(judged, "reason")
    assert reasons["a"].startswith("the answer does not fit Judgement")
    assert reasons["c"].startswith("no answer in 2 attempts; last: HTTP 500")
    assert reasons["b"] == ""
    assert by_passage(judged, "verdict")["c"] is None
    assert sum(f["passages"] for f in judged.summary["failures"]) == 3


def test_a_second_run_asks_only_what_has_no_verdict(endpoint, config, tmp_path):
    endpoint.behave = saying(b={"text": "?"})
    judge_passages({"seal": CANDIDATES}, config(), tmp_path / LEDGER)
    endpoint.requests.clear()
    endpoint.behave = saying(b="YES")
    left = estimate_judging({"seal": CANDIDATES}, config(), tmp_path / LEDGER)
    assert (left.prompts, left.to_ask, left.cached) == (6, 1, 5)
    judged = judge_passages({"seal": CANDIDATES}, config(), tmp_path / LEDGER)
    assert len(endpoint.requests) == 1
    assert judged.best["seal"]["q1"] == "YES"
    assert judged.summary["language_model"]["cached"] == 5


def test_a_budget_that_ends_leaves_passages_not_asked(endpoint, config, tmp_path):
    said = {"verdict": "YES", "explanation": "so"}
    endpoint.behave = lambda text, n: {
        "content": endpoint.chat(json.dumps(said), usage=(2_000, 1_000))
    }
    tight = config(max_total_tokens=6_000, concurrency=1, input_price=1.0, output_price=2.0)
    judged = judge_passages({"seal": CANDIDATES}, tight, tmp_path / LEDGER)
    counts = judged.summary["systems"]["seal"]["passages"]
    assert counts["ok"] >= 1 and counts["not_asked"] >= 1
    assert counts["ok"] + counts["not_asked"] == 6
    assert judged.best["seal"]["q4"] == "failed"
    assert by_passage(judged, "state")["f"] == "not asked"
    assert by_passage(judged, "reason")["f"].startswith("not asked: ")
    # 2,000 tokens at 1 and 1,000 at 2 per million
    assert judged.summary["language_model"]["cost"] == pytest.approx(counts["ok"] * 0.004)


def test_an_endpoint_that_refuses_keeps_what_was_answered(endpoint, config, tmp_path):
    good = saying(a="YES")
    endpoint.behave = lambda text, n: good(text, n) if n <= 2 else {"status": 403}
    with pytest.raises(LanguageModelError, match="What was answered so far is kept"):
        judge_passages({"seal": CANDIDATES}, config(concurrency=1), tmp_path / LEDGER)
    left = estimate_judging({"seal": CANDIDATES}, config(), tmp_path / LEDGER)
    assert left.to_ask == 4
