"""Examples as tensors, and the loss of writing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argus.training.loop import Task

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Pair:
    """One example: encoder input, decoder input after the start token, and target.

    view: "body", "title" or "query".
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    view: str
    forced: tuple[int, ...] = ()


def seq2seq_task(start: int, pad: int, *, label_smoothing: float, dtype: str) -> Task[Pair]:
    """Return how pairs are learnt: the mean of -log p(token | source, start, tokens before it).

    start: the decoder's first token. Padding and forced tokens are not learnt. Where the network is
    not in training mode, labels are not smoothed.
    """

    def summed_loss(network: Any, batch: Sequence[Pair], device: str) -> torch.Tensor:
        import torch

        sources, mask, inputs, labels = (t.to(device) for t in tensors(batch, start, pad))
        half = dtype == "bfloat16"
        with torch.autocast(device.partition(":")[0], torch.bfloat16, enabled=half):
            logits = network(
                input_ids=sources, attention_mask=mask, decoder_input_ids=inputs, use_cache=False
            ).logits
        learnt = labels >= 0
        return torch.nn.functional.cross_entropy(
            logits[learnt].float(), labels[learnt], reduction="sum",
            label_smoothing=label_smoothing if network.training else 0.0,
        )  # fmt: skip

    return Task(
        summed_loss=summed_loss,
        read=lambda p: len(p.source) + len(p.forced) + len(p.target),
        learnt=lambda p: len(p.target),
    )


def tensors(
    batch: Sequence[Pair], start: int, pad: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return encoder inputs and their mask (n, longest source), decoder inputs and labels (n, m).

    Labels are -1 where nothing is learnt.
    """
    import torch

    longest = max(len(p.source) for p in batch)
    width = max(len(p.forced) + len(p.target) for p in batch)
    sources = torch.full((len(batch), longest), pad)
    mask = torch.zeros_like(sources)
    inputs = torch.full((len(batch), width), pad)
    labels = torch.full_like(inputs, -1)
    for row, pair in enumerate(batch):
        sources[row, : len(pair.source)] = torch.tensor(pair.source)
        mask[row, : len(pair.source)] = 1
        written = (start, *pair.forced, *pair.target)
        inputs[row, : len(written) - 1] = torch.tensor(written[:-1])
        labels[row, len(pair.forced) : len(written) - 1] = torch.tensor(pair.target)
    return sources, mask, inputs, labels
