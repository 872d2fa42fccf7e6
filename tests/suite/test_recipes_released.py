"""Recipes of CAR measure the released file where it lies, else what they measured before."""

import json

import pytest

from argus.authority.benchmarks.collection import write_benchmark
from argus.llm import ChatConfig
from argus.suite.recipes import AuthorityRequest, read_recipe
from argus.suite.released import benchmark_lacking, open_benchmark_of, which_measured
from argus.suite.reproduce import recipes, reproduce
from tests.support.harm import faithful, made
from tests.support.tasks import FINSUPERQA, event, lines


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
    benchmark, _ = open_benchmark_of(request)
    return {record.id for record in benchmark.records}


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


def test_what_is_made_is_measured_where_no_file_lies(data):
    assert len(documents(asks(data))) == 12_250
    (told,) = which_measured([asks(data), asks(data, hop="T1")])
    assert told.startswith("Measured is finsuperqa as made here (") and told.endswith("not here).")


def test_a_folder_is_measured_rather_than_pairs_without_distractors(data):
    folder, pairs = data / "authority" / "fda", data / "car" / "fda_recall_pairs.json"
    place = f"car:{pairs},distractors={data}/car/fda_distractors.jsonl"
    request = asks(data, benchmark=str(folder), released=place)
    assert benchmark_lacking(request).endswith("is not here")
    assert list(which_measured([request])) == []
    pairs.parent.mkdir(parents=True)
    pair = {"id": "fda_0", "norm_name": "nizatidine", "recall_date": "20200415",
            "query": "Is the drug for ulcers still approved?", "anchor_text": "Nizatidine, ulcers",
            "superseder_text": "Recall D-1."}  # fmt: skip
    pairs.write_text(json.dumps([pair]))
    assert documents(request) == {"fda_0#label", "fda_0#recall"}
    write_benchmark(folder, made(), seed=0, settings={})
    assert open_benchmark_of(request) == (str(folder), None)
    lines(data / "car" / "fda_distractors.jsonl", {"doc_id": "d0", "text": "Another label."})
    assert documents(request) == {"fda_0#label", "fda_0#recall", "d0"}


FREE_FORM = "CVE (synth), generic free-form"


def test_free_form_questions_of_table_8_are_the_released_ones(data):
    older = event("old", "cve_disclosed", "14", "CVE-1 has been identified in postfix.")
    newer = event("new", "patch_released", "20", "The update is out.")
    question = {
        "example_id": "cve-t1-0000", "hop_type": "type1_patch", "employee": "postfix",
        "ticker": "CVE-1", "query": "Is postfix still affected by CVE-1?", "answer": "patched",
        "kb": [older, newer],
        "supersession_edges": [{"trigger_id": "new", "target_id": "old", "rule": "R"}],
    }  # fmt: skip
    file = lines(data / "car" / "cvepatchqa_v1.jsonl", question)
    cache = file.with_name("cve_synthetic_freeform_cache.jsonl")
    recipe = read_recipe("car-8", {"data": data})
    (own,) = {p for c in recipe.cells if c.row == FREE_FORM for p in c.parts if p.system == "okapi"}
    assert len(documents(own)) > 1000  # without these questions the file is no row of Table 8
    lines(cache, {"id": "cve-t1-0000", "query": "Was the flaw in the mail server mended?"})
    benchmark, _ = open_benchmark_of(own)
    assert [q.text for q in benchmark.questions] == ["Was the flaw in the mail server mended?"]


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
