"""`argus scenarios distill`: what it writes and says, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
import typer

from argus.cli import main
from argus.scenarios.files import write_profiles
from tests.support.distilling import DOCUMENTS, PROFILES, TEXTS
from tests.support.tiny_llama import make_tokenizer, save_llama

pytest.importorskip("peft")
QUICK = ("--epochs", "1", "--rank", "2", "--learning-rate", "0.01", "--device", "cpu")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_llama(
        tmp_path_factory.mktemp("models") / "base", make_tokenizer(TEXTS, size=900), hidden=16
    )


@pytest.fixture
def given(tmp_path, jsonl):
    """A corpus and its profiles."""
    corpus = jsonl(tmp_path / "corpus.jsonl", [{"_id": d.id, "text": d.text} for d in DOCUMENTS])
    return corpus, write_profiles(tmp_path / "profiles.jsonl", PROFILES.values())


@pytest.fixture
def distill(argus, given, base):
    def run(*more, corpus=given[0], profiles=given[1], model=base, quick=QUICK):
        return argus(
            "scenarios", "distill", "--corpus", corpus, "--profiles", profiles, "--base", model,
            "--out", "out", *quick, *more,
        )  # fmt: skip

    return run


def said(ran):
    assert ran.code == 2 and ran.out == ""
    return "\n".join(line for line in ran.err.splitlines() if not line.endswith(" ..."))


def test_it_writes_adapter_merged_model_and_figures(distill, tmp_path, base):
    ran = distill("--merge")
    assert ran.code == 0, ran.err
    out = tmp_path / "out"
    assert {p.name for p in out.iterdir() if not p.name.startswith(".")} == {
        "adapter", "merged", "training", "losses.parquet", "manifest.json", "summary.json",
    }  # fmt: skip
    summary = json.loads((out / "summary.json").read_text())["scenarios_distill"]
    note = json.loads((out / "adapter" / "distill.json").read_text())
    assert summary["examples"]["train"] == 7 and summary["examples"]["noise"] == 1
    assert [e["epoch"] for e in note["evaluations"]] == [0, 1]
    assert note["teachers"] == {"teacher": 7, "unknown": 1}
    assert note["settings"]["rank"] == 2 and note["base"]["name"] == str(base)
    losses = parquet.read_table(out / "losses.parquet").to_pylist()
    assert [row["step"] for row in losses] == list(range(1, summary["steps"] + 1))
    assert "7 documents to train on, 1 to validate with, 1 of them noise; none left out" in ran.out
    assert "evaluation loss, before training: " in ran.out and "(best, kept)" in ran.out
    assert "tokens per second in float32 on cpu; peak memory" in ran.out
    assert "--model local:out/merged" in ran.out


def test_the_same_command_again_trains_nothing(distill, tmp_path):
    first = json.loads(distill("--json").out)
    again = json.loads(distill("--json").out)
    assert again["evaluations"] == first["evaluations"] and again["seconds"] == first["seconds"]
    assert "holds another training" in said(distill("--seed", "5"))
    fresh = json.loads(distill("--seed", "5", "--fresh", "--json").out)
    assert fresh["evaluations"] != first["evaluations"]


def test_profiles_of_another_corpus_are_nothing_to_train_on(distill, tmp_path, jsonl):
    other = jsonl(tmp_path / "other.jsonl", [{"_id": "x", "text": "y"}])
    message = said(distill(corpus=other))
    assert (
        "--profiles: 0 of 8 profiles can be learnt from (8 of documents that the corpus" in message
    )
    assert "expected at least 2" in message and not (tmp_path / "out").exists()


def test_one_example_is_too_few_and_long_ones_are_named(distill, tmp_path):
    one = write_profiles(tmp_path / "one.jsonl", [PROFILES["rain"]])
    assert "1 of 1 profiles can be learnt from" in said(distill(profiles=one))
    message = said(distill("--max-length", "20"))
    assert "0 of 8 profiles can be learnt from (8 longer than 20 tokens)" in message


def test_a_base_that_cannot_be_used_is_named(distill, base, tmp_path):
    bare = shutil.copytree(base, tmp_path / "bare")
    for path in bare.iterdir():
        if "token" in path.name or "template" in path.name:
            path.unlink()
    assert "the tokenizer cannot be loaded" in said(distill(model=bare))
    assert "model 'no/such' could not be found" in said(distill(model="no/such"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--validation-share", "1"),
            "--validation-share: 1.0; expected a number above 0, below 1",
        ),
        (("--dtype", "int8"), "--dtype: 'int8'; expected one of auto, float32"),
        (("--dropout", "1"), "--dropout: 1.0; expected a number from 0, below 1"),
        (("--device", "abacus"), "--device: 'abacus' is no device"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(distill, options, message):
    assert message in said(distill(*options))


def test_fresh_does_not_delete_the_model_that_is_trained_on(distill, tmp_path):
    assert distill("--merge").code == 0
    message = said(distill("--fresh", model=Path("out/merged")))
    assert "--fresh would empty the folder that holds out/merged" in message
    assert (tmp_path / "out" / "merged" / "config.json").is_file()


def test_the_command_is_there():
    command = typer.main.get_command(main.app)
    assert "distill" in command.commands["scenarios"].commands
