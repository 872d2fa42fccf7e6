"""The protocol of encoders, and the three kinds of rows that they return.

A job that works with any encoder takes `Rows` and never looks inside: parts of them are rows again,
and `argus.indexes.exact` compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeVar

from argus.data.types import FloatArray, IntArray
from argus.encoders.config import COSINE

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Tolerance of a vector's length 1: half precision rounds by less.
UNIT_TOLERANCE = 1e-3

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = slice | IntArray | BoolArray


@dataclass(frozen=True)
class SparseRows:
    """Weights of terms, for sparse encoders: a row per text, a column per term of the vocabulary.

    matrix: (n, n_terms) float32, columns of a row ascending.
    """

    matrix: csr_array

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, places: Places) -> SparseRows:
        return SparseRows(self.matrix[places])


@dataclass(frozen=True)
class TokenRows:
    """A vector per token, for late interaction: those of text i are `starts[i]:starts[i + 1]`.

    vectors: (n_tokens, dim) float32. starts: (n + 1,).
    """

    vectors: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, texts: Sequence[FloatArray], dim: int) -> TokenRows:
        """Return the rows of texts, of shape (n_tokens, dim) each."""
        counts = [len(vectors) for vectors in texts]
        empty = np.zeros((0, dim), np.float32)
        return cls(np.concatenate([empty, *texts]).astype(np.float32), starts_of(np.array(counts)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, places: Places) -> TokenRows:
        tokens, starts = parts_of(self.starts, np.arange(len(self))[places])
        return TokenRows(self.vectors[tokens], starts)

    def tokens(self, row: int) -> FloatArray:
        """Return the token vectors of one text, shape (n_tokens, dim)."""
        vectors: FloatArray = self.vectors[self.starts[row] : self.starts[row + 1]]
        return vectors

    @property
    def counts(self) -> IntArray:
        """Tokens of every text, shape (n,)."""
        counts: IntArray = np.diff(self.starts)
        return counts


Rows: TypeAlias = FloatArray | SparseRows | TokenRows
Family = Literal["dense", "sparse", "tokens"]
# Type parameter for rows. By default, one vector per text.
R = TypeVar("R", bound=Rows, default=FloatArray)
R_co = TypeVar("R_co", bound=Rows, default=FloatArray, covariant=True)


@runtime_checkable
class Encoder(Protocol[R_co]):
    """Text to vectors. Raises EncodingError when a batch cannot be embedded.

    `fingerprint` names everything that changes a vector: model, weights, prompts, pooling,
    dimension, maximum tokens, precision. Equal fingerprints mean vectors that may be compared.
    `Encoder` alone gives one vector per text, (n, dim) float32, unit rows unless its `similarity`
    is DOT. One of sparse rows or of rows of tokens says so by its `family`, and one that
    pools mentions has `encode_spans` (see `pools_spans`).
    """

    @property
    def fingerprint(self) -> str:
        """Everything that determines a vector, as one line of text."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def encode_queries(self, texts: Sequence[str]) -> R_co:
        """Return n rows."""

    def encode_documents(self, texts: Sequence[str]) -> R_co:
        """Return n rows."""


@runtime_checkable
class TokenCounter(Protocol):
    """An encoder with a limit on its input that counts tokens."""

    @property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, special tokens included. None when unlimited."""

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, special tokens included, nothing cut."""


def family_of(encoder: object) -> Family:
    """Return the kind of an encoder's rows. One vector per text by default."""
    family: Family = getattr(encoder, "family", "dense")
    return family


def pools_spans(encoder: object) -> bool:
    """Return whether an encoder's `encode_spans(texts, spans)` pools token vectors.

    `g(E(w), s)` of ARGUS §3.2 and §B.4: those of the mention `spans[i]` in `texts[i]` averaged. Of
    any other encoder a mention has the vector of its text.
    """
    return hasattr(encoder, "encode_spans") and bool(getattr(encoder, "pools_spans", True))


def similarity_of(encoder: object) -> str:
    """Return how an encoder's rows are compared. By default they have length 1."""
    return str(getattr(encoder, "similarity", COSINE))


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


def starts_of(counts: IntArray) -> IntArray:
    """Return where each of some consecutive parts begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def parts_of(starts: IntArray, parts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places of some parts, one after the other, and where those of each begin."""
    counts = starts[parts + 1] - starts[parts]
    new = starts_of(counts)
    return np.arange(new[-1]) + np.repeat(starts[parts] - new[:-1], counts), new


def empty_rows(family: Family, dim: int) -> Rows:
    """Return zero rows of a family. dim: length of a vector, or number of terms."""
    if family == "sparse":
        from scipy.sparse import csr_array

        return SparseRows(csr_array((0, dim), dtype=np.float32))
    return TokenRows.of([], dim) if family == "tokens" else np.zeros((0, dim), np.float32)


def concatenate(parts: Sequence[R]) -> R:
    """Return the rows of all parts, of which there is at least one, in their order."""
    like: Sequence[Any] = parts
    whole: Any
    if isinstance(like[0], SparseRows):
        from scipy.sparse import vstack

        whole = SparseRows(vstack([part.matrix for part in like], format="csr"))
    elif isinstance(like[0], TokenRows):
        counts = np.concatenate([part.counts for part in like])
        whole = TokenRows(np.concatenate([part.vectors for part in like]), starts_of(counts))
    else:
        whole = np.concatenate(like)
    return cast(R, whole)


def arrays_of(rows: Rows) -> tuple[np.ndarray, ...]:
    """Return the arrays that determine rows."""
    if isinstance(rows, SparseRows):
        return rows.matrix.data, rows.matrix.indices, rows.matrix.indptr
    return (rows.vectors, rows.starts) if isinstance(rows, TokenRows) else (rows,)


def usable(rows: Rows, *, unit: bool = False) -> BoolArray:
    """Return which rows are finite and not empty or zero, shape (n,).

    unit: and which of an array are of length 1.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a torn block may hold anything
        if isinstance(rows, SparseRows):
            lengths = np.asarray(rows.matrix.multiply(rows.matrix).sum(axis=1)).ravel()
        elif isinstance(rows, TokenRows):
            squares = np.append((rows.vectors**2).sum(axis=1), 0)
            lengths = np.where(rows.counts > 0, np.add.reduceat(squares, rows.starts)[:-1], 0)
        else:
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            if unit:
                return np.asarray(np.abs(lengths - 1) <= UNIT_TOLERANCE)
    return np.asarray(np.isfinite(lengths) & (lengths > 0))
