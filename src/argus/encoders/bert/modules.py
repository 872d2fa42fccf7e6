"""The parts of a sentence model: a network behind its tokenizer, pooling, length one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor, nn

from argus.data.types import FloatArray
from argus.encoders.bert.network import Bert
from argus.encoders.bert.tokenizer import WordPieceTokenizer

Features = dict[str, Any]
INPUTS = ("input_ids", "token_type_ids", "attention_mask")


class Transformer(nn.Module):
    """Token ids to token vectors. The network is called `model`: that names its tensors."""

    def __init__(self, model: Bert, tokenizer: WordPieceTokenizer) -> None:
        super().__init__()
        self.model, self.tokenizer = model, tokenizer

    @property
    def auto_model(self) -> Bert:
        """The network."""
        return self.model

    def forward(self, features: Features) -> Features:
        """Add `token_embeddings`, (n, n_tokens, hidden_size)."""
        features["token_embeddings"] = self.model(*(features[name] for name in INPUTS))
        return features


class Pooling(nn.Module):
    """Token vectors to one vector per text: their mean, or the first token's."""

    def __init__(self, embedding_dimension: int, pooling_mode: Literal["mean", "cls"]) -> None:
        super().__init__()
        self.embedding_dimension, self.pooling_mode = embedding_dimension, pooling_mode

    def forward(self, features: Features) -> Features:
        """Add `sentence_embedding`, (n, hidden_size)."""
        pool = _first if self.pooling_mode == "cls" else _mean
        features["sentence_embedding"] = pool(
            features["token_embeddings"], features["attention_mask"]
        )
        return features


class Normalize(nn.Module):
    """Divide sentence vectors by their length."""

    def forward(self, features: Features) -> Features:
        """Replace `sentence_embedding`."""
        vectors = features["sentence_embedding"]
        features["sentence_embedding"] = nn.functional.normalize(vectors, dim=-1)
        return features


class SentenceModel(nn.Sequential):
    """Interface of SentenceTransformer that `SentenceTransformerEncoder` uses."""

    def __init__(
        self,
        parts: Sequence[nn.Module],
        *,
        prompts: Mapping[str, str],
        default_prompt_name: str | None,
        similarity_fn_name: str = "cosine",
    ) -> None:
        super().__init__(*parts)
        self.prompts, self.default_prompt_name = dict(prompts), default_prompt_name
        self.similarity_fn_name = similarity_fn_name

    @property
    def _transformer(self) -> Transformer:
        return cast(Transformer, self[0])

    @property
    def tokenizer(self) -> WordPieceTokenizer:
        """The tokenizer."""
        return self._transformer.tokenizer

    @property
    def max_seq_length(self) -> int | None:
        """Longest input in tokens, special tokens included."""
        return self.tokenizer.model_max_length

    @max_seq_length.setter
    def max_seq_length(self, tokens: int) -> None:
        self.tokenizer.model_max_length = tokens

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

    def preprocess(
        self, texts: Sequence[str], prompt: str | None = None, task: str | None = None
    ) -> Features:
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

    def encode(
        self, texts: Sequence[str], prompt: str = "", *, normalize_embeddings: bool = False
    ) -> FloatArray:
        """Return the sentence vectors of a few texts, shape (n, dim), in one batch."""
        features = {
            name: tensor.to(self.device) for name, tensor in self.preprocess(texts, prompt).items()
        }
        with torch.inference_mode():
            vectors: Tensor = self(features)["sentence_embedding"]
            if normalize_embeddings:
                vectors = nn.functional.normalize(vectors, dim=-1)
        return np.asarray(vectors.float().cpu().numpy(), np.float32)


def _mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Average the tokens that are not padding. Sums of half precision are kept in float32."""
    exact = torch.promote_types(tokens.dtype, torch.float32)
    weights = mask[:, :, None].to(tokens.dtype)
    total = (tokens * weights).sum(dim=1, dtype=exact)
    count = weights.sum(dim=1, dtype=exact)
    return (total / count.clamp(min=1e-9)).to(tokens.dtype)


def _first(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the first token that is no padding."""
    return tokens[torch.arange(len(tokens), device=tokens.device), mask.int().argmax(dim=1)]
