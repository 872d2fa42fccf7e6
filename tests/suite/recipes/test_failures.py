"""The thesis' tables that need answers, an index or a judge: measured where these are."""

import json

import pytest

from argus.llm import ChatConfig
from argus.suite.recipes.job import recipes, reproduce
from argus.suite.recipes.outputs import PUBLISHED
from tests.support.failures import passage, record, write_output

VERDICTS = ("YES", "PARTIAL", "YES", "NO")
"""Of the unannotated passages, by turns; their texts name them."""
CASES = 12


@pytest.fixture
def data(tmp_path):
    """Return a folder with both outputs: half of 24 questions have a hit, the others an answer."""
    home = tmp_path / "data" / "thesis"
    home.mkdir(parents=True)
    texts = [f"Ada, says {VERDICTS[n % 4]} of {n}." for n in range(CASES)]
    key = [" Ada", 3, 8.0]
    hits = [record(f"h{n}", passage("p1", key, text="Ada.")) for n in range(CASES)]
    others = [record(f"u{n}", passage("p2", key, text=texts[n])) for n in range(CASES)]
    for name in PUBLISHED:
        write_output(home / name, [*hits, *others])
    return tmp_path / "data"


def judging(prompt, n=0):
    verdict = next(v for v in ("YES", "NO", "PARTIAL") if f"says {v} of" in prompt)
    return {"text": json.dumps({"verdict": verdict, "explanation": "It says so."})}


def column(result, name="SEAL %"):
    return {c["row"]: c["measured"] for c in result.summary["cells"] if c["column"] == name}


def test_a_model_that_is_named_judges_what_nobody_annotated(data, endpoint, tmp_path):
    endpoint.behave = judging
    model = ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001)
    verdicts = reproduce("thesis-10", out=tmp_path / "out", data=data, model=model)
    for system in ("SEAL %", "MINDER %"):
        assert column(verdicts, system) == {"YES": 50, "NO": 25, "PARTIAL": 25}
    hits = reproduce("thesis-11", out=tmp_path / "out", data=data, model=model)
    assert column(hits) == {
        "Hit@10": 50, "+ YES verdicts": 75, "+ YES and PARTIAL verdicts": pytest.approx(87.5)
    }  # fmt: skip
    assert hits.summary["cells"][0]["published"] == 76.1


def test_without_a_model_nobody_is_asked_and_hits_are_measured(data, endpoint, tmp_path):
    listed = {recipe["name"]: recipe["perhaps"] for recipe in recipes(data, tmp_path / "out")}
    hits = reproduce("thesis-11", out=tmp_path / "out", data=data)
    assert column(hits) == {
        "Hit@10": 50, "+ YES verdicts": None, "+ YES and PARTIAL verdicts": None
    }  # fmt: skip
    assert "--model NAME" in hits.summary["cells"][-1]["reason"]
    assert endpoint.requests == []
    assert (listed["thesis-10"], listed["thesis-11"], listed["thesis-9"]) == (0, 2, 6)
    assert listed["thesis-12"] == 0  # published outputs come without their index


def test_a_judge_that_cannot_be_asked_fails_its_cells_alone(data, endpoint, tmp_path):
    endpoint.behave = lambda *_: {"text": "I would rather not say."}
    model = ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001, attempts=1)
    result = reproduce("thesis-11", out=tmp_path / "out", data=data, model=model)
    states = {c["row"]: c["state"] for c in result.summary["cells"]}
    assert states == {
        "Hit@10": "measured", "+ YES verdicts": "failed", "+ YES and PARTIAL verdicts": "failed"
    }  # fmt: skip


def test_tables_of_answers_lack_them_before_anything_is_trained(tmp_path):
    listed = {recipe["name"]: recipe["perhaps"] for recipe in recipes(tmp_path, tmp_path / "out")}
    for name in ("thesis-7", "thesis-9", "thesis-10", "thesis-11"):
        assert listed[name] == 0
    result = reproduce("thesis-7", out=tmp_path / "out", data=tmp_path)
    assert result.summary["not_run"] == 8
    assert "questions have no answers" in result.summary["cells"][0]["reason"]
    assert not (tmp_path / "out" / "shared").exists(), "nothing was trained"
