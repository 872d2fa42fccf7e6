"""`argus research scenarios distill`: what it writes and says, and what it refuses."""

import shutil
from pathlib import Path

import pytest

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
            "research", "scenarios", "distill", "--corpus", corpus, "--profiles", profiles,
            "--base", model,
            "--out", "out", *quick, *more,
        )  # fmt: skip

    return run


def said(ran):
    assert ran.code == 2 and ran.out == ""
    return "\n".join(line for line in ran.err.splitlines() if not line.endswith(" ..."))


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


def test_fresh_does_not_delete_the_model_that_is_trained_on(distill, base, tmp_path):
    assert distill().code == 0
    shutil.copytree(base, tmp_path / "out" / "base")
    message = said(distill("--fresh", model=Path("out/base")))
    assert "--fresh would empty the folder that holds out/base" in message
    assert (tmp_path / "out" / "base" / "config.json").is_file()
