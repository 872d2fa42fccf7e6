"""`argus research scenarios qa` as a person types it."""

import pytest

from argus.llm.config import judge_of
from tests.support.qa import asking, honest, is_judging


@pytest.fixture(scope="module")
def given(tmp_path_factory, shared, minilm):
    return asking(tmp_path_factory.mktemp("qa"), shared("spike_scenarios"), minilm)


@pytest.fixture
def qa(argus, given, endpoint):
    """Run the command on the small index with an honest endpoint."""
    endpoint.behave = honest

    def run(*arguments, qrels=("--qrels", given.qrels), answers=("--answers", given.answers)):
        return argus(
            "research", "scenarios", "qa", "--index", given.index, "--queries", given.queries,
            *answers,
            *qrels, "--model", "m", "--base-url", endpoint.url, "--out", "out", *arguments,
        )  # fmt: skip

    return run


def test_another_judge_does_not_get_the_others_key(qa, endpoint, second_endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-answering-one")
    second_endpoint.behave = honest
    ran = qa(
        "--limit", 2, "--judge-model", "j", "--judge-base-url", second_endpoint.url
    )  # fmt: skip
    assert ran.code == 0
    assert not any(map(is_judging, endpoint.texts))
    assert all(map(is_judging, second_endpoint.texts))
    assert {r["model"] for r in second_endpoint.requests} == {"j"}
    assert all("Bearer secret" in h["Authorization"] for h in endpoint.headers)
    assert not any("Authorization" in h for h in second_endpoint.headers)


def test_a_judges_own_key_is_used(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("JUDGE_KEY", "other")
    judge = judge_of({"model": "m"}, {"model": "j", "api_key_env": "JUDGE_KEY"})
    assert judge.api_key == "other"
