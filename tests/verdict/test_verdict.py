"""The verdict of real, small runs."""

import json
import shutil

import pytest

import argus
from argus.data import Document
from argus.data.documents import as_rows
from argus.data.writing import write_jsonl
from argus.errors import InputError
from argus.verdict import CountBounds, verdict_lines
from tests.support.results import unbound
from tests.support.stores import fill_sqlite_vec
from tests.support.words import ByWords, corpus


def counts_of(folder):
    return {count.name: count for count in argus.read_verdict(folder).counts}


def test_what_own_words_find_is_no_count_and_what_would_add_most_is_named(exposed):
    verdict = argus.read_verdict(exposed)
    assert verdict.counts == () and len(verdict.missing) == 4
    lines = list(verdict_lines(verdict))
    assert lines[1] == "verdict: nothing is counted yet."
    assert lines[2].strip().startswith("not measured: what people ask is answered; the index is")
    assert lines[3].strip() == verdict.command and "argus evaluate" in verdict.command


def test_the_worst_count_comes_first(exposed, tmp_path):
    out = unbound(shutil.copytree(exposed, tmp_path / "out"))
    reach = {"k": 10, "reachable": 99, "broken": {},
             "reached": {"asked": 99, "reached": 99, "low": 0.9, "high": 1.0}}  # fmt: skip
    drift = {"chunks": 10, "sources": 5, "kinds": {"stale": 8}}
    (out / "summary.json").write_text(json.dumps({"reach": reach, "drift": drift}))
    verdict = argus.read_verdict(out)
    assert [(c.name, c.level) for c in verdict.counts] == [
        ("as_its_source", "bad"), ("by_itself", "good"),
    ]  # fmt: skip
    lines = list(verdict_lines(verdict))
    assert lines[2] == (
        "  BAD       the index is as its sources are: 2 of 10 chunks (20.0%) are as their source "
        "is now"
    )


def test_judged_questions_are_counted_by_what_they_find(exposed, files, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(exposed, out)
    argus.evaluate(
        files, files / "qrels" / "test.tsv", corpus=files, out=out,
        retrievers=[ByWords(corpus(), lost=["alder-mill"])],
    )  # fmt: skip
    count = counts_of(out)["by_need"]
    assert (count.count, count.total, count.source) == (1, 2, "argus evaluate")
    assert count.validity[0].kind == "measured here"
    titles = [action.title for action in argus.read_verdict(out).actions]
    assert not any("Ask judged questions" in title for title in titles)


def test_a_store_is_counted_whole_and_what_it_loses_is_the_first_thing_to_do(tmp_path):
    fill_sqlite_vec(tmp_path / "docs.db")
    argus.reach(f"sqlite-vec:{tmp_path / 'docs.db'}/docs", out=tmp_path / "out")
    count = counts_of(tmp_path / "out")["by_itself"]
    summary = json.loads((tmp_path / "out/summary.json").read_text())["reach"]
    assert count.count == summary["reached"]["reached"]
    assert count.total == summary["reached"]["asked"] + sum(summary["broken"].values())
    assert count.low == count.high == count.share  # every record was asked for
    summary["reached"]["reached"] -= 2
    (unbound(tmp_path / "out") / "summary.json").write_text(json.dumps({"reach": summary}))
    verdict = argus.read_verdict(tmp_path / "out")
    assert verdict.counts[0].level == "bad"
    assert verdict.actions[0].title.startswith("Delete and add the 2 records")
    assert str(tmp_path / "docs.db") in verdict.actions[0].command


def test_superseded_documents_are_counted_by_those_that_answer_in_place_of_others(tmp_path):
    rows = [
        Document("old", "The speed limit is fifty.", "Limit", {"type": "law", "bill": "b1"}),
        Document("new", "The speed limit is thirty.", "Limit", {"type": "law", "bill": "b1"}),
        *corpus(),
    ]
    write_jsonl(tmp_path / "records.jsonl", as_rows(rows))
    edges = tmp_path / "edges.jsonl"
    edges.write_text('{"superseded": "old", "superseding": "new"}\n')
    source = argus.AuthoritySource(records=tmp_path / "records.jsonl", edges=edges)
    for lost, served in (((), 0), (("new",), 1)):
        out = tmp_path / f"out{served}"
        argus.audit_authority(source, out=out, retriever=ByWords(rows, lost=lost))
        count = counts_of(out)["in_force_served"]
        assert (count.count, count.total) == (1 - served, 1)
    verdict = argus.read_verdict(out)
    assert "what is served is in force (0 of 1 superseded documents)" in verdict.answer
    serving = [a.command for a in verdict.actions if "authority search" in a.command]
    assert serving and str(tmp_path / "edges.jsonl") in serving[0]


@pytest.mark.parametrize("text", ["{", '{"reach": 7}', '{"drift": {"chunks": "ten"}}'])
def test_a_damaged_summary_is_refused_by_name(exposed, tmp_path, text):
    unbound(shutil.copytree(exposed, tmp_path / "out"))
    (tmp_path / "out/summary.json").write_text(text)
    with pytest.raises(InputError, match=r"summary\.json"):
        argus.read_verdict(tmp_path / "out")


@pytest.mark.parametrize(
    ("low", "high", "level"),
    [(0.9, 0.95, "good"), (0.89, 0.99, "doubtful"), (0.5, 0.7, "bad"), (0.5, 0.71, "doubtful")],
)
def test_a_level_needs_the_whole_interval(low, high, level):
    assert CountBounds(good=0.9, bad=0.7, why="").level(low, high) == level
