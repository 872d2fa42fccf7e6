"""What a distillation returns."""

import pytest

from argus.scenarios.distill.job import distill
from argus.scenarios.distill.settings import DistillConfig, TrainConfig
from tests.support.distilling import DOCUMENTS, PROFILES, TEXTS
from tests.support.results import shown, sizes
from tests.support.tiny_llama import make_tokenizer, save_llama

pytest.importorskip("peft")


def test_a_distillation_shows_its_figures(tmp_path, monkeypatch):
    base = save_llama(tmp_path / "base", make_tokenizer(TEXTS, size=900), hidden=16)
    config = DistillConfig(base=str(base), training=TrainConfig(epochs=1, rank=2))
    result = distill(
        DOCUMENTS, profiles=PROFILES, config=config, out=tmp_path / "out", device="cpu"
    )
    examples = result.summary["examples"]
    assert shown(result)[0].startswith(f"{examples['train']} documents to train on, ")
    assert list(result.headline())[-1].startswith(f"adapter: {result.adapter} (")
    assert sizes(result, monkeypatch) == {"losses": result.summary["steps"]}
