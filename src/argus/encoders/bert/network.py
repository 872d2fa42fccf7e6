"""BERT's encoder (Devlin et al. 2019; Vaswani et al. 2017, section 3): tokens to vectors.

Submodules are named as the tensors of BERT checkpoints are. Operations come in the order, shapes
and formats in which transformers' BertModel does them with scaled dot product attention, so that
vectors are the same to the bit (tests/encoders/bert compares them).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


@dataclass(frozen=True, kw_only=True)
class BertConfig:
    """Sizes of the network."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float = 1e-12


class Bert(nn.Module):
    """Token ids to token vectors.

    The pooler belongs to the checkpoint, and so to the digest of its weights. Nothing here uses it.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.encoder = Stack(config)
        self.pooler = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.hidden_size)})

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return (n, n_tokens, hidden_size). All inputs are (n, n_tokens), the mask 1 or 0."""
        mask = attention_mask.bool()
        n, width = mask.shape
        # Without padding no mask is given: another kernel may then be chosen.
        allowed = None if mask.all() else mask[:, None, None, :].expand(n, 1, width, width)
        out: Tensor = self.encoder(self.embeddings(input_ids, token_type_ids), allowed)
        return out


class Stack(nn.Module):
    """The layers, one after another."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))

    def forward(self, hidden: Tensor, allowed: Tensor | None) -> Tensor:
        """Return (n, n_tokens, hidden_size)."""
        for layer in self.layer:
            hidden = layer(hidden, allowed)
        return hidden


class Embeddings(nn.Module):
    """Word, kind of text and position, added up and normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.word_embeddings = _lookup(config.vocab_size, config.hidden_size)
        self.position_embeddings = _lookup(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = _lookup(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return (n, n_tokens, hidden_size)."""
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        tokens = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        out: Tensor = self.LayerNorm(tokens + self.position_embeddings(positions))
        return out


class Layer(nn.Module):
    """Attention and a feed-forward block, each added to its input and normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        hidden, inner = config.hidden_size, config.intermediate_size
        self.attention = nn.ModuleDict(
            {"self": Attention(config), "output": Residual(hidden, hidden, config.layer_norm_eps)}
        )
        self.intermediate = Expansion(hidden, inner)
        self.output = Residual(inner, hidden, config.layer_norm_eps)

    def forward(self, hidden: Tensor, allowed: Tensor | None) -> Tensor:
        """Return (n, n_tokens, hidden_size)."""
        attended = self.attention["self"](hidden, allowed)
        hidden = self.attention["output"](attended, hidden)
        out: Tensor = self.output(self.intermediate(hidden), hidden)
        return out


class Attention(nn.Module):
    """softmax(Q·Kᵀ/√d)·V for every head."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.width = config.hidden_size // config.num_attention_heads

    def forward(self, hidden: Tensor, allowed: Tensor | None) -> Tensor:
        """Return (n, n_tokens, hidden_size). allowed: which token may see which, None for all."""
        query, key, value = (
            project(hidden).unflatten(-1, (-1, self.width)).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )  # (n, n_heads, n_tokens, width)
        heads = scaled_dot_product_attention(
            query, key, value, attn_mask=allowed, scale=self.width**-0.5
        )
        return heads.transpose(1, 2).flatten(2)


class Expansion(nn.Module):
    """The first half of the feed-forward block. `packing` needs these names."""

    def __init__(self, hidden: int, inner: int) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden, inner)
        self.intermediate_act_fn = nn.GELU()

    def forward(self, hidden: Tensor) -> Tensor:
        """Return (n, n_tokens, inner)."""
        out: Tensor = self.intermediate_act_fn(self.dense(hidden))
        return out


class Residual(nn.Module):
    """A linear layer, added to its input and normalised."""

    def __init__(self, n_in: int, n_out: int, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(n_in, n_out)
        self.LayerNorm = nn.LayerNorm(n_out, eps=eps)

    def forward(self, new: Tensor, before: Tensor) -> Tensor:
        """Return (n, n_tokens, n_out)."""
        out: Tensor = self.LayerNorm(self.dense(new) + before)
        return out


def _lookup(rows: int, dim: int) -> nn.Embedding:
    """Return an embedding without values: drawing them without memory imports torch's compiler."""
    values = torch.empty((rows, dim))
    table: nn.Embedding = nn.Embedding.from_pretrained(values, freeze=False)  # type: ignore[no-untyped-call]
    return table
