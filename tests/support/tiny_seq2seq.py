"""A BART with a few thousand random weights and the files of a vocabulary, made in a moment."""

from pathlib import Path
from typing import Any

from argus.generative.vocabulary import Vocabulary


def make_seq2seq(
    folder: Path, vocabulary: Vocabulary, seed: int = 0, d_model: int = 32, layers: int = 1
) -> Path:
    """Write model and tokenizer as `transformers` does; return the folder.

    Random weights of a spread that gives each question its own preferences, no dropout.
    """
    network(vocabulary, seed=seed, d_model=d_model, layers=layers).save_pretrained(folder)
    vocabulary.save(folder)
    return folder


def network(vocabulary: Vocabulary, seed: int = 0, d_model: int = 32, layers: int = 1) -> Any:
    """Return the model alone, in evaluation mode."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration
    from transformers.utils import logging

    logging.disable_progress_bar()
    config = BartConfig(
        vocab_size=vocabulary.size, d_model=d_model,
        encoder_layers=layers, decoder_layers=layers,
        encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=2 * d_model, decoder_ffn_dim=2 * d_model,
        max_position_embeddings=128, dropout=0.0, init_std=0.3,
        bos_token_id=vocabulary.border, eos_token_id=vocabulary.border,
        pad_token_id=vocabulary.pad, decoder_start_token_id=vocabulary.border,
        forced_eos_token_id=None, forced_bos_token_id=None,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BartForConditionalGeneration(config).eval()
