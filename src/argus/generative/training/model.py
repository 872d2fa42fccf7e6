"""Create, load and save the network that is trained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from argus.errors import InputError
from argus.generative.decode.model import check_vocabulary, load_network
from argus.generative.folders import NOTE
from argus.generative.training.config import ScratchSize
from argus.generative.training.copying import HEADS, lay_out
from argus.generative.vocabulary import Vocabulary
from argus.training.loop import replacing_folder


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


def open_network(folder: Path, vocabulary: Vocabulary, *, seed: int) -> Any:
    """Load a seq2seq LM with the tokenizer of the index, in float32 and training mode.

    Markers that the vocabulary added to the model's tokenizer get embeddings of their own. Raises
    InputError if there is no seq2seq LM, for damaged weights, and for another vocabulary.
    """
    import torch

    network = load_network(folder)
    check_vocabulary(folder, vocabulary)
    rows = int(network.get_input_embeddings().num_embeddings)
    if rows < vocabulary.size:
        if vocabulary.size - rows > vocabulary.added:
            raise InputError(
                f"its tokenizer has {vocabulary.size:,} tokens, the model {rows:,} embeddings",
                expected="the tokenizer that the model was trained with",
                fix="Copy the whole folder of the model, tokenizer included.",
                where=folder,
            )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network.resize_token_embeddings(vocabulary.size, mean_resizing=False)
    return network.float().train()


def save_network(
    network: Any, vocabulary: Vocabulary, folder: Path, note: Mapping[str, object]
) -> Path:
    """Write network, tokenizer and note, whole or not at all. Return the folder.

    A model like any other of `transformers`.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    text = json.dumps(note, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing_folder(folder) as temporary:
        network.save_pretrained(str(temporary))
        vocabulary.save(temporary)
        (temporary / NOTE).write_text(f"{text}\n", encoding="utf-8")
    return folder
