"""Examples as tensors, and their loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from argus.scenarios.distill.examples import Example

if TYPE_CHECKING:
    import torch


def summed_loss(network: torch.nn.Module, batch: Sequence[Example], device: str) -> torch.Tensor:
    """Return the negative log-likelihood of the answers of a batch, summed over their tokens.

    Eq. (1) of SPIKE: -Σ log p(answer token | instruction, document, answer so far). Only places
    that predict a token of an answer count, its terminator included; prompts and padding do not.
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
