"""The verdict of real, small runs."""

import json
import shutil

import pytest

import argus
from argus.data import Document
from argus.data.documents import as_rows
from argus.data.writing import write_jsonl
from argus.errors import InputError
from argus.verdict import CountBounds
from tests.support.results import unbound
from tests.support.stores import fill_sqlite_vec
from tests.support.words import ByWords, corpus


def counts_of(folder):
    return {count.name: count for count in argus.read_verdict(folder).counts}


def test_the_sentences_of_an_exposure_are_counted_as_it_counted_them(exposed):
    summary = json.loads((exposed / "summary.json").read_text())["exposure"]
    count = counts_of(exposed)["by_its_words"]
    assert count.total == summary["sentence"]["probes"] == 80
    assert count.count == round(summary["sentence"]["success_at_k"] * 80)
    assert count.low == pytest.approx(summary["sentence"]["low"])
    assert "stays in it" in count.meaning  # a retriever: nothing was taken out
    assert count.validity[0].kind == "measured elsewhere" and "0.50" in count.validity[0].text


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
    assert "served what is in force (0 of 1 superseded documents)" in verdict.answer
    serving = [a.command for a in verdict.actions if "authority search" in a.command]
    assert serving and str(tmp_path / "edges.jsonl") in serving[0]


@pytest.mark.parametrize("text", ["{", '{"exposure": 7}', '{"exposure": {"k": "ten"}}'])
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
