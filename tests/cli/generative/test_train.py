"""`argus generative train`: what it writes and says, and what it refuses."""

import json

import pytest
import torch

from argus.cli.generative import Learning
from argus.generative.training.config import learning
from argus.training import loop

QUICK = ("--d-model", "32", "--layers", "1", "--epochs", "1", "--batch", "8", "--device", "cpu")


@pytest.fixture
def train(argus, ready):
    def run(*more, index=ready.index):
        return argus(
            "generative", "train", "--index", index, "--corpus", ready.corpus, "--out", "out",
            *QUICK, *more,
        )  # fmt: skip

    return run


def said(ran):
    assert ran.code == 2 and ran.out == ""
    return ran.err


def test_it_trains_says_how_it_went_and_does_nothing_again(train, tmp_path):
    ran = train("--hold-out", "1")
    assert ran.code == 0, ran.err
    out = tmp_path / "out"
    assert {p.name for p in out.iterdir() if not p.name.startswith(".")} == {
        "model", "training", "held_out.jsonl", "held_out.tsv", "losses.parquet",
        "manifest.json", "summary.json",
    }  # fmt: skip
    assert "0 questions, 1 titles held out" in ran.out
    assert "evaluation loss, before training: " in ran.out and "(best, kept)" in ran.out
    assert "stopped after 1 epochs" in ran.out and "tokens per second in float32 on" in ran.out
    assert "model: out/model (" in ran.out
    first = json.loads((out / "summary.json").read_text())["generative_train"]
    again = json.loads(train("--hold-out", "1", "--json").out)
    assert again["evaluations"] == first["evaluations"] and again["seconds"] == first["seconds"]
    assert "holds another training" in said(train("--seed", "4"))
    assert train("--seed", "4", "--fresh").code == 0


def test_time_that_was_too_short_is_said(train):
    assert "give more --minutes, and it goes on" in train("--minutes", "0.00001").out


def test_batches_that_did_not_fit_are_said(train, monkeypatch):
    real = loop.Task.__init__

    def tight(self, summed_loss, **rest):
        def loss(network, batch, device):
            if len(batch) > 4:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return summed_loss(network, batch, device)

        real(self, loss, **rest)

    monkeypatch.setattr(loop.Task, "__init__", tight)
    ran = train()
    assert ran.code == 0, ran.err
    assert "out of memory 1 times: 4 examples at once" in ran.out or (
        "out of memory 2 times: " in ran.out
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--d-model", "40"), "--d-model: 40; expected a multiple of 16"),
        (("--model", "no/such"), "no such folder"),
        (("--label-smoothing", "1"), "--label-smoothing: 1.0; expected a number from 0, below 1"),
        (("--dtype", "int8"), "--dtype: 'int8'; expected one of float32, bfloat16"),
        (("--minutes", "0"), "--minutes: 0.0; expected a number above 0"),
        (("--hold-out", "nothing.txt"), "nothing.txt: no such file"),
        (("--device", "abacus"), "--device: 'abacus' is no device"),
        (("--questions", "q.jsonl"), "--questions: given without --qrels"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(train, tmp_path, options, message):
    assert message in said(train(*options))
    assert not (tmp_path / "out").exists()


def test_the_defaults_of_the_options_are_the_library_s():
    for model in ("scratch", "bart"):
        assert Learning().config(model, 0) == learning(model)
