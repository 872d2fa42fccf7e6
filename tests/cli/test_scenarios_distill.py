"""`argus research scenarios distill`: what it writes and says, and what it refuses."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.scenarios import Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.distill import STUDENT, completion_of
from argus.scenarios.files import read_profiles, write_profiles
from argus.scenarios.profiles import scenario_prompt
from tests.support.distilling import DOCUMENTS, PROFILES, TEXTS, TOPICS, document
from tests.support.scenarios import behaving
from tests.support.tiny_llama import make_tokenizer, save_llama, teach

pytest.importorskip("peft")
QUICK = ("--epochs", "1", "--rank", "2", "--learning-rate", "0.01", "--device", "cpu")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_llama(
        tmp_path_factory.mktemp("models") / "base", make_tokenizer(TEXTS, size=900), hidden=16
    )


@pytest.fixture
def given(tmp_path, jsonl):
    """A corpus and its profiles."""
    corpus = jsonl(tmp_path / "corpus.jsonl", [{"_id": d.id, "text": d.text} for d in DOCUMENTS])
    return corpus, write_profiles(tmp_path / "profiles.jsonl", PROFILES.values())


@pytest.fixture
def distill(argus, given, base):
    def run(*more, corpus=given[0], profiles=given[1], model=base, quick=QUICK):
        return argus(
            "research", "scenarios", "distill", "--corpus", corpus, "--profiles", profiles,
            "--base", model,
            "--out", "out", *quick, *more,
        )  # fmt: skip

    return run


def said(ran):
    assert ran.code == 2 and ran.out == ""
    return "\n".join(line for line in ran.err.splitlines() if not line.endswith(" ..."))


def test_what_two_collections_taught_is_written_for_a_third(
    argus, endpoint, jsonl, distill, tmp_path
):
    """SPIKE's Table 2: the student has seen nothing of the collection that is searched."""
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
    yarn = read_corpus(tmp_path / "yarn.jsonl")
    prompts = [scenario_prompt(d.content, STUDENT) for d in yarn]
    small = save_llama(tmp_path / "small", make_tokenizer([*TEXTS, answer], size=900))
    teach(small, [(p.system, p.text, answer) for p in prompts])  # else it writes no JSON
    slow = (*QUICK, "--learning-rate", "0.0001")
    assert distill(corpus="seen", profiles="seen", model=small, quick=slow).code == 0
    student = ("--role", "student", "--model", f"local:{small}", "--adapter", "out/adapter")
    assert argus(*write, "yarn.jsonl", *student, "--out", "unseen").code == 0
    jsonl(tmp_path / "queries.jsonl", [{"_id": "q", "text": "what is wool"}])
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\twool\t1\n")
    ran = argus(
        "research", "scenarios", "ablate", "--corpus", "yarn.jsonl", "--profiles", "unseen",
        "--queries", "queries.jsonl", "--qrels", "qrels.tsv", "--out", "grid", "--json",
    )  # fmt: skip
    assert json.loads(ran.out)["documents"]["with_scenarios"] == 2


def test_fresh_does_not_delete_the_model_that_is_trained_on(distill, base, tmp_path):
    assert distill().code == 0
    shutil.copytree(base, tmp_path / "out" / "base")
    message = said(distill("--fresh", model=Path("out/base")))
    assert "--fresh would empty the folder that holds out/base" in message
    assert (tmp_path / "out" / "base" / "config.json").is_file()
