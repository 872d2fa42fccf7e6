"""`argus tune apply scenarios` and what a search then shows, as a person types it."""

import json
import re

import pytest

from argus.data.types import Document
from argus.indexes.job import build_index
from tests.support.scenarios import DOCUMENTS, NOISE, behaving


@pytest.fixture
def corpus(tmp_path, jsonl):
    rows = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    return jsonl(tmp_path / "corpus.jsonl", rows)


@pytest.fixture
def asked(endpoint):
    """What names the endpoint on the command line."""
    endpoint.behave = behaving(**{"404": NOISE})
    return ("--model", "m", "--llm-base-url", endpoint.url)


@pytest.fixture
def built(minilm, tmp_path):
    build_index(
        [Document(d.id, d.text, d.title) for d in DOCUMENTS[:7]], out=tmp_path / "ix",
        encoder="all-MiniLM-L6-v2",
    )  # fmt: skip
    return tmp_path / "ix"


def test_an_index_gets_scenarios_which_a_search_shows(argus, asked, corpus, built, tmp_path):
    ran = argus("research", "scenarios", "write", "--corpus", corpus, "--out", "p", *asked)
    assert ran.code == 0
    assert "argus tune apply scenarios --index index/ --profiles p" in ran.out
    adding = ("tune", "apply", "scenarios", "--index", built, "--profiles", "p")
    lines = argus(*adding).out.splitlines()
    name = re.match(r"(scenarios-ME-[0-9a-f]{8}): \d+ views", lines[0])[1]
    assert lines[1] == "documents without scenarios, found by their own text alone: 1 (noise)"
    assert argus(*adding).out.splitlines()[0] == f"{name} was in the index already; nothing added"

    question = "priority queue"
    shown = argus("explain", question, "--index", built, "--k", 7).out
    assert "main topic: About: heapq Heap queue algorithm" in shown
    alone = argus("explain", question, "--index", built, "--k", 7, "--lambda", 1, "--json").out
    before = argus("explain", question, "--index", f"{built}@original", "--k", 7, "--json").out
    ranked = [[hit["id"] for hit in json.loads(out)["results"]] for out in (alone, before)]
    assert ranked[0] == ranked[1]
    argus(*adding, "--component", "I")
    assert argus("tune", "undo", name, "--index", built).code == 0
