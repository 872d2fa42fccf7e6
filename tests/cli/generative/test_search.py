"""`argus generative search`: hits in words, results in files, and what is refused."""

from __future__ import annotations

import json

import pytest

from argus.data.runs import ranking, read_run
from tests.support.ngrams import QUESTIONS, ROWS, write

SMALL = ("--beams", "3", "--tokens", "4", "--title-tokens", "6", "--smoothing", "0.05")


@pytest.fixture
def search(argus, ready):
    def run(*options, model=ready.model):
        given = () if model is None else ("--model", model)
        return argus("generative", "search", ready.index, *given, *SMALL, *options)

    return run


def test_one_question_shows_passages_and_writes_nothing(search, tmp_path):
    ran = search("--query", QUESTIONS["q2"], "--k", "2")
    assert ran.code == 0
    first, key, *rest = ran.out.splitlines()
    assert first.split()[0] == "1"
    assert key.split()[1] in {"title", "body", "question", "unigram"}
    assert "times)" in ran.out or "(once)" in ran.out
    assert sum(line.startswith("  2  ") for line in rest) == 1
    assert not any(tmp_path.iterdir())


def test_one_question_as_json_holds_all_ngrams(search):
    found = json.loads(search("--query", "Who?", "--k", "3", "--json").out)
    assert [hit["rank"] for hit in found["results"]] == [1, 2, 3]
    for hit in found["results"]:
        assert set(hit) == {"rank", "id", "score", "title", "text", "keys"}
        assert set(hit["keys"][0]) == {"text", "count", "weight", "view"}


def test_many_questions_leave_files_and_a_headline(search, ready, tmp_path):
    ran = search("--queries", ready.questions, "--k", "3", "--out", "out", "--corpus", ready.corpus)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "2 of 2 questions answered"
    assert lines[-4:-2] == ["dpr: out/dpr.json", "kilt: out/kilt.jsonl"]
    assert lines[-1] == "report: out/report.html"
    assert any(line.startswith("where scores come from: ") for line in lines)
    again = search("--queries", ready.questions, "--k", "3", "--out", "out")
    assert "2 of them were answered in an earlier run" in again.out


def test_a_run_goes_into_the_other_commands(search, argus, ready, tmp_path):
    search("--queries", ready.questions, "--k", "10", "--out", "out")
    (run,) = (tmp_path / "out").glob("run.*")
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\tbern\t1\nq2\tada\t1\n")
    measured = argus("evaluate", "--run", run, "--run", run, "--queries", ready.questions,
                     "--qrels", qrels, "--corpus", ready.corpus, "--out", "measured")  # fmt: skip
    assert measured.code == 0
    found = read_run(run)
    best = ranking(found["q1"])[0]
    absent = next(row["_id"] for row in ROWS if not any(row["_id"] in s for s in found.values()))
    records = [{"_id": id_, "text": id_, "type": "page", "time": time}
               for id_, time in ((absent, "2020"), (best, "2020"))]  # fmt: skip
    write(tmp_path / "records.jsonl", records)
    for newer, older, violated in (
        (absent, best, [query for query, scores in found.items() if best in scores]),
        (best, absent, []),
    ):
        (tmp_path / "edges.tsv").write_text(f"superseder\tsuperseded\n{newer}\t{older}\n")
        linted = argus("authority", "lint", run, "--records", "records.jsonl",
                       "--edges", "edges.tsv", "--json")  # fmt: skip
        assert linted.code == bool(violated), linted.err
        told = json.loads(linted.out)["violations"]
        assert [row["query_id"] for row in told] == violated
        assert all(row["document"] == older for row in told)


def test_a_single_question_may_leave_files_too(search, tmp_path):
    assert search("--query", "Who?", "--out", "out", "--format", "dpr").code == 0
    (item,) = json.loads((tmp_path / "out" / "dpr.json").read_text())
    assert (item["id"], item["question"]) == ("query", "Who?")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--queries: neither --queries nor --query; expected one of them"),
        (("--query", "a", "--queries", "b"), "--queries: --queries and --query; expected one"),
        (("--query", " "), "--query: an empty query"),
        (("--queries", "none.json"), "none.json: no such file; expected questions"),
        (("--queries", "."), ".: the folder holds no queries file"),
        (("--query", "a", "--mode", "sael"), "--mode: 'sael'; expected one of seal, minder"),
        (("--query", "a", "--format", "csv"), "--format: 'csv'; expected one of dpr, kilt, trec"),
        (("--query", "a", "--length-penalty", "1"), "--length-penalty: 1.0; expected a number"),
        (("--query", "a", "--length-penalty", "1.5"), "--length-penalty: 1.5; expected a number"),
        (("--queries", "x", "--topics", "t"), "--topics: 't'; expected one of auto, dpr, dpr_qas"),
    ],
)
def test_bad_options_are_refused_and_leave_no_folder(search, tmp_path, options, message):
    ran = search(*options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"argus: {message}")
    assert not (tmp_path / "argus-out").exists()


def test_without_a_model_it_is_said_what_to_do(search):
    ran = search("--query", "a", model=None)
    assert ran.code == 2
    assert ran.err.startswith("argus: --model: no model is given, and none ships with Argus")
    assert "argus generative train" in ran.err


def test_a_batch_that_does_not_fit_is_halved_and_that_is_said(search, ready, monkeypatch):
    from argus.generative.searcher import GenerativeSearcher

    whole = GenerativeSearcher.keys

    def short_of_memory(self, questions):
        if len(questions) > 1:
            raise MemoryError
        return whole(self, questions)

    monkeypatch.setattr(GenerativeSearcher, "keys", short_of_memory)
    ran = search("--queries", ready.questions, "--batch", "2", "--out", "out")
    assert ran.code == 0
    assert "2 of 2 questions answered" in ran.out
    assert "out of memory with 2 questions at once: 1 instead (--batch)" in ran.out


def test_a_broken_file_of_questions_is_named_with_its_line(search, tmp_path):
    (tmp_path / "nq.tsv").write_text("who\t['a']\nwhat\t['b'\n")
    ran = search("--queries", "nq.tsv")
    assert ran.code == 2
    assert ran.err.startswith("argus: nq.tsv, line 2: ")
