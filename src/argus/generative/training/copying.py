"""Initial weights of a network that already copies words.

An encoder-decoder with random weights must discover that words of the question return in its
output. Three minutes of training on two cores were not enough. This module lays out the circuit
instead, in the manner of mimetic initialization (Trockman and Kolter, 2023). Every weight of it
goes on learning like any other. Of the d dimensions, A (the first half) holds a token, B (a
quarter) the token before it, C (a quarter) the position:

* encoder, first layer: one head looks one position back and writes P·A of it into B.
* decoder, first layer: heads that look at their own position move P·A into B and clear A.
* its cross-attention: looks where B of encoder and decoder agree (the same token has just gone by)
  and writes A of that place, the token to come, into A, from which the tied output reads it.

P is random, with orthonormal rows. All other weights start small and random.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

HEADS = 4
"""A head is as wide as B and C: a quarter of the model."""
_LONGEST = 200.0
"""Positions in the longest period of C, in half turns."""
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
        for part in (encoder, decoder):
            part.embed_positions.weight.zero_()
            part.embed_positions.weight[:, half + quarter :] = _waves(
                part.embed_positions.weight.shape[0], quarter
            )
        back = encoder.layers[0].self_attn
        _look(back, 0, half + quarter, _turn(quarter))
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


def _waves(positions: int, width: int) -> torch.Tensor:
    """Return sines and cosines of unit variance, (positions, width)."""
    import torch

    angles = torch.arange(positions)[:, None] * _frequencies(width)
    return math.sqrt(2) * torch.cat([angles.sin(), angles.cos()], dim=1)


def _turn(width: int) -> torch.Tensor:
    """Return the map of the waves of a position to those of the one before it, (width, width)."""
    import torch

    sine, cosine = (torch.diag(f(_frequencies(width))) for f in (torch.sin, torch.cos))
    return torch.cat([torch.cat([cosine, -sine], dim=1), torch.cat([sine, cosine], dim=1)])


def _frequencies(width: int) -> torch.Tensor:
    import torch

    steps = torch.arange(width // 2) / (width // 2)
    return math.pi * _LONGEST**-steps


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
