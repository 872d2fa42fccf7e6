"""Recipes of CAR measure the released file where it lies, else what they measured before."""

import json

import pytest

from argus.llm import ChatConfig
from argus.suite.reproduce import recipes, reproduce
from argus.suite.requests import AuthorityRequest, which_measured
from tests.support.harm import faithful, made
from tests.support.tasks import FINSUPERQA, lines


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def finsuperqa(data):
    """Return the folder of data with two released questions, one T0 and one T2."""
    lines(data / "car" / "finsuperqa_v1.jsonl", *FINSUPERQA)
    return data


def measured(result):
    return {(c["row"], c["column"]): c["measured"] for c in result.summary["cells"]}


def asks(data, **changes):
    """Return a request of FinSuperQA, as car-2 has it."""
    place = (
        f"car:{data}/car/finsuperqa_v1.jsonl,distractors={data}/car/finsuperqa_distractors.jsonl"
    )
    return AuthorityRequest(
        **{"benchmark": "finsuperqa", "released": place, "system": "okapi"} | changes
    )


def documents(request):
    return {record.id for record in request.open().records}


def test_a_table_is_of_the_released_file_and_says_so(finsuperqa, tmp_path):
    result = reproduce("car-2", out=tmp_path / "out", data=finsuperqa)
    values = measured(result)
    assert (values["BM25", "T0"], values["Oracle", "TCA"]) == (1.0, 1.0)
    assert values["TwoStage+RSSG", "T2"] == 1.0  # by the file's own supersessions
    (no_such,) = {c["reason"] for c in result.summary["cells"] if c["column"] == "T1"}
    assert no_such == "it applies to no question"  # and no question of T1 is made up
    said = (
        "Measured is the released DATA/car/finsuperqa_v1.jsonl without distractors "
        "(DATA/car/finsuperqa_distractors.jsonl is not here)."
    )
    assert result.summary["note"].endswith(said)
    assert said in (tmp_path / "out" / "car-2" / "tables" / "car-2.md").read_text()


def test_distractors_are_taken_where_they_lie(finsuperqa):
    assert len(documents(asks(finsuperqa))) == 4
    other = {"doc_id": "distractor_0", "text": "EMP001 disclosed.", "event_type": "x"}
    lines(finsuperqa / "car" / "finsuperqa_distractors.jsonl", other)
    assert len(documents(asks(finsuperqa))) == 5
    place = finsuperqa / "car" / "finsuperqa_v1.jsonl"
    assert list(which_measured([asks(finsuperqa)])) == [f"Measured is the released {place}."]


def test_gap_and_harm_are_of_the_released_pairs(data, tmp_path, endpoint):
    benchmark = made()
    by_id = {record.id: record for record in benchmark.records}
    pairs = [
        {"id": q.id, "cve_id": f"CVE-{n}", "product": f"p{n}",
         "disclosure_text": by_id[q.anchor[0]].text, "patch_text": by_id[q.gold[0]].text}
        for n, q in enumerate(benchmark.questions)
    ]  # fmt: skip
    home = data / "car"
    home.mkdir(parents=True)
    (home / "ghsa_real_pairs.json").write_text(json.dumps(pairs))
    questions = ({"id": q.id, "query": q.text} for q in benchmark.questions)
    lines(home / "ghsa_freeform_cache.jsonl", *questions)
    listed = {recipe["name"]: recipe["here"] for recipe in recipes(data, tmp_path / "out")}
    assert listed["car-4"] == 8
    gap = measured(reproduce("car-4", out=tmp_path / "out", data=data))
    assert gap["Jaccard", "Query-Disclosure"] > gap["Jaccard", "Query-Patch"]
    endpoint.behave = faithful
    model = ChatConfig(model="m", base_url=endpoint.url)
    result = reproduce("car-12", out=tmp_path / "out", data=data, model=model)
    assert measured(result)["Two-Stage (BM25)", "Says Patched %"] == 100
    assert "ghsa_real_pairs.json without distractors" in result.summary["note"]
