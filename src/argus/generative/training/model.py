"""Create, load and save the network that is trained to write n-grams, with its tokenizer.

`new_network`: a vocabulary and a size -> a small MBart whose first weights can copy the question
(`lay_out`). `open_network` loads a pretrained one instead. `job` and `tune` save it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.errors import InputError
from argus.generative.decode.model import check_vocabulary, load_network
from argus.generative.folders import NOTE
from argus.generative.settings import ScratchSize
from argus.generative.vocabulary import Vocabulary
from argus.training.loop import replacing_folder

if TYPE_CHECKING:
    import torch


# A head is as wide as B and C: a quarter of the model.
HEADS = 4
# Positions in the longest period of C, in half turns.
_LONGEST = 200.0
_SHARP, _MATCH, _GAIN = 1.5, 1.0, 2.0
"""Sharpness of heads for a position and for an equal token, and strength of a copy."""


def lay_out(network: Any, starts: tuple[int, int]) -> None:
    """Set the weights of an MBart of 4 heads whose embeddings are scaled by sqrt(d_model).

    starts: the token that begins an encoder input, and the one that a decoder begins with. They
    get the same embedding, so that copying begins at the beginning.
    """
    import torch

    d = network.config.d_model
    half, quarter = d // 2, d // 4
    with torch.no_grad():
        tokens = network.model.shared.weight
        tokens.normal_(std=1 / math.sqrt(d))
        tokens[:, half:] = 0
        tokens[starts[1]] = tokens[starts[0]]
        project = torch.linalg.qr(torch.randn(half, quarter)).Q.T * math.sqrt(2)  # (d/4, d/2)
        encoder, decoder = network.model.encoder, network.model.decoder
        steps = torch.arange(quarter // 2) / (quarter // 2)
        frequencies = math.pi * _LONGEST**-steps
        for part in (encoder, decoder):  # sines and cosines of unit variance, (positions, d/4)
            positions = part.embed_positions.weight
            angles = torch.arange(positions.shape[0])[:, None] * frequencies
            waves = math.sqrt(2) * torch.cat([angles.sin(), angles.cos()], dim=1)
            positions.zero_()
            positions[:, half + quarter :] = waves
        sine, cosine = torch.diag(frequencies.sin()), torch.diag(frequencies.cos())
        turn = torch.cat(  # of the waves of a position to those of the one before it
            [torch.cat([cosine, -sine], dim=1), torch.cat([sine, cosine], dim=1)]
        )
        back = encoder.layers[0].self_attn
        _look(back, 0, half + quarter, turn)
        _carry(back, 0, project, half)
        own = decoder.layers[0].self_attn
        eye = torch.eye(quarter)
        for i in range(3):
            _look(own, i, half + quarter, eye)
        _carry(own, 0, project, half)
        cross = decoder.layers[0].encoder_attn
        for i in range(2):
            rows = slice(i * quarter, (i + 1) * quarter)  # of the head, and of A
            piece = torch.zeros(quarter, half)
            piece[:, rows] = eye
            _carry(own, 1 + i, -piece, i * quarter)
            for linear in (cross.q_proj, cross.k_proj):
                linear.weight[rows] = 0
                linear.weight[rows, half : half + quarter] = math.sqrt(_MATCH) * eye
            _carry(cross, i, _GAIN * piece, i * quarter)


def _look(attention: Any, head: int, positions: int, turn: torch.Tensor) -> None:
    """Make a head look at the position that `turn` maps its own to. `positions`: start of C."""
    import torch

    width = turn.shape[0]
    rows = slice(head * width, (head + 1) * width)
    for linear, map_ in ((attention.q_proj, turn), (attention.k_proj, torch.eye(width))):
        linear.weight[rows] = 0
        linear.weight[rows, positions : positions + width] = math.sqrt(_SHARP) * map_


def _carry(attention: Any, head: int, map_: torch.Tensor, to: int) -> None:
    """Make a head read A through `map_` (d/4, d/2) and write it to the dimensions from `to`."""
    import torch

    width, half = map_.shape
    rows = slice(head * width, (head + 1) * width)
    attention.v_proj.weight[rows] = 0
    attention.v_proj.weight[rows, :half] = map_
    attention.out_proj.weight[:, rows] = 0
    attention.out_proj.weight[to : to + width, rows] = torch.eye(width)


def new_network(vocabulary: Vocabulary, size: ScratchSize, *, seed: int) -> Any:
    """Return a network for a vocabulary whose weights know how to copy (see `lay_out`).

    BART's architecture with layers normalised first (MBart), as copying and high learning rates
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

    logging.disable_progress_bar()
    text = json.dumps(note, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing_folder(folder) as temporary:
        network.save_pretrained(str(temporary))
        vocabulary.save(temporary)
        (temporary / NOTE).write_text(f"{text}\n", encoding="utf-8")
    return folder
