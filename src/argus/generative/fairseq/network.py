"""Fairseq's BART as that of transformers: the same network, whose weights have other names.

Both add a learned embedding of the position, counted from 2, to that of the token, normalise the
sum, and normalise after each part of a layer; the decoder begins with `</s>`, and its output is
read through the embedding of the tokens. So every weight has its place, and the logits are equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.errors import InputError
from argus.generative.fairseq.checkpoint import Checkpoint
from argus.generative.fairseq.settings import ACTIVATIONS, ConvertConfig

if TYPE_CHECKING:
    import torch

BOS, PAD, EOS = 0, 1, 2
"""Rows of `<s>`, `<pad>` and `</s>` in every dictionary of fairseq."""
_POSITIONS_FROM = 2
"""The row of the first position: those before it are never read."""
_SIDES = ("encoder", "decoder")
_HEAD_WIDTH = 64
"""In all models of BART that were released."""
_FIXED = {"encoder_normalize_before": False, "decoder_normalize_before": False,
          "layernorm_embedding": True, "encoder_learned_pos": True,
          "decoder_learned_pos": True}  # fmt: skip
"""Settings that make a network BART; a checkpoint that says otherwise is of another."""
_EMBEDDINGS = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
               "decoder.output_projection.weight")  # fmt: skip
"""One matrix in BART, by the names that it is saved under."""
_UNUSED = re.compile(
    r"(encoder|decoder)\.(version|.*_float_tensor)"
    r"|classification_heads\..*"
    r"|(encoder|decoder)\.layers\.\d+\.(in|out)_proj_(weight|bias)"
)
"""Names that no text is written with: marks of a version, heads for classes, and what fairseq 0.12
saves twice (in a layer, beside its self_attn)."""
_JOINED = re.compile(r"(.*_attn)\.in_proj_(weight|bias)")
"""Query, key and value as one matrix: fairseq before 0.9."""


@dataclass(frozen=True)
class Shape:
    """What a BART is, besides its weights. tokens: rows of the embedding."""

    tokens: int
    d_model: int
    encoder_layers: int
    decoder_layers: int
    encoder_heads: int
    decoder_heads: int
    encoder_width: int
    decoder_width: int
    positions: int
    activation: str
    scaled: bool
    dropout: float


def to_bart(
    checkpoint: Checkpoint, where: Path, config: ConvertConfig
) -> tuple[Any, Shape, list[str]]:
    """Return BartForConditionalGeneration with a checkpoint's weights in float32, and its shape.

    With the names of what no text is written with. config: where the checkpoint does not say.
    where: its file, for errors. Raises InputError where weights are missing or too many, and where
    the network is not BART's.
    """
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    left_out = sorted(name for name in checkpoint.weights if _UNUSED.fullmatch(name))
    used = {name: w for name, w in checkpoint.weights.items() if name not in left_out}
    weights = _split(used)
    embedding = _embedding(weights, where)
    shape = _shape(checkpoint.settings, weights, embedding, config, where)
    bart = BartConfig(
        vocab_size=shape.tokens, d_model=shape.d_model, max_position_embeddings=shape.positions,
        encoder_layers=shape.encoder_layers, decoder_layers=shape.decoder_layers,
        encoder_attention_heads=shape.encoder_heads, decoder_attention_heads=shape.decoder_heads,
        encoder_ffn_dim=shape.encoder_width, decoder_ffn_dim=shape.decoder_width,
        activation_function=shape.activation, scale_embedding=shape.scaled, dropout=shape.dropout,
        bos_token_id=BOS, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=EOS,
        forced_eos_token_id=None,
    )  # fmt: skip
    network: Any = BartForConditionalGeneration(bart)
    named = {f"model.{name}": weight for name, weight in weights.items()}
    named |= dict.fromkeys(_TIED, embedding)
    named["final_logits_bias"] = torch.zeros(1, shape.tokens)
    _require_same(network.state_dict(), named, where)
    network.load_state_dict({name: weight.float() for name, weight in named.items()})
    return network.eval(), shape, left_out


_TIED = ("model.shared.weight", "model.encoder.embed_tokens.weight",
         "model.decoder.embed_tokens.weight", "lm_head.weight")  # fmt: skip


def _split(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights with query, key and value apart."""
    apart: dict[str, torch.Tensor] = {}
    for name, weight in weights.items():
        joined = _JOINED.fullmatch(name)
        if joined is None:
            apart[name] = weight
            continue
        attention, kind = joined.groups()
        for part, rows in zip(("q", "k", "v"), weight.chunk(3), strict=True):
            apart[f"{attention}.{part}_proj.{kind}"] = rows
    return apart


def _embedding(weights: dict[str, torch.Tensor], where: Path) -> torch.Tensor:
    """Return the matrix of the tokens, and take it out of the weights."""
    import torch

    saved = {name: weights.pop(name) for name in _EMBEDDINGS if name in weights}
    if not saved:
        raise InputError(
            f"no {_EMBEDDINGS[0]} among its {len(weights):,} weights",
            expected="the weights of fairseq's BART",
            fix="Give the .pt file that SEAL or MINDER released, or one that fairseq-train wrote "
            "with --arch bart_large or bart_base.",
            where=where,
        )
    first, *others = saved.values()
    if any(not torch.equal(first, other) for other in others):
        raise InputError(
            f"{', '.join(saved)} differ",
            expected="one matrix for all of them, as in BART (--share-all-embeddings)",
            fix="Convert a checkpoint of BART's architecture.",
            where=where,
        )
    return first


def _shape(
    settings: Mapping[str, object],
    weights: Mapping[str, torch.Tensor],
    embedding: torch.Tensor,
    config: ConvertConfig,
    where: Path,
) -> Shape:
    """Return what the weights say of their network, and the settings where weights do not."""
    _require_bart(settings, where)
    d_model = embedding.shape[1]
    wide = [_rows(weights, f"{side}.layers.0.fc1.weight", where) for side in _SIDES]
    positions = [_rows(weights, f"{side}.embed_positions.weight", where) for side in _SIDES]
    usual = config.heads or max(1, d_model // _HEAD_WIDTH)
    heads = [_number(settings, f"{side}_attention_heads", usual) for side in _SIDES]
    if positions[0] != positions[1] or any(d_model % n for n in heads):
        raise InputError(
            f"{d_model} dimensions, {' and '.join(map(str, heads))} heads, "
            f"{' and '.join(map(str, positions))} positions",
            expected="heads that share the dimensions equally, and as many positions on each side",
            fix="Give --heads as the model was trained with.",
            where=where,
        )
    return Shape(
        tokens=len(embedding), d_model=d_model,
        encoder_layers=_layers(weights, "encoder"), decoder_layers=_layers(weights, "decoder"),
        encoder_heads=heads[0], decoder_heads=heads[1],
        encoder_width=wide[0], decoder_width=wide[1],
        positions=positions[0] - _POSITIONS_FROM,
        activation=_activation(settings, config, where),
        scaled=not settings.get("no_scale_embedding", True),
        dropout=_share(settings, "dropout"),
    )  # fmt: skip


def _require_bart(settings: Mapping[str, object], where: Path) -> None:
    other = [n for n, value in _FIXED.items() if settings.get(n, value) not in (value, None)]
    if other:
        raise InputError(
            f"a network with {', '.join(f'{name} = {settings[name]}' for name in other)}",
            expected="BART's architecture, which SEAL and MINDER have",
            fix="Convert a checkpoint of bart_large or bart_base.",
            where=where,
        )


def _activation(settings: Mapping[str, object], config: ConvertConfig, where: Path) -> str:
    named = str(settings.get("activation_fn") or config.activation or "gelu")
    if named not in ACTIVATIONS:
        raise InputError(
            f"activation {named!r}",
            expected=f"one of {', '.join(ACTIVATIONS)}",
            fix="Convert a checkpoint of BART's architecture.",
            where=where,
        )
    return ACTIVATIONS[named]


def _rows(weights: Mapping[str, torch.Tensor], name: str, where: Path) -> int:
    if name not in weights:
        raise _not_bart([name], [], where)
    return len(weights[name])


def _layers(weights: Mapping[str, torch.Tensor], side: str) -> int:
    numbers = (re.match(rf"{side}\.layers\.(\d+)\.", name) for name in weights)
    return 1 + max(int(number[1]) for number in numbers if number)


def _number(settings: Mapping[str, object], name: str, usual: int) -> int:
    value = settings.get(name)
    return value if isinstance(value, int) and value > 0 else usual


def _share(settings: Mapping[str, object], name: str) -> float:
    value = settings.get(name)
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1 else 0.1


def _require_same(
    ours: Mapping[str, torch.Tensor], theirs: Mapping[str, torch.Tensor], where: Path
) -> None:
    """Raise InputError unless both have the same names and shapes."""
    missing = sorted(ours.keys() - theirs.keys())
    other = sorted(theirs.keys() - ours.keys())
    other += [n for n in ours.keys() & theirs.keys() if ours[n].shape != theirs[n].shape]
    if missing or other:
        raise _not_bart([n.removeprefix("model.") for n in missing],
                        [n.removeprefix("model.") for n in other], where)  # fmt: skip


def _not_bart(missing: list[str], other: list[str], where: Path) -> InputError:
    parts = []
    if missing:
        parts.append(f"{len(missing):,} weights of BART are missing ({', '.join(missing[:3])})")
    if other:
        parts.append(f"{len(other):,} are none of BART's, or of another shape "
                     f"({', '.join(other[:3])})")  # fmt: skip
    return InputError(
        "; ".join(parts),
        expected="the weights of fairseq's BART, layers normalised last",
        fix="Convert a checkpoint of bart_large or bart_base, which SEAL and MINDER are.",
        where=where,
    )
