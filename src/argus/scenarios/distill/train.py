"""Training on documents and their profiles: the shared loop, with the loss of answers alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.provenance import content_hash
from argus.scenarios.distill.examples import Example
from argus.scenarios.distill.settings import TrainConfig
from argus.training import loop
from argus.training.loop import Fixed, Task, Trained

if TYPE_CHECKING:
    import torch


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


__all__ = ["ANSWERS", "Trained", "train"]

ANSWERS = Task[Example](
    summed_loss=summed_loss, read=lambda e: len(e.tokens), learnt=lambda e: e.completion
)
"""Examples to learn: answers, of prompts and answers that are read."""


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
