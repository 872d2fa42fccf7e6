"""A repair on the page: what its gain is of, who chose it, and what is advised after its undo."""

import html
import re

import pytest
from starlette.testclient import TestClient

import argus
from argus.data.types import Document, Query
from argus.encoders import DEFAULT_MODEL
from argus.indexes.job import build_index
from argus.remedies.undo import rollback
from argus.repair import RepairConfig
from argus.repair.job import repair_index
from argus.scenarios.files import read_fields
from argus.scenarios.remedy import add_scenarios
from argus.service.app import create_app
from argus.service.workplace import open_workplace

NEEDS = (
    "forget the oldest entry of a line-up", "merge what is in order", "insert without sorting",
    "make data smaller", "quote a comma in a table", "pretty indentation of objects",
    "a dictionary that lies on disk", "threads that wait for a task", "draw a random card",
    "read the time of another zone",
)  # fmt: skip
DOCUMENTS = [Document(f"d{i:02d}", f"Chapter {i} of the handbook.", f"Part {i}") for i in range(30)]
QUESTIONS = [Query(f"q{i}", need) for i, need in enumerate(NEEDS)]
QRELS = {f"q{i}": {f"d{i:02d}": 1} for i in range(len(NEEDS))}
OWN = {f"d{i:02d}": need for i, need in enumerate(NEEDS)}


def profiles(needs):
    return {
        doc: read_fields(
            doc,
            {"main_topic": need,
             "scenarios": [{"information_need": need, "explanation": need}]},
        )
        for doc, need in needs.items()
    }  # fmt: skip


@pytest.fixture
def index(tmp_path, minilm):
    build_index(DOCUMENTS, out=tmp_path / "index", encoder=minilm)
    return tmp_path / "index"


def page(index, name="repairs", results=None):
    place = open_workplace([results or index], index=str(index))
    with TestClient(create_app(place), base_url="http://127.0.0.1") as client:
        text = client.get(
            f"/page/-/{name}" if results is None else f"/page/{results.name}/{name}"
        ).text
    return html.unescape(re.sub("<[^>]+>", " ", text))


def test_a_gain_says_how_many_relevant_documents_have_the_remedy_and_who_chose_it(index, minilm):
    options = {"queries": QUESTIONS, "qrels": QRELS, "encoder": minilm}
    result = repair_index(index, **options, profiles=profiles(OWN))
    assert result.summary["kept"].startswith("scenarios")
    trial = next(t for t in result.summary["arms"] if t["arm"] == "scenarios")
    assert trial["coverage"] == {
        "documents": 30, "with_remedy": 10, "relevant": 10, "relevant_with_remedy": 10
    }  # fmt: skip
    told = "10 of 10 relevant documents have it, 10 of all 30"
    assert any(told in line for line in result.headline())
    assert told in html.unescape(result.report.read_text())
    text = page(index)
    assert told in text and "better on average" in text and "passes" not in text
    assert "Chosen by 10 judged questions" in text and "No judged questions" not in text
    repair_index(index, **options, config=RepairConfig(only_try=True))
    assert "Chosen by 10 judged questions" in page(index)  # another trial does not forget it


def test_nothing_is_advised_by_what_was_undone(tmp_path):
    clear = [
        Document(doc, f"The handbook says of this, among much else: {need}.")
        for doc, need in OWN.items()
    ]
    index = tmp_path / "index"
    build_index([*clear, *DOCUMENTS[10:]], out=index, encoder=DEFAULT_MODEL)
    wrong = {f"d{10 + i}": NEEDS[i % 10] for i in range(15)}  # one or two rivals to each question
    remedy = add_scenarios(index, profiles(wrong), weight=0.1).remedy
    out = tmp_path / "results"
    argus.evaluate(
        QUESTIONS, QRELS, out=out, indexes=[f"{index}@before:{remedy}", f"{index}@{remedy}"]
    )
    advice = [action.title for action in argus.read_verdict(out).actions]
    assert any(title.startswith("Undo the last repair") for title in advice)
    rollback(index, remedy)
    assert not any("Undo" in action.title for action in argus.read_verdict(out).actions)
    assert "Undo the last repair" not in page(index, "overview", out)
