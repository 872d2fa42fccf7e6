"""`argus scenarios qa` as a person types it."""

import json

import pytest

from argus.cli.model_options import Judge, LanguageModel
from argus.errors import InputError
from argus.llm import LocalConfig
from tests.support.qa import DOCUMENTS, asking, honest, is_judging


@pytest.fixture(scope="module")
def given(tmp_path_factory, shared, minilm):
    return asking(tmp_path_factory.mktemp("qa"), shared("spike_scenarios"), minilm)


@pytest.fixture
def qa(argus, given, endpoint):
    """Run the command on the small index with an honest endpoint."""
    endpoint.behave = honest

    def run(*arguments, qrels=("--qrels", given.qrels), answers=("--answers", given.answers)):
        return argus(
            "scenarios", "qa", "--index", given.index, "--queries", given.queries, *answers,
            *qrels, "--model", "m", "--base-url", endpoint.url, "--out", "out", *arguments,
        )  # fmt: skip

    return run


def test_means_differences_and_where_the_report_is(qa):
    ran = qa("--k", 3)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == f"questions: {DOCUMENTS} asked, 0 not drawn, 0 not applicable"
    arms = [line.split(":")[0] for line in lines[1:6]]
    assert arms == ["documents", "fused", "fused + scenarios", "oracle", "oracle + scenarios"]
    assert f"{DOCUMENTS} measured, 0 failed, nDCG@10 " in lines[1]
    assert lines[6].startswith("documents → fused: ")
    assert lines[-1] == "report: out/report.html"


def test_json_is_the_summary_and_nothing_else(qa):
    ran = qa("--limit", 2, "--k", 2, "--lambda", 0.5, "--json")
    summary = json.loads(ran.out)
    assert (summary["weight"], summary["k"], summary["questions"]["asked"]) == (0.5, 2, 2)


def test_an_estimate_by_stage_asks_nobody(qa, endpoint):
    ran = qa("--estimate", "--reason", "--limit", 3)
    assert ran.code == 0
    assert endpoint.requests == []
    stages = [line.split(":")[0] for line in ran.out.splitlines()]
    assert stages[:4] == ["reformulating", "answering", "judging", "total"]
    assert "reformulating: 3 of 3 prompts would be asked (0 are in the ledger" in ran.out
    found = json.loads(qa("--estimate", "--limit", 3, "--json").out)
    assert set(found["stages"]) == {"answering", "judging"}
    assert found["total"]["prompts"] == 2 * 3 * 5


def test_another_judge_does_not_get_the_others_key(qa, endpoint, second_endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-answering-one")
    second_endpoint.behave = honest
    ran = qa(
        "--limit", 2, "--judge-model", "j", "--judge-base-url", second_endpoint.url,
        "--judge-temperature", 1, "--votes", 2,
    )  # fmt: skip
    assert ran.code == 0
    assert not any(map(is_judging, endpoint.texts))
    assert all(map(is_judging, second_endpoint.texts))
    assert {(r["model"], r["temperature"]) for r in second_endpoint.requests} == {("j", 1.0)}
    assert all("Bearer secret" in h["Authorization"] for h in endpoint.headers)
    assert not any("Authorization" in h for h in second_endpoint.headers)
    assert "votes on one answer differ by 0.0 on average" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge-input-price", 1], "--judge-input-price without another judge"),
        (["--reason", "--reasoned", "r.csv"], "one of --reasoned and --reason"),
        (["--adapter", "x"], "--adapter with the endpoint's model"),
    ],
)
def test_options_that_do_not_fit_are_refused(qa, endpoint, arguments, message):
    ran = qa(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert endpoint.requests == []


def test_without_a_model_or_answers_it_says_what_to_give(argus, qa, given):
    ran = argus("scenarios", "qa", "--index", given.index, "--queries", given.queries)
    assert (ran.code, ran.out) == (2, "")
    assert "--model: no --model" in ran.err
    ran = qa(answers=())
    assert ran.code == 2
    assert "Give --answers FILE with the columns query_id and answer." in ran.err


ASKED = LanguageModel(model="m", base_url="http://localhost:1/v1", budget=1.0, input_price=1.0,
                      output_price=2.0)  # fmt: skip


def test_by_default_whoever_answers_judges():
    assert Judge().config(ASKED) is None


def test_a_judge_at_the_same_endpoint_needs_its_own_prices(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(InputError, match="Give --judge-input-price and --judge-output-price"):
        Judge(model="j").config(ASKED)
    judge = Judge(model="j", input_price=5.0, output_price=6.0).config(ASKED)
    assert (judge.model, judge.base_url, judge.api_key) == ("j", ASKED.options["base_url"], "k")
    assert (judge.input_price, judge.output_price, judge.budget) == (5.0, 6.0, 1.0)
    assert Judge(temperature=0.7).config(ASKED).temperature == 0.7


def test_a_judges_own_key_is_used(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("JUDGE_KEY", "other")
    asked = LanguageModel(model="m")
    judge = Judge(model="j", api_key_env="JUDGE_KEY").config(asked)
    assert judge.api_key == "other"


def test_a_local_answerer_leaves_the_judge_an_endpoint():
    judge = Judge(model="local:/models/j").config(ASKED)
    assert judge == LocalConfig(model="/models/j")
    with pytest.raises(InputError, match="decoding is greedy on this machine"):
        Judge(model="local:/models/j", temperature=0.5).config(ASKED)
    local = LanguageModel(model="local:/models/a")
    assert Judge(model="j", base_url="http://localhost:1/v1").config(local).model == "j"
