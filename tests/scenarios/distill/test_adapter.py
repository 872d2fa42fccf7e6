import json
import shutil
from importlib.util import find_spec

import pytest
import torch

from argus.errors import InputError
from argus.llm import LocalConfig
from argus.llm.local import LoadedModel
from argus.llm.weights import base_hash, load_base
from argus.scenarios.distill import TrainConfig, save_adapter, with_lora
from tests.support.tiny_llama import make_tokenizer, save_llama

pytestmark = pytest.mark.skipif(find_spec("peft") is None, reason="no peft")
CONFIG = TrainConfig(rank=4, alpha=8)
TOKENS = torch.tensor([[0, 9, 50, 60, 7, 8]])


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer()


@pytest.fixture(scope="module")
def base(tmp_path_factory, tokenizer):
    return save_llama(tmp_path_factory.mktemp("models") / "base", tokenizer)


@pytest.fixture
def made(base, tmp_path):
    """An adapter with weights that matter, and the logits that it gives."""
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
    return tmp_path, expected


def logits(**options):
    model = LoadedModel(LocalConfig(device="cpu", **options))
    return model, model.network(TOKENS).logits.detach()


def test_a_reloaded_adapter_gives_what_it_gave(made, base):
    folder, expected = made
    adapted, with_adapter = logits(model=str(base), adapter=folder / "adapter")
    assert torch.equal(with_adapter, expected)
    plain = logits(model=str(base))[1]
    assert not torch.allclose(plain, expected, atol=0.05)
    assert adapted.trained_for == {"x"}
    config = json.loads((folder / "adapter" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "the-base", "no path of a machine"


def refused(folder, base):
    with pytest.raises(InputError) as raised:
        LoadedModel(LocalConfig(model=str(base), adapter=folder))
    return str(raised.value)


def test_an_adapter_of_another_base_is_refused_by_its_hash(made, tokenizer, tmp_path):
    folder, _ = made
    other = save_llama(tmp_path / "other", tokenizer, seed=1)
    message = refused(folder / "adapter", other)
    assert f"does not fit {other} (it is of weights" in message
    assert "--model local:the-base" in message


def test_a_folder_that_is_no_adapter_is_named(made, base, tmp_path):
    folder, _ = made
    assert "holds no adapter_config.json" in refused(tmp_path / "none", base)
    half = shutil.copytree(folder / "adapter", tmp_path / "half")
    data = (half / "adapter_model.safetensors").read_bytes()
    (half / "adapter_model.safetensors").write_bytes(data[:50])
    assert "does not fit" in refused(half, base)
    (half / "distill.json").write_text("{")
    assert "broken JSON" in refused(half, base)
