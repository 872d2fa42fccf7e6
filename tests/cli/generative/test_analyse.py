"""`argus research generative analyse`: figures, diagnoses and a report; bad files are told."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from tests.support.failures import WRONG, record, two_of_three, write_output


def analyse(argus, *given, code=0):
    ran = argus("research", "generative", "analyse", *given, "--out", "out")
    assert ran.code == code, ran.err
    return ran


def summary(folder):
    return json.loads((folder / "out" / "summary.json").read_text())["generative_failures"]


def rows(folder):
    return pq.read_table(folder / "out" / "failures.parquet").to_pylist()


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


def test_a_file_that_breaks_off_is_refused(argus, tmp_path):
    whole = write_output(tmp_path / "seal.json", two_of_three()).read_text()
    (tmp_path / "seal.json").write_text(whole[: whole.index('"Who wrote c?"') + 30])
    ran = analyse(argus, tmp_path / "seal.json", code=2)
    assert "seal.json: broken JSON (it breaks off at item [2])" in ran.err
    assert not (tmp_path / "out").exists()


def test_what_is_missing_is_not_applicable_and_never_zero(argus, tmp_path):
    bare = [record(f"q{i}", {**WRONG, "keys": None}, positives=None, answers=[]) for i in range(3)]
    ran = analyse(argus, write_output(tmp_path / "bare.json", bare))
    assert "bare: 3 questions, 0 judged" in ran.out
    assert "It is not known which passages are correct" in ran.out
    assert "The passages have no n-grams" in ran.out
    for row in rows(tmp_path):
        assert row["hit_1"] is row["dominance"] is row["answer_hit_1"] is None
    assert all(m["among_failed"] is None for m in summary(tmp_path)["systems"][0]["modes"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--estimate",), "no language model; expected --llm with --estimate"),
        (("--correct", "maybe"), "expected one of annotated, answer"),
        (("--mode", "seal"), "--mode, --beams or --replay without --model"),
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
