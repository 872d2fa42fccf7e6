"""Recipes of CAR measure the released file where it lies, else what they measured before."""

import json

import pytest

from argus.suite.reproduce import recipes, reproduce
from tests.support.harm import made
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


def test_a_table_is_of_the_released_file_and_says_so(finsuperqa, tmp_path):
    result = reproduce("car-2", out=tmp_path / "out", data=finsuperqa)
    values = measured(result)
    assert (values["BM25", "T0"], values["Oracle", "TCA"]) == (1.0, 1.0)
    assert values["TwoStage+RSSG", "T2"] == 1.0  # by the file's own supersessions
    (no_such,) = {c["reason"] for c in result.summary["cells"] if c["column"] == "T1"}
    assert no_such == "it applies to no question"  # and no question of T1 is made up
    said = (
        "Measured is the released DATA/car/finsuperqa_v1.jsonl, without distractors: "
        "none were released."
    )
    assert result.summary["note"].endswith(said)


def test_the_gap_is_of_the_released_pairs(data, tmp_path):
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
    result = reproduce("car-4", out=tmp_path / "out", data=data)
    gap = measured(result)
    assert gap["Jaccard", "Query-Disclosure"] > gap["Jaccard", "Query-Patch"]
    assert "ghsa_real_pairs.json, without distractors" in result.summary["note"]
