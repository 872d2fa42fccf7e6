"""A model on this machine, asked for real: a tiny Llama that was taught a few answers."""

import json
import shutil

import pytest
import torch
from pydantic import BaseModel

from argus.errors import InputError
from argus.llm import Ledger, LocalConfig, Prompt, State, TransformersModel
from argus.llm.local import LoadedModel, Question
from argus.llm.model import request_keys
from argus.llm.structured import instructed
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
    for batch_size in (1, 2, 3, 8):
        with Ledger(tmp_path / f"{batch_size}.sqlite") as ledger:
            config = LocalConfig(model=str(taught), batch_size=batch_size, max_tokens=60)
            outcomes = list(TransformersModel(config, ledger).complete(prompts(*ANSWERS)))
        assert {o.prompt.text: o.value for o in outcomes} == ANSWERS
        assert all(o.state is State.OK and not o.cached for o in outcomes)


def test_a_higher_bound_asks_only_for_what_was_cut_off(local, ledger):
    short = local(max_tokens=5)
    sky, code = short.complete(prompts("sky", "code"))
    assert sky.value == "blue" and code.state is State.FAILED and code.value is None
    assert code.reason == "the answer was cut off after 5 tokens: allow more (--max-tokens)"
    assert code.tokens_out == 5 and not code.unanswered
    kept = local(retry_failed=False)
    assert [o.state for o in kept.complete(prompts("sky", "code"))] == [State.OK, State.FAILED]
    longer = local(max_tokens_override=100)
    sky, code = longer.complete(prompts("sky", "code", max_tokens=5))
    assert sky.cached and code.value == ANSWERS["code"]


def test_a_schema_is_told_and_answers_are_validated(local):
    sky, coal = local().complete(prompts("sky", "coal"), schema=Colour)
    assert sky.value == Colour(name="blue")
    assert coal.state is State.FAILED
    assert coal.reason.startswith("the answer does not fit Colour: the answer: Invalid JSON")


def test_a_model_trained_for_the_schema_is_not_told_of_it(taught, tmp_path, ledger):
    from argus.llm.structured import schema_hash

    folder = shutil.copytree(taught, tmp_path / "trained")
    (folder / "distill.json").write_text(json.dumps({"trained_for": [schema_hash(Colour)]}))
    model = TransformersModel(LocalConfig(model=str(folder)), ledger)
    (coal,) = model.complete(prompts("coal"), schema=Colour)
    assert coal.value == Colour(name="black")  # what was taught without the schema


def test_a_prompt_longer_than_the_window_failed_alone(local):
    long = "long " * WINDOW
    outcomes = list(local().complete(prompts("sky", long, "coal")))
    assert [o.state for o in outcomes] == [State.OK, State.FAILED, State.OK]
    assert "leaves no room for an answer in the model's window of 512" in outcomes[1].reason
    assert "show less of the document" in outcomes[1].reason


def test_out_of_memory_halves_the_batch_or_failed_alone(local, monkeypatch):
    sizes = []
    real = LoadedModel._generate

    def scarce(self, batch, room):
        sizes.append(len(batch))
        if len(batch) > 1 or len(batch[0].tokens) > 60:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nmore")
        return real(self, batch, room)

    monkeypatch.setattr(LoadedModel, "_generate", scarce)
    large = "grow " * 40
    outcomes = list(
        local(batch_size=4).complete(prompts("sky", large, "coal", "code", max_tokens=60))
    )
    assert sizes == [4, 2, 1, 1, 1, 1]  # and stays at what fits
    assert [o.state is State.OK for o in outcomes] == [True, False, True, True]
    assert "no memory for this prompt alone" in outcomes[1].reason and outcomes[1].unanswered
    assert "CUDA out of memory" in outcomes[1].reason


def test_a_model_that_computes_no_numbers_is_not_believed(taught, tmp_path, ledger):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(taught, tmp_path / "broken")
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = LocalConfig(model=str(folder), max_tokens=3, dtype="float32")
    (sky,) = TransformersModel(config, ledger).complete(prompts("sky"))
    assert sky.state is State.FAILED
    assert sky.reason.startswith("the model computed no numbers (NaN) in float32")


def test_the_key_of_a_request_knows_weights_and_not_the_place(taught, tmp_path):
    def key(folder, **options):
        return request_keys(prompts("sky"), LocalConfig(model=str(folder), **options), None)

    moved = shutil.copytree(taught, tmp_path / "moved")
    assert key(moved) == key(taught) == key(taught, max_tokens=7, batch_size=1, dtype="bfloat16")
    assert key(taught, extra={"repetition_penalty": 1.1}) != key(taught)
    retrained = save_llama(moved, make_tokenizer(), hidden=64, seed=1)
    assert key(retrained) != key(taught)
    before = key(moved)
    template = moved / "chat_template.jinja"
    template.write_text(template.read_text() + " ")
    assert key(moved) != before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": " "}, "model: no model"),
        ({"max_tokens": 0}, "max_tokens: 0"),
        ({"batch_size": 1.5}, "--concurrency: 1.5"),
        ({"max_tokens_override": -1}, "--max-tokens: -1"),
        ({"dtype": "int8"}, "dtype: 'int8'; expected one of auto, float32"),
        ({"extra": {"do_sample": True}}, "extra: the extra settings do_sample"),
        ({"extra": {"bad_words": {1}}}, "extra: extra settings that are no JSON"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused_at_once(options, message):
    with pytest.raises(InputError) as raised:
        LocalConfig(**{"model": "m"} | options)
    assert message in str(raised.value)


def test_untrained_answers_depend_neither_on_the_batch_nor_pass_the_window(tmp_path):
    tokenizer = make_tokenizer()
    folder = save_llama(tmp_path / "wild", tokenizer, window=200)
    texts = [("word " * n).strip() for n in (1, 30, 3, 17, 9)]
    questions = [Question(t, tuple(tokenizer(t).input_ids), 12) for t in texts]
    questions.append(Question("long", tuple(tokenizer("x" * 4000).input_ids[:197]), 50))
    found = []
    for batch_size in (1, 2, 5):
        model = LoadedModel(LocalConfig(model=str(folder), batch_size=batch_size))
        model.stops = frozenset()
        found.append({a.key: a.reply for a in model.answer(questions)})
    assert found[0] == found[1] == found[2]
    long = found[0].pop("long")
    assert long.tokens_out == 3
    assert "cut off after 3 tokens, at the end of the model's window of 200" in long.reason
    assert all("cut off after 12 tokens" in reply.reason for reply in found[0].values())


def spoil(folder, part):
    """Take a part of a model away, or put another one in its place."""
    if part == "tokenizer":
        for path in folder.iterdir():
            if "token" in path.name or "template" in path.name:
                path.unlink()
    elif part == "half":
        data = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    elif part == "layers":
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    elif part == "vocabulary":
        words = ["abcdefgh" * 9, "xy" * 99, *map(str, range(999))]
        make_tokenizer(words, size=2000).save_pretrained(folder)
    else:
        shutil.rmtree(folder)
        folder.mkdir()
        if part == "adapter":
            (folder / "adapter_config.json").write_text("{}")


@pytest.mark.parametrize(
    ("part", "problem"),
    [("tokenizer", "the tokenizer cannot be loaded"), ("half", "the model cannot be loaded"),
     ("layers", "are missing"), ("vocabulary", r"tokenizer cannot be loaded \(it has the token"),
     ("adapter", "is an adapter; expected the model that"), ("all", r"holds no config\.json")],
)  # fmt: skip
def test_a_model_with_missing_parts_is_refused_unasked(taught, tmp_path, ledger, part, problem):
    folder = shutil.copytree(taught, tmp_path / "spoilt")
    spoil(folder, part)
    with pytest.raises(InputError, match=problem):
        list(TransformersModel(LocalConfig(model=str(folder)), ledger).complete(prompts("x")))
    assert len(ledger) == 0


def test_a_model_that_is_not_there_is_named(ledger):
    with pytest.raises(InputError, match="model 'no/such' could not be found"):
        list(TransformersModel(LocalConfig(model="no/such"), ledger).complete(prompts("x")))
