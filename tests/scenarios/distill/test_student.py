"""From profiles to a student that writes profiles: training, adapter, local generation."""

import pytest

from argus.llm import Ledger, LocalConfig, TransformersModel
from argus.llm.structured import schema_hash
from argus.llm.weights import base_hash, load_base, stop_tokens
from argus.scenarios import ProfileState
from argus.scenarios.distill.adapter import save_adapter, save_merged, with_lora
from argus.scenarios.distill.examples import make_example
from argus.scenarios.distill.settings import TrainConfig
from argus.scenarios.distill.train import train
from argus.scenarios.generate import generate
from argus.scenarios.prompts import Role
from argus.scenarios.schema import ProfileAnswer
from tests.support.distilling import DOCUMENTS, PROFILES, TEXTS
from tests.support.tiny_llama import make_tokenizer, save_llama

pytest.importorskip("peft")
CONFIG = TrainConfig(
    epochs=30, patience=30, learning_rate=6e-3, dropout=0.0, batch_size=2, accumulation=1,
    warmup_ratio=0.05, weight_decay=0.0,
)  # fmt: skip


@pytest.mark.slow
def test_a_student_writes_what_it_learnt_by_heart(tmp_path):
    documents = [DOCUMENTS[0], DOCUMENTS[-1]]  # the last one is noise
    base = save_llama(tmp_path / "base", make_tokenizer(TEXTS, size=900), hidden=64)
    network, tokenizer = load_base(base, "float32")
    stops = stop_tokens(network, tokenizer)
    examples = [make_example(d, PROFILES[d.id], tokenizer, stops) for d in documents]
    model = with_lora(network, CONFIG, "base")
    trained = train(
        model, examples * 8, examples, CONFIG, folder=tmp_path / "state", base="b", device="cpu"
    )
    assert trained.progress.best["loss"] < 0.02
    note = {
        "base": {"name": "base", "weights": base_hash(base)},
        "trained_for": [schema_hash(ProfileAnswer)],
    }
    save_adapter(model, tmp_path / "adapter", note)
    save_merged(model, tokenizer, tmp_path / "merged", note)
    for config in (
        LocalConfig(model=str(base), adapter=tmp_path / "adapter"),
        LocalConfig(model=str(tmp_path / "merged"), batch_size=1),
    ):
        with Ledger(tmp_path / f"{config.label}.sqlite") as ledger:
            student = TransformersModel(config, ledger)
            written = list(generate(documents, student, Role.STUDENT))
        assert [w.profile for w in written] == [PROFILES[d.id].profile for d in documents]
        assert written[-1].state is ProfileState.NOISE
        assert all(student.name in w.source for w in written)
    short = LocalConfig(model=str(base), adapter=tmp_path / "adapter", max_tokens_override=20)
    with Ledger(tmp_path / "short.sqlite") as ledger:
        cut = list(generate(documents[:1], TransformersModel(short, ledger), Role.STUDENT))
    assert cut[0].state is ProfileState.FAILED
    assert cut[0].reason == "the answer was cut off after 20 tokens: allow more (--max-tokens)"
