"""Two runs of any retrievers: what enters and leaves the top k."""

from __future__ import annotations

import json

import pytest

from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking, read_run
from argus.data.types import Query
from argus.errors import InputError
from argus.evaluation.compare.job import compare_retrievers
from argus.generative.decode.settings import Decoding
from argus.generative.jobs.search import search_ngrams
from argus.generative.jobs.settings import NgramSearchConfig
from argus.generative.settings import Scoring
from tests.support.ngrams import QUESTIONS, make_ready


@pytest.fixture
def runs(tmp_path):
    made = {
        "a.json": {"q1": ["x", "y"], "q2": ["x", "z"], "q3": ["x"]},
        "b.json": {"q1": ["y", "x"], "q2": ["w", "x"]},
    }
    for name, run in made.items():
        (tmp_path / name).write_text(json.dumps(run))
    return tmp_path / "a.json", tmp_path / "b.json"


def test_documents_gained_lost_and_kept_are_told(runs, tmp_path):
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(json.dumps({"_id": "w", "title": "W", "text": "w"}) + "\n")
    queries = [Query("q2", "Which?")]
    found = compare_retrievers(runs=runs, out=tmp_path / "out", queries=queries, corpus=corpus, k=2)
    rows = {row["id"]: (row["verdict"], row["before"], row["after"])
            for row in found.table.to_pylist()}  # fmt: skip
    assert rows == {
        "w": ("gained", "in 0 lists", "in 1 lists"),
        "z": ("lost", "in 1 lists", "in 0 lists"),
        "x": ("same", "in 2 lists", "in 2 lists"),
        "y": ("same", "in 1 lists", "in 1 lists"),
    }
    assert found.summary["notes"] == ["1 queries are in one of the runs only: left out"]
    assert found.summary["changed_queries"] == 1
    page = found.report.read_text("utf-8")
    assert "2 queries are in both runs" in page and "Which?" in page


def test_order_within_the_top_k_is_no_change_but_the_cut_is(runs, tmp_path):
    found = compare_retrievers(runs=runs, out=tmp_path / "out", k=1)
    assert found.summary["changed_queries"] == 2
    assert {r["id"]: r["verdict"] for r in found.table.to_pylist()} == {
        "w": "gained", "x": "lost", "y": "gained",
    }  # fmt: skip


def test_two_generative_searches_are_compared_by_what_they_rank(tmp_path):
    ready = make_ready(tmp_path)
    files = []
    for beams in (1, 4):
        config = NgramSearchConfig(
            model=ready.model, k=8, scoring=Scoring(smoothing=0.05),
            decoding=Decoding(beams=beams, body_tokens=4, title_tokens=6),
        )  # fmt: skip
        search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / f"b{beams}")
        (file,) = (tmp_path / f"b{beams}").glob("run.*")
        files.append(file)
    found = compare_retrievers(runs=files, out=tmp_path / "out", corpus=ready.corpus, k=4)
    runs = [read_run(file) for file in files]
    before, after = ({d for s in run.values() for d in ranking(s)[:4]} for run in runs)
    verdicts = {row["id"]: row["verdict"] for row in found.table.to_pylist()}
    assert verdicts == {
        **dict.fromkeys(before & after, "same"),
        **dict.fromkeys(before - after, "lost"), **dict.fromkeys(after - before, "gained"),
    }  # fmt: skip
    assert {"gained", "lost"} & set(verdicts.values()), "both searches found the same"
    assert found.summary["queries"]["given"] == len(QUESTIONS)


def test_runs_of_other_queries_and_fresh_over_input_are_refused(runs, tmp_path):
    other = tmp_path / "o.json"
    other.write_text('{"q9": ["x"]}')
    with pytest.raises(InputError, match="no query in common"):
        compare_retrievers(runs=(runs[0], other), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    ArtifactFolder(tmp_path).open()
    with pytest.raises(InputError, match="--fresh would empty"):
        compare_retrievers(runs=runs, out=tmp_path, fresh=True)
