"""Train a LoRA adapter on documents and their profiles, by the loss of the answers alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.provenance import content_hash
from argus.llm.weights import NOTE, need_peft, without_peft_warnings
from argus.scenarios.distill.examples import Example
from argus.scenarios.distill.settings import TrainConfig
from argus.training import loop
from argus.training.loop import Fixed, Task, Trained, replacing_folder

if TYPE_CHECKING:
    import torch
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["ANSWERS", "Trained", "train"]


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


def summed_loss(network: torch.nn.Module, batch: Sequence[Example], device: str) -> torch.Tensor:
    """Return the negative log-likelihood of the answers of a batch, summed over their tokens.

    Eq. (1) of SPIKE: -Σ log p(answer token | instruction, document, answer so far). Only places
    that predict a token of an answer count, its terminator included. Prompts and padding do not.
    Scalar, float32.
    """
    import torch

    length = max(len(e.tokens) for e in batch)
    tokens = torch.zeros(len(batch), length, dtype=torch.long)
    mask = torch.zeros_like(tokens)
    learnt = torch.zeros(len(batch), length, dtype=torch.bool)
    for row, example in enumerate(batch):
        n = len(example.tokens)
        tokens[row, :n] = torch.tensor(example.tokens)
        mask[row, :n] = 1
        learnt[row, n - example.completion : n] = True
    tokens, learnt = tokens.to(device), learnt.to(device)
    output = network(input_ids=tokens, attention_mask=mask.to(device), use_cache=False)
    before = learnt[:, 1:]  # the place before each token of an answer predicts it
    logits = output.logits[:, :-1][before].float()  # (answer tokens, vocabulary)
    return torch.nn.functional.cross_entropy(logits, tokens[:, 1:][before], reduction="sum")


# Examples to learn: answers, of prompts and answers that are read.
ANSWERS = Task[Example](
    summed_loss=summed_loss, read=lambda e: len(e.tokens), learnt=lambda e: e.completion
)


def train(
    network: Any,
    train_examples: Sequence[Example],
    validation: Sequence[Example],
    config: TrainConfig,
    *,
    folder: Path,
    base: str,
    device: str,
) -> Trained:
    """Train the weights of `network` that want gradients. It is left in evaluation mode.

    network: a model with an adapter (see `adapter.with_lora`) on `device`. folder: where the state
    is kept (see `argus.training.loop.train`). base: hash of the model below.
    """
    return loop.train(
        network, ANSWERS, Fixed(train_examples), validation, config,
        folder=folder, key=_key(train_examples, validation, config, base), device=device,
    )  # fmt: skip


def _key(
    examples: Sequence[Example], validation: Sequence[Example], config: TrainConfig, base: str
) -> str:
    described = [f"{name}={value}" for name, value in sorted(config.described().items())]
    texts = [f"{e.doc_id} {e.completion} {e.tokens}" for e in (*examples, *validation)]
    parts = (str(len(examples)), base, *described, *texts)
    return content_hash(*parts).hex()
