"""Scores of a retriever stay as it gives them, tied or not."""

import json

import pytest
from typer.testing import CliRunner

import argus
from argus.cli.main import app

QUESTION = "rain on the harbour"
RRF = {"a": 0.0328, "c": 0.0323, "b": 0.0323, "d": 0.0161}


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "docs.jsonl"
    rows = [{"_id": id_, "text": f"rain and the harbour, part {id_}"} for id_ in "abcde"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "mine.py").write_text(
        f"def tied(query, k):\n    return list({list(RRF.items())!r})[:k]\n\n\n"
        "def bare(query, k):\n    return ['c', 'b', 'a'][:k]\n"
    )
    return path


def explain(corpus, name, doc):
    words = ["explain", QUESTION, doc, "--retriever", f"{corpus.parent / 'mine.py'}:{name}"]
    result = CliRunner().invoke(app, [*words, "--corpus", str(corpus)])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_ranking_with_ties_keeps_its_scores_and_breaks_ties_by_id(corpus):
    config = argus.explanation.RunConfig(corpus=corpus)
    found = argus.explain_retriever(
        QUESTION, "d", f"{corpus.parent / 'mine.py'}:tied", config=config
    )
    above = [(row.rank, row.id, row.score) for row in found.standing.above]
    assert above == [(1, "a", 0.0328), (2, "b", 0.0323), (3, "c", 0.0323)]
    assert found.standing.run.score == 0.0161
    assert "score 0.0161" in explain(corpus, "tied", "d")


def test_ids_without_scores_are_shown_without(corpus):
    lines = explain(corpus, "bare", "a").splitlines()
    assert lines[0] == "a came back: rank 3 of 3"
