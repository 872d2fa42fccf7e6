"""A small network that begins with weights of its own: for where no pretrained model is at hand."""

from __future__ import annotations

from typing import Any

from argus.generative.training.config import ScratchSize
from argus.generative.training.copying import HEADS, lay_out
from argus.generative.vocabulary import Vocabulary


def new_network(vocabulary: Vocabulary, size: ScratchSize, *, seed: int) -> Any:
    """Return a network for a vocabulary whose weights know how to copy (see `copying`).

    BART's architecture with layers normalised first (MBart), as `copying` and high learning rates
    need it, 4 heads, and input and output embeddings in one. In float32, in training mode.
    """
    import torch
    from transformers import MBartConfig, MBartForConditionalGeneration

    pad = vocabulary.border if vocabulary.pad is None else vocabulary.pad
    config = MBartConfig(
        vocab_size=vocabulary.size, d_model=size.d_model, scale_embedding=True,
        encoder_layers=size.layers, decoder_layers=size.layers,
        encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
        encoder_ffn_dim=4 * size.d_model, decoder_ffn_dim=4 * size.d_model,
        max_position_embeddings=size.positions, dropout=size.dropout,
        pad_token_id=pad, bos_token_id=vocabulary.border, eos_token_id=vocabulary.border,
        decoder_start_token_id=vocabulary.border, forced_eos_token_id=None,
    )  # fmt: skip
    first = vocabulary.sources([""])[0][0]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network: Any = MBartForConditionalGeneration(config)
        lay_out(network, (first, vocabulary.border))
    return network
