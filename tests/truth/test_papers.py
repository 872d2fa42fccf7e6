"""Tables of the papers and what they rest on: promised, looked up and told as they are."""

import json

import pytest

import argus
from argus.authority.benchmarks.collection import write_benchmark
from argus.errors import InputError
from argus.suite.requests import PUBLISHED
from tests.support.authorities import LATER, chain
from tests.support.generating import output_records, small_vocabulary
from tests.support.harm import made
from tests.support.tasks import bright


def test_reproduce_promises_what_it_then_measures(argus, tmp_path):
    data = tmp_path / "data"
    write_benchmark(data / "authority" / "ghsa", made(), seed=0, settings={})
    (data / "thesis").mkdir()
    for name in PUBLISHED:
        (data / "thesis" / name).write_text(json.dumps(output_records()))
    small_vocabulary().save(data / "thesis" / "tokenizer")
    options = "--data", data, "--out", tmp_path / "out", "--json"
    listed = {one["name"]: one for one in json.loads(argus("research", "recipes", *options).out)}
    assert listed["car-4"]["here"] and listed["thesis-13"]["perhaps"]
    for name in ("car-4", "thesis-13"):
        measured = json.loads(argus("research", "reproduce", name, *options).out)["measured"]
        most = listed[name]["here"] + listed[name]["perhaps"]
        assert measured > 0 and listed[name]["here"] <= measured <= most, name


def test_the_look_up_blind_to_rules_finds_recalls_of_labels_without_time(argus, tmp_path):
    drugs = ("amber", "birch", "cedar", "dahlia", "elder", "fern", "ginger", "hazel")
    pairs = [
        {"id": f"F{i}", "norm_name": drug, "query": f"Is the drug for {drug} ache approved?",
         "anchor_text": f"Tablets for {drug} ache.", "superseder_text": f"Lot {i} is withdrawn.",
         "recall_date": f"2024-01-{i + 1:02}"}
        for i, drug in enumerate(drugs)
    ]  # fmt: skip
    file = tmp_path / "fda_recall_pairs.json"
    file.write_text(json.dumps(pairs))
    ran = argus(
        *("research", "authority", "score", "--benchmark", f"car:{file}", "--encoder", "none"),
        *("--k", 1, "--system", "okapi", "--system", "latest-okapi", "--json"),
    )
    systems = {one["name"]: one["overall"] for one in json.loads(ran.out)["systems"]}
    assert systems["okapi"]["controlling_hit"]["value"] == 0
    assert systems["latest-okapi"]["controlling_hit"]["value"] == 1


@pytest.mark.parametrize("kind", ["beir", "mteb"])
def test_a_split_that_is_a_path_is_refused_by_name(kind, tmp_path):
    folder = tmp_path / "task"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d", "text": "rain"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "rain"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    (tmp_path / "x.tsv").write_text((folder / "qrels" / "test.tsv").read_text())
    assert argus.tasks.open_task(f"{kind}:{folder},split=test").qrels == {"q": {"d": 1}}
    for path in (tmp_path / "x", "../../x"):
        with pytest.raises(InputError, match="split=") as error:
            argus.tasks.open_task(f"{kind}:{folder},split={path}")
        assert str(folder) in error.value.expected


def test_a_reasoning_that_is_a_path_is_refused_by_name(tmp_path):
    folder, away = bright(tmp_path / "BRIGHT"), tmp_path / "away_reason"
    (folder / "examples").rename(away)
    (folder / "examples").symlink_to(away)
    with pytest.raises(InputError, match="reasoning=") as error:
        argus.tasks.open_task(f"bright:{folder},reasoning=../away")
    assert str(folder) in error.value.expected


def test_controlling_looks_up_each_record_once():
    authority = argus.Authority(chain("d1", "d2", "d3"), [LATER])
    assert authority.controlling(["d1"]) == ["d3"]
    assert authority.calls.lookups == 3
    assert list(authority.controlling_chains(["d1"])) == ["d3"]
    assert authority.calls.lookups == 6
