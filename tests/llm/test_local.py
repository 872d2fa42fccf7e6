"""A model on this machine, asked for real: a tiny Llama that was taught a few answers."""

import pytest
import torch
from pydantic import BaseModel

from argus.errors import ArgusError, InputError
from argus.llm import Ledger, LocalConfig, Prompt, State, TransformersModel
from argus.llm.local import LoadedModel
from argus.llm.model import instructed
from tests.support.tiny_llama import make_tokenizer, save_llama, teach

WINDOW = 512


class Colour(BaseModel):
    name: str


ANSWERS = {
    "sky": "blue",
    "grass, which is a plant that grows nearly everywhere": "green and 緑",
    "coal": '{"name": "black"}',
    "code": "```\ndef f():\n\treturn 1\n```",
}
SYSTEM = "Which colour?"


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny"
    texts = [SYSTEM, *ANSWERS, *ANSWERS.values(), instructed(SYSTEM, Colour)]
    save_llama(folder, make_tokenizer(texts, size=900), hidden=64, window=WINDOW)
    pairs = [(SYSTEM, text, answer) for text, answer in ANSWERS.items()]
    pairs.append((instructed(SYSTEM, Colour), "sky", '{"name": "blue"}'))
    pairs.append((instructed(SYSTEM, Colour), "coal", "black"))
    return teach(folder, pairs)


@pytest.fixture
def local(taught, ledger):
    def make(**options):
        return TransformersModel(LocalConfig(**{"model": str(taught)} | options), ledger)

    return make


def prompts(*texts, **options):
    return [Prompt(text, system=SYSTEM, **options) for text in texts]


def test_learnt_answers_do_not_depend_on_the_batch(taught, tmp_path):
    for concurrency in (1, 3):
        with Ledger(tmp_path / f"{concurrency}.sqlite") as ledger:
            config = LocalConfig(model=str(taught), concurrency=concurrency, max_tokens=60)
            outcomes = list(TransformersModel(config, ledger).complete(prompts(*ANSWERS)))
        assert {o.prompt.text: o.value for o in outcomes} == ANSWERS
        assert all(o.state is State.OK and not o.cached for o in outcomes)


def test_a_schema_is_told_and_answers_are_validated(local):
    sky, coal = local().complete(prompts("sky", "coal"), schema=Colour)
    assert sky.value == Colour(name="blue")
    assert coal.state is State.FAILED
    assert coal.reason.startswith("the answer does not fit Colour: the answer: Invalid JSON")


def test_out_of_memory_ends_the_run_and_keeps_what_was_answered(local, monkeypatch):
    real = LoadedModel._generate

    def scarce(self, batch):
        if len(batch) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nmore")
        return real(self, batch)

    monkeypatch.setattr(LoadedModel, "_generate", scarce)
    asked = prompts("sky", "coal", max_tokens=60)
    with pytest.raises(ArgusError, match="out of memory with 2 prompts"):
        list(local(concurrency=2).complete(asked))
    assert all(o.state is State.OK for o in local(concurrency=1).complete(asked))


def test_a_model_that_is_not_there_is_named(ledger):
    with pytest.raises(InputError, match="model 'no/such' was not found"):
        list(TransformersModel(LocalConfig(model="no/such"), ledger).complete(prompts("x")))
