"""Retrievers of the team's own on judged queries: beside a run, and with failures left out."""

from __future__ import annotations

import json

import pytest

from argus.data import Query
from argus.errors import ArgusError, InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate

QUERIES = [Query("q1", "one"), Query("q2", "two"), Query("q3", "three")]
QRELS = {q.id: {f"d-{q.text}": 1} for q in QUERIES}
CONFIG = EvaluateConfig(resamples=1000, measures=("nDCG@5", "RR"), headline="nDCG@5", depth=5)


def right(query, k):
    return [f"d-{query}", "other"]


def wrong(query, k):
    return ["other", f"d-{query}"]


def test_results_none_of_which_is_judged_are_told(tmp_path):
    strange = evaluate(QUERIES, QRELS, out=tmp_path / "a", retrievers=[lambda q: ["x", "y"]],
                       config=CONFIG)  # fmt: skip
    assert any("no result of 3 queries is a judged document" in line and "'x'" in line
               for line in strange.headline())  # fmt: skip
    poor = evaluate(QUERIES, QRELS, out=tmp_path / "b", retrievers=[lambda q: ["x", "d-one"]],
                    config=CONFIG)  # fmt: skip
    assert poor.summary["systems"][0]["warning"] is None


def test_answers_of_an_earlier_run_are_told(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def retrieve(query, k):\n    return [f'd-{query}']\n")
    for fresh, kept in ((False, 0), (False, 3), (True, 0)):
        result = evaluate(
            QUERIES, QRELS, out=tmp_path / "out", retrievers=[str(file)], config=CONFIG, fresh=fresh
        )
        assert result.summary["systems"][0]["kept"] == kept
        assert any("3 of 3 answers are kept" in line for line in result.headline()) == bool(kept)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())["evaluation"]
    assert manifest["config"]["retrievers"] == [str(file)]
    assert manifest["config"]["asking"]["give_up_after"] == 20


def test_one_or_two_systems_are_measured(tmp_path):
    with pytest.raises(InputError, match="0 indexes, 3 retrievers and 0 runs"):
        evaluate(QUERIES, QRELS, out=tmp_path, retrievers=[right, wrong, right], config=CONFIG)

    def down(query):
        raise ConnectionError("refused")

    with pytest.raises(ArgusError, match="all 3 judged queries failed"):
        evaluate(QUERIES, QRELS, out=tmp_path, retrievers=[down], config=CONFIG)
    assert not (tmp_path / "summary.json").exists()
