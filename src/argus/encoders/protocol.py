"""The protocol of encoders, and the fingerprint that identifies the encoder of a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from typing_extensions import TypeVar

from argus.data.types import FloatArray, IntArray, Span
from argus.encoders.config import COSINE
from argus.encoders.rows import Rows

R_co = TypeVar("R_co", bound=Rows, default=FloatArray, covariant=True)


def similarity_of(encoder: object) -> str:
    """Return how an encoder's rows are compared. By default they have length 1."""
    return str(getattr(encoder, "similarity", COSINE))


@runtime_checkable
class Encoder(Protocol[R_co]):
    """Text to vectors. Raises EncodingError when a batch cannot be embedded.

    `fingerprint` names everything that changes a vector: model, weights, prompts, pooling,
    dimension, maximum tokens, precision. Equal fingerprints mean vectors that may be compared.
    `Encoder` alone gives one vector per text, (n, dim) float32, unit rows unless its `similarity`
    is DOT. One of sparse rows or of rows of tokens says so by its `family`.
    """

    @property
    def fingerprint(self) -> str:
        """Everything that determines a vector, as one line of text."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def pools_spans(self) -> bool:
        """True if `encode_spans` pools token vectors. If not it returns the vector of the text."""

    def encode_queries(self, texts: Sequence[str]) -> R_co:
        """Return n rows."""

    def encode_documents(self, texts: Sequence[str]) -> R_co:
        """Return n rows."""

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> R_co:
        """Return n rows: the mention `spans[i]` inside `texts[i]`.

        `g(E(w), s)` of ARGUS §3.2 and §B.4: token vectors averaged over the span if the model
        has token vectors, otherwise the vector of the whole text. Equal texts are read once.
        """


@runtime_checkable
class TokenCounter(Protocol):
    """An encoder with a limit on its input that counts tokens."""

    @property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, special tokens included. None when unlimited."""

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, special tokens included, nothing cut."""


def make_fingerprint(name: str, **parts: object) -> str:
    """Return everything that determines a vector, as one line of text. name: model@revision."""
    return " ".join([name, *(f"{key}={value}" for key, value in parts.items())])


def directions(encoder: object, vectors: FloatArray) -> FloatArray:
    """Return an encoder's rows as unit rows, whose dot products are cosines."""
    return vectors if similarity_of(encoder) == COSINE else unit_rows(vectors)


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Return the rows scaled to length 1, float32. Rows of length 0 stay."""
    with np.errstate(over="ignore", invalid="ignore"):  # rows that `usable` finds
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)
    odd = ~((norms > 0) & np.isfinite(norms)).ravel()  # or squares that overflow float32
    if odd.any() and vectors.dtype != np.float64:
        unit[odd] = unit_rows(vectors[odd].astype(np.float64))
    return unit
