"""`argus generative analyse`: figures, diagnoses and a report; bad files are told."""

from __future__ import annotations

import csv
import json
import re

import pyarrow.parquet as pq
import pytest

from tests.support.failures import GAP, RIGHT, WRONG, passage, record, two_of_three, write_output


def analyse(argus, *given, code=0):
    ran = argus("generative", "analyse", *given, "--out", "out")
    assert ran.code == code, ran.err
    return ran


def summary(folder):
    return json.loads((folder / "out" / "summary.json").read_text())["generative_failures"]


def rows(folder):
    return pq.read_table(folder / "out" / "failures.parquet").to_pylist()


def diagnoses(folder):
    return pq.read_table(folder / "out" / "failure_diagnosis.parquet").to_pylist()


def test_the_headline_the_files_and_the_report(argus, tmp_path):
    file = write_output(tmp_path / "seal.json", two_of_three())
    ran = analyse(argus, file)
    assert ran.out.splitlines()[:2] == [
        "seal: 3 questions, 3 judged",
        "  1 found first, 0 more among the first 10 (hits@10 33.3%), 2 failed",
    ]
    assert re.search(r"^  2 of 2 failed, 0 of 1 found +Nonspecific n-grams$", ran.out, re.M)
    assert "False pruning and exact ablations need --corpus-index and --model." in ran.out
    assert "Whether unannotated passages answer the question needs --llm." in ran.out
    assert [r["hit_1"] for r in rows(tmp_path)] == [1, 0, 0]
    assert [d["outcome"] for d in diagnoses(tmp_path)] == ["found at 1", "failed", "failed"]
    assert (
        "an unannotated passage holds an answer, the first at rank 2 (not judged)"
        in (diagnoses(tmp_path)[2]["evidence"])
    )
    with (tmp_path / "out" / "failure_tables" / "t16_outcomes.csv").open() as opened:
        found = {row["outcome"]: row["questions"] for row in csv.DictReader(opened)}
    assert found == {"PP": "0", "PN": "1", "NP": "0", "NN": "2"}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Takacs" in page and "http://" not in page.partition("<script>")[0]


def test_two_systems_stand_side_by_side_question_by_question(argus, tmp_path):
    first = write_output(tmp_path / "seal.json", two_of_three())
    better = [record("a", RIGHT), record("b", passage("p9"), positives=("p9",)), record("d")]
    second = write_output(tmp_path / "minder.json", better)
    ran = analyse(argus, first, second)
    assert "minder: 3 questions, 3 judged" in ran.out
    told = summary(tmp_path)["comparison"]
    assert (told["questions"], told["only_first"], told["only_second"]) == (2, 1, 1)
    hits = dict(zip(told["columns"], told["rows"][0], strict=True))
    assert (hits["figure"], hits["first"], hits["second"], hits["difference"]) == (
        "hit_1", 0.5, 1.0, 0.5,
    )  # fmt: skip
    assert {r["system"] for r in rows(tmp_path)} == {"seal", "minder"}


def test_the_same_name_twice_is_told_apart(argus, tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        write_output(tmp_path / folder / "seal.json", two_of_three())
    analyse(argus, tmp_path / "x" / "seal.json", tmp_path / "y" / "seal.json")
    assert [s["name"] for s in summary(tmp_path)["systems"]] == ["seal (1)", "seal (2)"]


def test_a_search_of_this_project_is_read_with_index_and_model(argus, ready, tmp_path):
    found = argus(
        "generative", "search", ready.index, "--model", ready.model, "--queries", ready.questions,
        "--beams", "3", "--mode", "minder", "--k", "5", "--out", "found",
    )  # fmt: skip
    assert found.code == 0, found.err
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\tbern\t1\nq2\tada\t1\n")
    analyse(argus, "found", "--corpus-index", ready.index, "--model", ready.model, "--qrels", qrels)
    told = summary(tmp_path)
    assert told["tokens"] == "index"
    (replay,) = told["replayed"]
    assert (replay["mode"], replay["beams"], replay["as_searched"]) == ("minder", 3, True)
    assert (replay["questions"], replay["of"], replay["same"]) == (2, 2, replay["compared"])
    assert (tmp_path / "out" / "pruned.csv").is_file()
    assert all(r["pruned"] is not None and r["positives_indexed"] == 1 for r in rows(tmp_path))
    assert not any("--corpus-index" in need for need in told["needs"])
    by_file = {row["query_id"]: row for row in rows(tmp_path)}
    analyse(argus, "found/dpr.json", "--qrels", qrels, "--fresh")
    again = {row["query_id"]: row for row in rows(tmp_path)}
    for name in ("hit_1", "hit_k", "passages", "ngrams_all", "dominance"):
        assert [by_file[q][name] for q in by_file] == [again[q][name] for q in by_file]


def test_a_run_needs_texts_and_then_gives_what_needs_no_ngrams(argus, ready, tmp_path):
    run = tmp_path / "bm25.trec"
    run.write_text("q1 Q0 basel 1 3.0 x\nq1 Q0 bern 2 2.0 x\nq2 Q0 ska 1 1.0 x\n")
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\tbern\t1\nq2\tada\t1\n")
    ran = analyse(argus, run, "--qrels", qrels, code=2)
    assert "a run, which has ids alone; expected --corpus and --queries with it" in ran.err
    texts = ("--corpus", ready.corpus, "--queries", ready.questions)
    ran = analyse(argus, run, "--qrels", qrels, *texts, "--corpus-index", ready.index)
    assert "The outputs hold no n-grams" in ran.out
    assert [r["hit_k"] for r in rows(tmp_path)] == [1, 0]
    assert [r["dominance"] for r in rows(tmp_path)] == [None, None]
    assert all(r["coverage"] is not None for r in rows(tmp_path))
    tables = summary(tmp_path)["systems"][0]["figures"]
    assert "not_applicable" in tables["scoring"]["t08_dominance_deciles"]
    assert tables["quality"]["t16_outcomes"]["n"] == 2


def test_a_run_of_other_questions_or_another_corpus_is_refused(argus, ready, tmp_path):
    run = tmp_path / "bm25.trec"
    texts = ("--corpus", ready.corpus, "--queries", ready.questions)
    run.write_text("q7 Q0 basel 1 3.0 x\n")
    assert (
        "1 questions of the run are not in --queries, the first 'q7'"
        in analyse(argus, run, *texts, code=2).err
    )
    run.write_text("q1 Q0 elsewhere 1 3.0 x\n")
    assert "none of its documents is in --corpus" in analyse(argus, run, *texts, code=2).err


def test_a_truncated_file_is_analysed_up_to_the_break(argus, tmp_path):
    whole = write_output(tmp_path / "seal.json", two_of_three()).read_text()
    (tmp_path / "seal.json").write_text(whole[: whole.index('"Who wrote c?"') + 30])
    ran = analyse(argus, tmp_path / "seal.json", code=2)
    assert "the report lacks something: " in ran.err
    assert "seal: 2 questions, 2 judged" in ran.out
    assert len(rows(tmp_path)) == 2
    assert summary(tmp_path)["systems"][0]["broken"]
    assert (tmp_path / "out" / "report.html").is_file()


def test_what_is_missing_is_not_applicable_and_never_zero(argus, tmp_path):
    bare = [record(f"q{i}", {**WRONG, "keys": None}, positives=None, answers=[]) for i in range(3)]
    ran = analyse(argus, write_output(tmp_path / "bare.json", bare))
    assert "bare: 3 questions, 0 judged" in ran.out
    assert "Which passages are correct is not known: give --qrels" in ran.out
    assert "The outputs hold no n-grams" in ran.out
    assert "No answers are known" in ran.out
    for row in rows(tmp_path):
        assert row["hit_1"] is row["dominance"] is row["answer_hit_1"] is None
    assert all(m["among_failed"] is None for m in summary(tmp_path)["systems"][0]["modes"])


def test_problems_of_keys_scores_and_passages_are_counted(argus, tmp_path):
    odd = passage("p1", [" ada", None, "4.0"], [" wrote", 2.0])
    odd["score"] = "12.5"
    ran = analyse(argus, write_output(tmp_path / "odd.json", [record("a", odd, odd, WRONG)]))
    assert "numbers written as text, read as numbers" in ran.out
    assert "1 passages listed twice, counted once" in ran.out
    assert "2 n-grams without frequency" in ran.out
    (row,) = rows(tmp_path)
    assert (row["passages"], row["frequency_top"], row["dominance"]) == (2, None, 4.0 / 6.0)


def test_correct_may_mean_that_the_answer_is_there(argus, tmp_path):
    file = write_output(tmp_path / "qa.json", [record("a", WRONG, GAP, positives=None)])
    analyse(argus, file, "--correct", "answer")
    (row,) = rows(tmp_path)
    assert (row["hit_1"], row["hit_k"], row["first_correct"], row["r_precision"]) == (0, 1, 2, None)


def test_another_threshold_changes_what_holds_and_is_shown(argus, tmp_path):
    file = write_output(tmp_path / "seal.json", two_of_three())
    analyse(argus, file, "--threshold", "dominance=0.9")
    modes = {m["id"]: m for m in summary(tmp_path)["systems"][0]["modes"]}
    assert modes["dominance"]["threshold_text"] == "dominance from 0.9 (as given)"
    assert not any("One n-gram decides" in d["modes"] for d in diagnoses(tmp_path))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--threshold", "dominance"), "'dominance'; expected ID=VALUE"),
        (("--threshold", "dominanz=1"), "no mode 'dominanz' with a threshold"),
        (("--threshold", "dominance=5"), "dominance=5; expected a number from 0 to 1"),
        (("--estimate",), "no language model; expected --llm with --estimate"),
        (("--correct", "maybe"), "expected one of annotated, answer"),
        (("--mode", "seal"), "--mode without --model"),
        (("--model", "m"), "--model without --corpus-index"),
        (("--budget", "1"), "--budget without --llm"),
    ],
)
def test_options_that_mean_nothing_are_refused(argus, tmp_path, given, said):
    file = write_output(tmp_path / "seal.json", two_of_three())
    assert said in analyse(argus, file, *given, code=2).err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "no question in it"),
        ("{}", "expected"),
        ('[{"answers": []}]', "no question in it"),
        ("", "expected"),
    ],
)
def test_what_holds_no_question_is_refused(argus, tmp_path, content, said):
    (tmp_path / "seal.json").write_text(content)
    assert said in analyse(argus, tmp_path / "seal.json", code=2).err
    assert not (tmp_path / "out").exists()


def test_missing_files_and_three_outputs_are_refused(argus, tmp_path):
    assert "no such file" in analyse(argus, "nowhere.json", code=2).err
    (tmp_path / "empty").mkdir()
    assert "the folder holds none of dpr.json" in analyse(argus, "empty", code=2).err
    file = write_output(tmp_path / "seal.json", two_of_three())
    assert "3 outputs; expected one, or two" in analyse(argus, file, file, file, code=2).err
