"""Answers from superseded and from controlling context, asked of a server over HTTP."""

import pyarrow.parquet as pq
import pytest

from argus.authority.config import HarmConfig
from argus.authority.harm import measure_harm
from argus.llm import ChatConfig
from tests.support.harm import N, faithful, is_judging, made


@pytest.fixture
def harm(endpoint, tmp_path):
    endpoint.behave = faithful

    def run(benchmark=None, out="out", **settings):
        model = ChatConfig(model="m", base_url=endpoint.url, attempts=1, backoff_s=0)
        config = HarmConfig(**{"k": 1} | settings).by(model, None)
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
    rows = pq.read_table(result.folder / "authority_harm.parquet").to_pylist()
    assert len(rows) == 4 * N and {row["verdict"] for row in rows} == {"correct", "wrong"}
    assert "superseded: correct 0.0%" in "\n".join(result.headline())


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
