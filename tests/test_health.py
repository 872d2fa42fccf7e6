"""A check-up of real parts: files, retrievers, stores, an endpoint; what is broken is told."""

import json

import pytest

import argus
from argus.health import HealthState, Trial
from tests.support.stores import sqlite_vec

TEXTS = ("Ska is music from Jamaica.", "Bern is the capital of Switzerland.", "Dub is reggae.")
SEARCH = """
known = lambda query, k: ["d1", "d0"]
strange = lambda query, k: ["7", "8"]
partly = lambda query, k: ["d1", "8"]
otherwise = lambda query, k: ["c1", "c0"]
def broken(query, k):
    raise TimeoutError("the engine sleeps")
"""
QRELS = {"good": ["q1\td0"], "half": ["q1\td0", "q1\td9"], "other": ["q1\td8"],
         "foreign": ["q9\td0"]}  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"_id": f"d{i}", "code": f"c{i}", "text": t}) for i, t in enumerate(TEXTS)]
    (tmp_path / "docs.jsonl").write_text("\n".join(rows))
    (tmp_path / "search.py").write_text(SEARCH)
    queries = '{"_id": "q1", "text": "music from jamaica"}\n{"_id": "q2", "text": "x"}\n'
    (tmp_path / "q.jsonl").write_text(queries)
    for name, judged in QRELS.items():
        lines = ["query-id\tcorpus-id\tscore", *(f"{one}\t1" for one in judged)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines))
    return tmp_path


def tried(**parts):
    """Return the checks of these parts by name, with the default encoder."""
    encoder = argus.EncoderConfig()
    trial = Trial(argus.health.ProjectParts(**parts), encoder=encoder)
    return {check.part: check for check in trial.checks()}


@pytest.mark.parametrize(
    ("given", "state", "says"),
    [
        ("known", "good", "brought 2 documents for 3 queries"),
        ("strange", "bad", "2 of them are no documents, such as '7'"),
        ("otherwise", "bad", "their ids stand in the field 'code' of the documents"),
        ("partly", "note", "1 of them are no documents, such as '8'"),
        ("broken", "bad", "failed 3 of 3 queries; probe-0: raised TimeoutError: the engine sleeps"),
        ("absent", "bad", "absent"),
        ("good.tsv", "good", "2 questions, 1 judged"),
        ("half.tsv", "note", "1 of 2 relevant documents are not in the corpus"),
        ("other.tsv", "bad", "1 of 1 relevant documents are not in the corpus"),
        ("foreign.tsv", "bad", "2 questions, 0 judged"),
        ("none.tsv", "bad", "none.tsv"),
    ],
)
def test_a_retriever_and_questions_are_held_against_the_documents(files, given, state, says):
    parts = {"retriever": f"search.py:{given}"}
    if given.endswith(".tsv"):
        parts = {"queries": "q.jsonl", "qrels": files / given}
    check = tried(corpus="docs.jsonl", **parts)["questions" if "qrels" in parts else "retriever"]
    assert check.state == state and says in check.text
    assert bool(check.mend) is (state != "good")


def test_a_store_is_opened_and_its_vectors_compared(files):
    spec = sqlite_vec(files / "store").spec
    check = tried(corpus=spec)["documents"]
    assert check.state is HealthState.BAD  # of another model: 16 numbers a vector
    assert "docs holds 16" in check.text and "--encoder" in check.mend
