"""SPIKE's Tables 5 and 6 as recipes: answers of a model that is named, judged by the same."""

import re
from statistics import fmean

import pytest

from argus.llm import ChatConfig
from argus.suite.recipes.answers import OfAnswers
from argus.suite.recipes.job import recipes, reproduce
from argus.suite.recipes.requests import AnswerRequest
from argus.suite.recipes.setting import Setting
from tests.support.qa import between, is_judging
from tests.support.tasks import PASSAGES, bright, lines

DOMAINS = {
    "Bio.": "biology", "Earth.": "earth_science", "Econ.": "economics", "Psy.": "psychology",
    "Rob.": "robotics", "Stack.": "stackoverflow", "Sus.": "sustainable_living",
}  # fmt: skip
GOLD = "light/Phototaxis_1.txt"
SECRET = "lamps attract moths since they steer by the moon"
"""What the scenario of the relevant document says, and no document."""


def question(domain):
    return {
        "query": f"Why do insects circle around street lights? ({domain})", "reasoning": "",
        "id": "0", "excluded_ids": ["N/A"], "gold_ids_long": ["light/Phototaxis.txt"],
        "gold_ids": [GOLD], "gold_answer": f"They steer by the moon, {domain}.",
    }  # fmt: skip


def profile(passage):
    known = passage["id"] == GOLD
    return {
        "_id": passage["id"], "main_topic": "Insects", "key_aspects": ["light"],
        "scenarios": [{
            "information_need": "Why insects fly to light",
            "explanation": SECRET if known else "It says nothing of use here at all.",
        }],
    }  # fmt: skip


@pytest.fixture
def data(tmp_path):
    """Return a folder of data with the seven tasks in BRIGHT's form, and their scenarios."""
    data = tmp_path / "data"
    for name, domain in DOMAINS.items():
        bright(data / "BRIGHT", [question(domain)], domain)
        lines(data / "spike" / name / "profiles.jsonl", *map(profile, PASSAGES))
    return data


def scored(prompt, n=0):
    """Repeat the context; score by scenario, relevant document and, so that they differ, task."""
    if not is_judging(prompt):
        return {"text": re.search(r"Document:\n(.*)\n\nBased on", prompt, re.DOTALL)[1]}
    answer, reference = between(prompt, "STUDENT ANSWER"), between(prompt, "REFERENCE ANSWER")
    extra = len(re.search(r"moon, (\w+)", reference)[1])
    score = 60 * (SECRET in answer) + 10 * ("Heat" not in answer) + extra
    return {"text": f"REASON:\nAs told.\nSCORE:\n{score}"}


def test_answers_are_scored_by_task_and_on_average(data, endpoint, tmp_path):
    endpoint.behave = scored
    model = ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001)
    result = reproduce("spike-5", out=tmp_path / "out", data=data, model=model)
    cells = {(cell["row"], cell["column"]): cell for cell in result.summary["cells"]}
    assert result.summary["failed"] == 0

    def row(name, shown):
        return [cells[name, f"{task} {shown}"]["measured"] for task in DOMAINS]

    extra = [len(re.match(r"\w+", domain)[0]) for domain in DOMAINS.values()]
    documents = row("MiniLM (not in the paper)", "doc.")
    assert documents == extra  # four documents of four, one on heat, without scenarios
    assert row("MiniLM +SPIKE (not in the paper)", "doc.") == extra
    scenarios = row("MiniLM +SPIKE (not in the paper)", "+sce.")
    assert scenarios == [60 + n for n in extra]
    average = cells["MiniLM +SPIKE (not in the paper)", "Avg. +sce."]
    assert average["measured"] == pytest.approx(fmean(scenarios))
    assert cells["MiniLM (not in the paper)", "Avg. +sce."]["reason"].startswith("scenarios are")
    assert "all-mpnet-base-v2 is not on this machine" in cells["Oracle", "Bio. doc."]["reason"]
    assert cells["SFR +SPIKE", "Avg. +sce."]["published"] == 62.0
    assert "GPT-4o judges" in result.summary["note"]
    asked = len(endpoint.requests)
    answering = [text for text in endpoint.texts if not is_judging(text)]
    assert all("Heat is energy" in text for text in answering), "no oracle is asked for here"
    reproduce("spike-5", out=tmp_path / "out", data=data, model=model)
    assert len(endpoint.requests) == asked, "what was answered is kept"


def test_all_relevant_documents_are_shown_where_a_row_asks_for_them(data, endpoint, tmp_path):
    endpoint.behave = scored
    model = ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001)
    home = tmp_path / "out"
    job = OfAnswers(Setting(data, data / "stdlib", home / "spike-5", home / "shared", 0.0, model))
    requests = [
        AnswerRequest(
            questions=f"bright:{data}/BRIGHT,domain=economics",
            profiles=str(data / "spike" / "Econ." / "profiles.jsonl"),
            ranked="relevant", shown=shown,
        )
        for shown in ("documents", "scenarios")
    ]  # fmt: skip
    assert [job.lacking(request) for request in requests] == ["", ""]
    assert list(job.measure(requests).values()) == [10 + len("economics"), 70 + len("economics")]


def test_nobody_is_asked_where_no_model_is_named(data, endpoint, tmp_path):
    result = reproduce("spike-5", out=tmp_path / "out", data=data)
    assert result.summary["measured"] == 0 and endpoint.requests == []
    reasons = {c["reason"] for c in result.summary["cells"] if c["row"].startswith("MiniLM")}
    assert any("--model NAME answers and judges" in reason for reason in reasons)
    listed = {recipe["name"]: recipe["here"] for recipe in recipes(data, tmp_path)}
    assert listed["spike-5"] == listed["spike-6"] == 0


def test_questions_without_reference_answers_are_told(data, endpoint, tmp_path):
    endpoint.behave = scored
    without = {key: v for key, v in question("biology").items() if key != "gold_answer"}
    bright(data / "BRIGHT", [without], "biology")
    model = ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001)
    result = reproduce("spike-5", out=tmp_path / "out", data=data, model=model)
    cells = {(cell["row"], cell["column"]): cell for cell in result.summary["cells"]}
    for column in ("Bio. doc.", "Avg. doc."):
        cell = cells["MiniLM (not in the paper)", column]
        assert cell["reason"] == "the questions of bright/biology have no reference answers"
    assert cells["MiniLM (not in the paper)", "Earth. doc."]["state"] == "measured"
