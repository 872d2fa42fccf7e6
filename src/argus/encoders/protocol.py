"""What an encoder is, and the fingerprint that says which one made a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from argus.data.types import FloatArray, IntArray, Span


@runtime_checkable
class Encoder(Protocol):
    """Text to unit vectors. Raises EncodingError when a batch cannot be embedded.

    `fingerprint` names everything that changes a vector: model, weights, prompts, pooling,
    dimension, maximum tokens, precision. Equal fingerprints mean vectors that may be compared.
    """

    @property
    def fingerprint(self) -> str:
        """Everything that determines a vector, as one line of text."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def pools_spans(self) -> bool:
        """Whether `encode_spans` pools token vectors; if not it gives the vector of the text."""

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim) float32, unit rows."""

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim) float32, unit rows."""

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> FloatArray:
        """Return (n, dim) float32, unit rows: the mention `spans[i]` inside `texts[i]`.

        `g(E(w), s)` of ARGUS §3.2 and §B.4: token vectors averaged over the span where the model
        gives token vectors, else the vector of the whole text. Equal texts are read once.
        """


@runtime_checkable
class TokenCounter(Protocol):
    """An encoder that knows how much of a text it reads."""

    @property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, special tokens included; None when unlimited."""

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, special tokens included, nothing cut."""


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """The parts of a fingerprint; `str()` is the fingerprint."""

    model: str
    revision: str
    dim: int
    max_tokens: int | None
    precision: str
    pooling: str
    query_prompt: str = ""
    document_prompt: str = ""

    def __str__(self) -> str:
        return (
            f"{self.model}@{self.revision} dim={self.dim} max_tokens={self.max_tokens} "
            f"precision={self.precision} pooling={self.pooling} normalize=l2 "
            f"query_prompt={self.query_prompt!r} document_prompt={self.document_prompt!r}"
        )


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Return the rows scaled to length 1, float32; rows of length 0 stay."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)
