import dataclasses
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import load_file

from argus.errors import ArgusError, InputError
from argus.llm.weights import load_base, stop_tokens
from argus.scenarios import distill as training
from argus.scenarios.distill import TrainConfig, build_examples, summed_loss, with_lora
from argus.training.loop import BEST
from tests.support.distilling import DOCUMENTS, PROFILES, TEXTS
from tests.support.tiny_llama import make_tokenizer, save_llama

pytestmark = pytest.mark.skipif(find_spec("peft") is None, reason="no peft")
FAST = TrainConfig(epochs=3, learning_rate=3e-2, rank=4, alpha=8, batch_size=2, accumulation=2)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    tokenizer = make_tokenizer(TEXTS, size=900)
    return save_llama(tmp_path_factory.mktemp("models") / "base", tokenizer)


@pytest.fixture(scope="module")
def examples(base):
    network, tokenizer = load_base(base, "float32")
    return build_examples(DOCUMENTS, PROFILES, tokenizer, stop_tokens(network, tokenizer))


@pytest.fixture
def run(base, examples, tmp_path):
    def go(config=FAST, folder="state", **options):
        model = with_lora(load_base(base, "float32")[0], config, "base")
        given = {"train_examples": examples.train, "validation": examples.validation} | options
        trained = training.train(
            model, given["train_examples"], given["validation"], config,
            folder=tmp_path / folder, base="hash", device="cpu",
        )  # fmt: skip
        return model, trained

    return go


def test_the_loss_falls_and_the_best_epoch_is_kept(run, tmp_path, examples):
    model, trained = run()
    state = trained.progress
    losses = [e["loss"] for e in state.evaluations]
    assert losses[-1] < losses[0] - 0.3 and state.best["loss"] == min(losses)
    stored = load_file(tmp_path / "state" / BEST)
    assert all(torch.equal(stored[n], p) for n, p in model.named_parameters() if "lora_" in n)
    assert state.learnt == 3 * sum(e.completion for e in examples.train)
    assert state.tokens == 3 * sum(len(e.tokens) for e in examples.train)


def test_the_loss_is_of_answer_tokens_whatever_the_padding(base, examples):
    network, _ = load_base(base, "float32")
    network.eval()
    batch = examples.train[:3]
    total = 0.0
    for example in batch:  # one at a time, with the labels of transformers
        tokens = torch.tensor([example.tokens])
        labels = tokens.clone()
        labels[:, : -example.completion] = -100
        total += network(input_ids=tokens, labels=labels).loss.item() * example.completion
    assert summed_loss(network, batch, "cpu").item() == pytest.approx(total, rel=1e-5)


def test_the_state_of_another_training_is_refused(run, examples):
    run(dataclasses.replace(FAST, epochs=1))
    for options in ({"config": FAST}, {"train_examples": examples.train[:-1]}):
        with pytest.raises(InputError, match=r"holds another training.*--fresh"):
            run(**({"config": dataclasses.replace(FAST, epochs=1)} | options))


def test_a_loss_that_is_no_number_stops_the_training(run, base, examples):
    with pytest.raises(ArgusError, match=r"the loss is not finite .*--learning-rate"):
        run(dataclasses.replace(FAST, learning_rate=1e30, max_grad_norm=1e30, epochs=9))
