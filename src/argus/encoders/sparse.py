"""Sparse encoders: SPLADE and its kin, through sentence-transformers' SparseEncoder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.encoders.library import LibraryEncoder
from argus.encoders.prompts import Prompt
from argus.encoders.protocol import COSINE, DOT
from argus.encoders.rows import Family, SparseRows, concatenate, empty_rows
from argus.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SparseTextEncoder(LibraryEncoder[SparseRows]):
    """A weight per term of the model's vocabulary; nearly all are zero.

    Compared by dot product, or by cosine where the model says so: its rows then have length 1.
    """

    family: Family = "sparse"

    def __init__(self, model: Any, **settings: Any) -> None:
        super().__init__(model, **settings)
        if model.similarity_fn_name not in (COSINE, DOT):
            raise InputError(
                f"a sparse model that ranks by {model.similarity_fn_name} distance",
                expected="dot product or cosine",
                fix="Name another.",
                where="--encoder",
            )

    @property
    def similarity(self) -> str:
        """See `LibraryEncoder`."""
        return f"sparse-{self.model.similarity_fn_name}"

    def terms(self, columns: IntArray) -> list[str]:
        """Return the terms of some columns; their numbers where these are no words."""
        words = self.model.tokenizer
        if words is None or len(words) != self.dim:
            return [f"#{column}" for column in columns.tolist()]
        return [str(term) for term in words.convert_ids_to_tokens(columns.tolist())]

    @cached_property
    def dim(self) -> int:
        """See `LibraryEncoder`."""
        arguments = self._arguments(Prompt(), "document", 1)
        return int(self.model.encode(["dimension"], **arguments).shape[1])

    def _encode(self, texts: Sequence[str], prompt: Prompt, task: str) -> csr_array:
        from scipy.sparse import csr_array

        arguments = self._arguments(prompt, task, len(texts))
        encoded = self.model.encode(list(texts), save_to_cpu=True, **arguments).coalesce()
        places, weights = encoded.indices().numpy(), encoded.values().float().numpy()
        shape = len(texts), self.dim
        matrix = csr_array((weights, (places[0], places[1])), shape=shape, dtype=np.float32)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return _unit(matrix) if self.model.similarity_fn_name == COSINE else matrix

    def _joined(self, batches: Sequence[csr_array]) -> SparseRows:
        none = empty_rows(self.family, self.dim)
        assert isinstance(none, SparseRows)
        return concatenate([none, *(SparseRows(batch) for batch in batches)])


def _unit(matrix: csr_array) -> csr_array:
    """Return rows of length 1; those without a term stay."""
    lengths: FloatArray = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = np.repeat(np.where(lengths > 0, lengths, 1), np.diff(matrix.indptr))
    matrix.data = (matrix.data / scale).astype(np.float32)
    return matrix
