"""A sentence model on BERT: tokenizer, network, pooling, vectors of length one.

The network is that of Devlin et al. 2019 (Vaswani et al. 2017, section 3). Submodules are named as
the tensors of BERT checkpoints are. Operations come in the order, shapes and formats in which
transformers' BertModel does them with scaled dot product attention, so that vectors are the same
to the bit (tests/encoders/test_bert.py compares them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import normalize, scaled_dot_product_attention

Features = dict[str, Any]
INPUTS = ("input_ids", "token_type_ids", "attention_mask")
PAD = "[PAD]"


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


class SentenceModel(nn.Sequential):
    """Interface of SentenceTransformer that `SentenceTransformerEncoder` uses."""

    def __init__(
        self, parts: Sequence[nn.Module], *, prompts: dict[str, str], similarity_fn_name: str
    ) -> None:
        super().__init__(*parts)
        self.prompts, self.similarity_fn_name = prompts, similarity_fn_name
        self.tokenizer = cast(Transformer, self[0]).tokenizer

    @property
    def max_seq_length(self) -> int:
        """Longest input in tokens, special tokens included."""
        return self.tokenizer.model_max_length

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the weights."""
        return next(self.parameters()).dtype

    def get_embedding_dimension(self) -> int:
        """Return the length of a sentence vector."""
        return cast(Pooling, self[1]).embedding_dimension

    def preprocess(self, texts: Sequence[str], prompt: str | None, task: str) -> Features:
        """Return the network's inputs, (n, n_tokens). Texts beyond the window are cut.

        task: no module here treats queries and documents differently.
        """
        texts = [(prompt or "") + text for text in texts]
        return self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")

    def forward(self, features: Features) -> Features:
        """Send features through every module."""
        for module in self:
            features = module(features)
        return features


class WordPieceTokenizer:
    """Convert texts to token ids, with the interface of transformers' tokenizers."""

    is_fast = True
    padding_side = "right"

    def __init__(self, backend: Tokenizer, model_max_length: int) -> None:
        self.backend, self.model_max_length = backend, model_max_length

    def __call__(
        self,
        texts: Sequence[str],
        *,
        truncation: bool = False,
        padding: bool = False,
        return_offsets_mapping: bool = False,
        return_tensors: str | None = None,
        verbose: bool = True,
    ) -> dict[str, Any]:
        """Return ids and the other values per text.

        truncation: cut to `model_max_length`. padding: to the longest text. return_tensors: "pt"
        or None for lists. verbose: nothing is said in either case.
        """
        self.backend.no_truncation()
        if truncation:
            self.backend.enable_truncation(self.model_max_length)
        self.backend.no_padding()
        if padding:
            self.backend.enable_padding(pad_id=self.backend.token_to_id(PAD), pad_token=PAD)
        encodings = self.backend.encode_batch(list(texts))
        columns: dict[str, Any] = {
            "input_ids": [e.ids for e in encodings],
            "token_type_ids": [e.type_ids for e in encodings],
            "attention_mask": [e.attention_mask for e in encodings],
        }
        if return_offsets_mapping:
            columns["offset_mapping"] = [e.offsets for e in encodings]
        if return_tensors:
            return {name: torch.tensor(rows) for name, rows in columns.items()}
        return columns


class Transformer(nn.Module):
    """Token ids to token vectors. The network is called `model`: that names its tensors."""

    def __init__(self, model: Bert, tokenizer: WordPieceTokenizer) -> None:
        super().__init__()
        self.model, self.tokenizer = model, tokenizer

    def forward(self, features: Features) -> Features:
        """Add `token_embeddings`, (n, n_tokens, hidden_size)."""
        features["token_embeddings"] = self.model(*(features[name] for name in INPUTS))
        return features


class Pooling(nn.Module):
    """Token vectors to one vector per text: their mean, or the first token's."""

    def __init__(self, embedding_dimension: int, pooling_mode: str) -> None:
        super().__init__()
        self.embedding_dimension, self.pooling_mode = embedding_dimension, pooling_mode

    def forward(self, features: Features) -> Features:
        """Add `sentence_embedding`, (n, hidden_size)."""
        tokens, mask = features["token_embeddings"], features["attention_mask"]
        if self.pooling_mode == "cls":  # the first token that is no padding
            rows = torch.arange(len(tokens), device=tokens.device)
            pooled = tokens[rows, mask.int().argmax(dim=1)]
        else:  # sums of half precision are kept in float32
            exact = torch.promote_types(tokens.dtype, torch.float32)
            weights = mask[:, :, None].to(tokens.dtype)
            total = (tokens * weights).sum(dim=1, dtype=exact)
            count = weights.sum(dim=1, dtype=exact)
            pooled = (total / count.clamp(min=1e-9)).to(tokens.dtype)
        features["sentence_embedding"] = pooled
        return features


class Normalize(nn.Module):
    """Divide sentence vectors by their length."""

    def forward(self, features: Features) -> Features:
        """Replace `sentence_embedding`."""
        features["sentence_embedding"] = normalize(features["sentence_embedding"], dim=-1)
        return features


class Bert(nn.Module):
    """Token ids to token vectors.

    The pooler belongs to the checkpoint, and so to the digest of its weights. Nothing here uses it.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.embeddings = Embeddings(config)
        self.encoder = nn.ModuleDict({"layer": layers})
        self.pooler = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.hidden_size)})

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return (n, n_tokens, hidden_size). All inputs are (n, n_tokens), the mask 1 or 0."""
        mask = attention_mask.bool()
        n, width = mask.shape
        # Without padding no mask is given: another kernel may then be chosen.
        allowed = None if mask.all() else mask[:, None, None, :].expand(n, 1, width, width)
        hidden: Tensor = self.embeddings(input_ids, token_type_ids)
        for layer in cast(nn.ModuleList, self.encoder["layer"]):
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
        hidden, inner, eps = config.hidden_size, config.intermediate_size, config.layer_norm_eps
        heads = Attention(hidden, hidden // config.num_attention_heads)
        self.attention = nn.ModuleDict({"self": heads, "output": Residual(hidden, hidden, eps)})
        # `packing` needs these names.
        expansion = {"dense": nn.Linear(hidden, inner), "intermediate_act_fn": nn.GELU()}
        self.intermediate = nn.ModuleDict(expansion)
        self.output = Residual(inner, hidden, eps)

    def forward(self, hidden: Tensor, allowed: Tensor | None) -> Tensor:
        """Return (n, n_tokens, hidden_size)."""
        attended = self.attention["self"](hidden, allowed)
        hidden = self.attention["output"](attended, hidden)
        expanded = self.intermediate["dense"](hidden)
        out: Tensor = self.output(self.intermediate["intermediate_act_fn"](expanded), hidden)
        return out


class Attention(nn.Module):
    """softmax(Q·Kᵀ/√d)·V for every head. width: d, the numbers of one head."""

    def __init__(self, hidden: int, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.width = width

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
