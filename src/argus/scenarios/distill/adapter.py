"""Adapters of LoRA: made for a base model, saved with a note of identity, merged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from argus.llm.weights import NOTE, need_peft, without_peft_warnings
from argus.scenarios.distill.settings import TrainConfig
from argus.training.loop import replacing_folder

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def with_lora(network: PreTrainedModel, config: TrainConfig, name: str) -> PeftModel:
    """Return the model with new LoRA weights, the only ones that want gradients.

    On all linear layers but the output (peft's "all-linear"). In float32, whatever the model is in.
    name: the adapter's name for its base model.
    """
    need_peft()
    import torch
    from peft import LoraConfig, get_peft_model

    settings = LoraConfig(
        task_type="CAUSAL_LM",
        r=config.rank,
        lora_alpha=config.alpha,  # type: ignore[arg-type]
        lora_dropout=config.dropout,
        target_modules="all-linear",
    )
    with torch.random.fork_rng(devices=[]), without_peft_warnings():
        torch.manual_seed(config.seed)
        model = get_peft_model(network, settings)
        if config.gradient_checkpointing:
            network.gradient_checkpointing_enable({"use_reentrant": False})  # type: ignore[no-untyped-call]
            network.enable_input_require_grads()  # type: ignore[no-untyped-call]
    model.peft_config["default"].base_model_name_or_path = name  # peft puts the path there
    return model


def save_adapter(model: PeftModel, folder: Path, note: Mapping[str, object]) -> Path:
    """Write adapter and note, whole or not at all. Return the folder."""
    with replacing_folder(folder) as temporary:
        model.save_pretrained(str(temporary), save_embedding_layers=False)  # not trained
        _write_note(temporary, note)
    return folder


def save_merged(
    model: PeftModel, tokenizer: PreTrainedTokenizerBase, folder: Path, note: Mapping[str, object]
) -> Path:
    """Write the model with the adapter added to its weights. Return the folder.

    A model like any other: transformers and vLLM load it without peft. `model` is used up.
    """
    merged = model.merge_and_unload()
    with replacing_folder(folder) as temporary:
        merged.save_pretrained(str(temporary))
        tokenizer.save_pretrained(str(temporary))
        _write_note(temporary, note)
    return folder


def _write_note(folder: Path, note: Mapping[str, object]) -> None:
    text = json.dumps(note, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / NOTE).write_text(f"{text}\n", encoding="utf-8")
