"""Answers from superseded and from controlling context, asked of a server over HTTP."""

import pyarrow.parquet as pq
import pytest

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.config import HarmSettings
from argus.authority.harm import measure_harm
from argus.authority.records import Record
from argus.errors import ArgusError, InputError
from argus.llm import ChatConfig
from tests.support.harm import N, faithful, is_judging, made, parts


@pytest.fixture
def harm(endpoint, tmp_path):
    endpoint.behave = faithful

    def run(benchmark=None, out="out", **settings):
        model = ChatConfig(model="m", base_url=endpoint.url, attempts=1, backoff_s=0)
        config = HarmSettings(**{"k": 1} | settings).by(model, None)
        return measure_harm(benchmark or made(), config=config, out=tmp_path / out, encoder=None)

    return run


def arms(result):
    return {arm["arm"]: arm for arm in result.summary["arms"]}


def value(share):
    return None if share is None else share["value"]


def test_superseded_context_is_wrong_and_controlling_context_right(harm, endpoint):
    result = harm(systems=("bm25", "two-stage-bm25"))
    found = arms(result)
    assert list(found) == ["superseded", "controlling", "bm25", "two-stage-bm25"]
    assert value(found["superseded"]["wrong"]) == 1
    assert value(found["controlling"]["correct"]) == 1
    assert value(found["bm25"]["wrong"]) == 1 and value(found["bm25"]["controlling_hit"]) == 0
    assert value(found["two-stage-bm25"]["correct"]) == 1
    assert value(found["bm25"]["wrong_without"]) == 1 and found["bm25"]["correct_with"] is None
    rows = pq.read_table(result.folder / "authority_harm.parquet").to_pylist()
    assert len(rows) == 4 * N and {row["verdict"] for row in rows} == {"correct", "wrong"}
    text = result.report.read_text(encoding="utf-8")
    assert "What does stale context do to answers?" in text
    assert "superseded: correct 0.0%" in "\n".join(result.headline())


def test_a_model_is_shown_the_documents_and_nothing_of_the_gold(harm, endpoint):
    harm()
    answering = [text for text in endpoint.texts if not is_judging(text)]
    for text in answering:
        assert len(parts(text, r"DOCUMENT \d+")) == 1
        assert not ("no fix is known" in text and "before extraction" in text)
    assert len(answering) == 2 * N
    judging = next(text for text in endpoint.texts if is_judging(text))
    assert "HOLDS NOW 1" in judging and "SUPERSEDED 1" in judging


def test_hedged_answers_are_uncertain(harm, endpoint):
    endpoint.behave = lambda text, n: (
        faithful(text) if is_judging(text) else {"text": "The documents do not tell."}
    )
    for arm in arms(harm()).values():
        assert value(arm["uncertain"]) == 1 and value(arm["wrong"]) == 0


def test_a_failed_answer_is_no_class_and_is_asked_again(harm, endpoint):
    def breaks(text, n):
        return {"status": 400} if not is_judging(text) and "alpha2" in text else faithful(text)

    endpoint.behave = breaks
    stale = arms(harm())["superseded"]
    assert (stale["questions"], stale["failed"]) == (N, 1)
    assert stale["wrong"]["n"] == N - 1 and value(stale["wrong"]) == 1
    endpoint.behave = faithful
    before = len(endpoint.requests)
    stale = arms(harm())["superseded"]
    assert stale["failed"] == 0 and stale["wrong"]["n"] == N
    assert len(endpoint.requests) - before == 4  # one answer of each context, and its judgement


def test_a_judge_that_writes_no_class_fails(harm, endpoint):
    endpoint.behave = lambda text, n: {"text": "fine"} if is_judging(text) else faithful(text)
    with pytest.raises(ArgusError, match=r"No answer could be judged\. The first reason: judging:"):
        harm()


def test_the_question_is_worded_as_one_likes(harm, endpoint):
    harm(ask="{question} If so, since which release?", first=1)
    asked = [text for text in endpoint.texts if not is_judging(text)]
    assert len(asked) == 2
    assert all(text.endswith("reader? If so, since which release?") for text in asked)
    with pytest.raises(InputError, match=r"\{question\} in it"):
        harm(ask="Is it fixed?", out="other")


def test_a_question_about_nothing_superseded_has_no_superseded_context(harm):
    question = Question("q", "Is a fix known?", ("fix0",), ("fix0",), ("fix0",))
    assert list(arms(harm(made(questions=[question])))) == ["controlling"]


def test_documents_share_the_room_alike(harm, endpoint):
    long = Record("long", "d", text="word " * 2000)
    benchmark = made()
    benchmark = Benchmark(
        "long", [long, *benchmark.records],
        [Question("q", "word", ("fix0",), ("long",), ("long", "fix0"))], benchmark.edges,
    )  # fmt: skip
    harm(benchmark, max_chars=1000)
    shown = [parts(t, r"DOCUMENT \d+")[0] for t in endpoint.texts if not is_judging(t)]
    assert max(map(len, shown)) == 1000
