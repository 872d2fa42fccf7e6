import json
import shutil
import sys

import pytest
import torch

from argus.errors import InputError
from argus.llm import LocalConfig
from argus.llm.local import LoadedModel
from argus.llm.weights import base_hash, load_base, need_peft
from argus.scenarios.distill.adapter import (
    save_adapter,
    save_merged,
    with_lora,
)
from argus.scenarios.distill.settings import TrainConfig
from argus.training.loop import replacing_folder
from tests.support.tiny_llama import make_tokenizer, save_llama

pytest.importorskip("peft")
CONFIG = TrainConfig(rank=4, alpha=8)
TOKENS = torch.tensor([[0, 9, 50, 60, 7, 8]])


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer()


@pytest.fixture(scope="module")
def base(tmp_path_factory, tokenizer):
    return save_llama(tmp_path_factory.mktemp("models") / "base", tokenizer)


@pytest.fixture
def made(base, tokenizer, tmp_path):
    """An adapter with weights that matter, its merged model, and the logits of both as one."""
    network, _ = load_base(base, "float32")
    model = with_lora(network, CONFIG, "the-base")
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.3)
    model.eval()
    note = {"base": {"name": "the-base", "weights": base_hash(base)}, "trained_for": ["x"]}
    expected = model(TOKENS).logits.detach()
    save_adapter(model, tmp_path / "adapter", note)
    save_merged(model, tokenizer, tmp_path / "merged", note)
    return tmp_path, expected


def logits(**options):
    model = LoadedModel(LocalConfig(device="cpu", **options))
    return model, model.network(TOKENS).logits.detach()


def test_a_reloaded_adapter_gives_what_the_merged_model_does(made, base):
    folder, expected = made
    adapted, with_adapter = logits(model=str(base), adapter=folder / "adapter")
    merged, without = logits(model=str(folder / "merged"))
    assert torch.equal(with_adapter, expected)
    assert torch.allclose(without, expected, atol=1e-5)
    plain = logits(model=str(base))[1]
    assert not torch.allclose(plain, expected, atol=0.05)
    assert adapted.trained_for == merged.trained_for == {"x"}
    assert adapted.stops == merged.stops and adapted.window == merged.window


def test_a_new_adapter_is_on_all_linear_layers_and_is_silent(base):
    network, _ = load_base(base, "float32")
    before = network(TOKENS).logits
    model = with_lora(network, CONFIG, "b").eval()
    assert torch.equal(model(TOKENS).logits, before)
    trained = {
        n.split(".lora_")[0].rpartition(".")[2]
        for n, p in model.named_parameters()
        if p.requires_grad
    }
    assert trained == {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}


def test_an_adapter_is_the_same_for_the_same_seed(base):
    def first(seed):
        torch.manual_seed(99 + seed)
        model = with_lora(load_base(base, "float32")[0], TrainConfig(rank=4, seed=seed), "b")
        return next(p for n, p in model.named_parameters() if "lora_A" in n)

    assert torch.equal(first(0), first(0)) and not torch.equal(first(0), first(1))


def refused(folder, base):
    with pytest.raises(InputError) as raised:
        LoadedModel(LocalConfig(model=str(base), adapter=folder))
    return str(raised.value)


def test_an_adapter_of_another_base_is_refused_by_its_hash(made, tokenizer, tmp_path):
    folder, _ = made
    other = save_llama(tmp_path / "other", tokenizer, seed=1)
    message = refused(folder / "adapter", other)
    assert f"the adapter was not trained on top of {other}; expected the-base (weights" in message
    assert "Give --model local:the-base with it, or train an adapter for this model" in message


def test_an_adapter_without_note_is_refused_by_its_shapes(made, tokenizer, tmp_path):
    folder, _ = made
    foreign = shutil.copytree(folder / "adapter", tmp_path / "foreign")
    (foreign / "distill.json").unlink()
    wider = save_llama(tmp_path / "wider", tokenizer, hidden=48)
    message = refused(foreign, wider)
    assert f"the adapter was not trained on top of {wider}; expected the-base (" in message
    assert "size mismatch" in message
    make_tokenizer(["other words " * 9], size=280).save_pretrained(foreign)
    same_shape = save_llama(tmp_path / "same", tokenizer)
    assert "tokens" in refused(foreign, same_shape)


def test_an_adapter_that_fits_only_in_part_is_refused(made, tokenizer, tmp_path):
    folder, _ = made
    part = shutil.copytree(folder / "adapter", tmp_path / "part")
    (part / "distill.json").unlink()
    from safetensors.torch import load_file, save_file

    weights = load_file(part / "adapter_model.safetensors")
    weights.pop(sorted(weights)[0])
    save_file(weights, part / "adapter_model.safetensors")
    base = save_llama(tmp_path / "again", tokenizer)
    assert "the adapter was not trained on top of" in refused(part, base)


def test_a_folder_that_is_no_adapter_is_named(made, base, tmp_path):
    folder, _ = made
    assert "no such folder" in refused(tmp_path / "none", base)
    (tmp_path / "empty").mkdir()
    assert "holds no adapter_config.json and no adapter_model.safetensors" in refused(
        tmp_path / "empty", base
    )
    half = shutil.copytree(folder / "adapter", tmp_path / "half")
    data = (half / "adapter_model.safetensors").read_bytes()
    (half / "adapter_model.safetensors").write_bytes(data[:50])
    assert "the adapter cannot be read" in refused(half, base)
    (half / "distill.json").write_text("{")
    assert "broken JSON" in refused(half, base)


def test_the_note_says_what_the_adapter_is_and_no_machine_path(made):
    folder, _ = made
    note = json.loads((folder / "adapter" / "distill.json").read_text())
    assert note["base"]["name"] == "the-base"
    config = json.loads((folder / "adapter" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "the-base"
    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (4, 8, 0.1)


def test_without_peft_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ImportError, match=r"peft.* pip install 'argus-retrieval\[distill\]'"):
        need_peft()


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path):
    target = tmp_path / "adapter"
    for text in ("one", "two"):
        with replacing_folder(target) as temporary:
            (temporary / "a").write_text(text)
        assert (target / "a").read_text() == text
    with pytest.raises(ZeroDivisionError), replacing_folder(target) as temporary:
        (temporary / "a").write_text("three")
        raise ZeroDivisionError
    assert (target / "a").read_text() == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["adapter"]
