"""`argus research scenarios distill`: what several collections teach is written for another."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from argus.corpora.opening import read_corpus
from argus.scenarios import Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.distill import STUDENT, completion_of
from argus.scenarios.files import read_profiles
from argus.scenarios.profiles import scenario_prompt
from tests.support.distilling import TEXTS, TOPICS, document
from tests.support.scenarios import behaving
from tests.support.tiny_llama import make_tokenizer, save_llama, teach

pytest.importorskip("peft")
QUICK = ("--epochs", "1", "--rank", "2", "--learning-rate", "0.0001", "--device", "cpu")


def test_what_two_collections_taught_is_written_for_a_third(argus, endpoint, jsonl, tmp_path):
    """SPIKE's Table 2: the adapter has seen nothing of the collection that is searched."""
    endpoint.behave = behaving()
    for name, topics in {"food": TOPICS[:3], "ores": TOPICS[3:6], "yarn": TOPICS[6:]}.items():
        rows = [{"_id": topic, "text": document(topic).text} for topic in topics]
        jsonl(tmp_path / f"{name}.jsonl", rows)
    write = ("research", "scenarios", "write", "--corpus")
    teacher = ("--sample", "2", "--model", "m", "--base-url", endpoint.url, "--out", "seen")
    assert argus(*write, "food.jsonl", "--also", "ores.jsonl", *teacher).code == 0
    seen = read_profiles(tmp_path / "seen")
    assert Counter(id_.partition("/")[0] for id_ in seen) == {"food": 2, "ores": 2}
    taught = ScenarioProfile("Tea", (), (Scenario("Tea?", "Yes."),))
    answer = completion_of(Profiled("", ProfileState.OK, taught))
    prompts = [scenario_prompt(d.content, STUDENT) for d in read_corpus(tmp_path / "yarn.jsonl")]
    base = save_llama(tmp_path / "base", make_tokenizer([*TEXTS, answer], size=900))
    teach(base, [(p.system, p.text, answer) for p in prompts])  # else it writes no JSON
    learn = ("research", "scenarios", "distill", "--corpus", "seen", "--profiles", "seen")
    assert argus(*learn, "--base", base, "--out", "out", *QUICK).code == 0
    student = ("--role", "student", "--model", f"local:{base}", "--adapter", "out/adapter")
    assert argus(*write, "yarn.jsonl", *student, "--out", "unseen").code == 0
    jsonl(tmp_path / "queries.jsonl", [{"_id": "q", "text": "what is wool"}])
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\twool\t1\n")
    ran = argus(
        "research", "scenarios", "ablate", "--corpus", "yarn.jsonl", "--profiles", "unseen",
        "--queries", "queries.jsonl", "--qrels", "qrels.tsv", "--out", "grid", "--json",
    )  # fmt: skip
    assert json.loads(ran.out)["documents"]["with_scenarios"] == 2
