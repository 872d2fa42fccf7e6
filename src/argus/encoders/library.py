"""Sparse encoders (SPLADE) and late interaction (ColBERT), through sentence-transformers' classes.

`LibraryEncoder` is their base. There are no vectors of mentions: a span has the rows of its text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from argus.data.types import FloatArray, IntArray, Span
from argus.encoders.config import COSINE, DOT
from argus.encoders.prompts import Prompt, Prompts
from argus.encoders.protocol import Fingerprint
from argus.encoders.rows import Family, R, SparseRows, TokenRows, concatenate, empty_rows
from argus.encoders.sentence_transformer import batches_of, token_counts, weights_digest
from argus.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MEAN = "meanmaxsim"
"""MaxSim divided by the number of the query's tokens: no rank differs, scores do."""


class LibraryEncoder(ABC, Generic[R]):
    """Base of encoders on a SparseEncoder or a MultiVectorEncoder."""

    family: Family
    pools_spans = False

    def __init__(
        self, model: Any, *, name: str, precision: str, prompts: Prompts, code: str = ""
    ) -> None:
        self.model, self.name, self.precision = model, name, precision
        self.prompts, self.code = prompts, code
        self._revision = weights_digest(model)
        model.eval()

    @property
    @abstractmethod
    def similarity(self) -> str:
        """Similarity that compares rows, for the fingerprint."""

    @cached_property
    @abstractmethod
    def dim(self) -> int:
        """Terms of the vocabulary, or length of a token vector: of a word that is embedded.

        The model's own property is the width of an earlier module until something is embedded.
        """

    @abstractmethod
    def _encode(self, texts: Sequence[str], prompt: Prompt, task: str) -> Any:
        """Return the model's output for one batch."""

    @abstractmethod
    def _join(self, batches: Sequence[Any]) -> R:
        """Return the rows of all batches, in their order."""

    @cached_property
    def fingerprint(self) -> str:
        """Model, a digest of its weights, prompts, sizes, precision, similarity."""
        return str(
            Fingerprint(
                model=f"sentence-transformers:{self.name}",
                revision=self._revision,
                dim=self.dim,
                max_tokens=self.max_tokens,
                precision=self.precision,
                pooling=self.family,
                query_prompt=self.prompts.query.text,
                document_prompt=self.prompts.document.text,
                similarity=self.similarity,
                code=self.code,
            )
        )

    @property
    def max_tokens(self) -> int | None:
        """Longest document in tokens, special tokens included."""
        limits = (self.model.max_seq_length, getattr(self.model[0], "document_length", None))
        return min((int(limit) for limit in limits if limit), default=None)

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, special tokens included, nothing cut."""
        return token_counts(self.model.tokenizer, texts, self.prompts.document.text)

    def encode_queries(self, texts: Sequence[str]) -> R:
        """Return n rows, the query prompt in front of each text."""
        return self._rows(texts, self.prompts.query, "query")

    def encode_documents(self, texts: Sequence[str]) -> R:
        """Return n rows. Texts beyond the window are cut, as in any index."""
        return self._rows(texts, self.prompts.document, "document")

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> R:
        """Return n rows: those of the texts."""
        return self.encode_documents(texts)

    def _rows(self, texts: Sequence[str], prompt: Prompt, task: str) -> R:
        counts = np.minimum(self.count_tokens(texts), self.max_tokens or 1 << 30)
        batches = batches_of(counts.tolist())
        rows: Any = self._join(
            [self._encode([texts[i] for i in batch], prompt, task) for batch in batches]
        )
        back: R = rows[np.argsort(np.array([i for batch in batches for i in batch], np.int64))]
        return back

    def _call(self, texts: Sequence[str], prompt: Prompt, task: str, **options: Any) -> Any:
        return self.model.encode(
            list(texts),
            prompt=prompt.text,
            task=task,
            batch_size=len(texts),
            show_progress_bar=False,
            **options,
        )


class SparseTextEncoder(LibraryEncoder[SparseRows]):
    """A weight per term of the model's vocabulary. Nearly all are zero.

    Compared by dot product, or by cosine if the model says so: its rows then have length 1.
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

    @cached_property
    def dim(self) -> int:
        """See `LibraryEncoder`."""
        return int(self._call(["dimension"], Prompt(), "document").shape[1])

    def terms(self, columns: IntArray) -> list[str]:
        """Return the terms of some columns, or their numbers if these are no words."""
        words = self.model.tokenizer
        if words is None or len(words) != self.dim:
            return [f"#{column}" for column in columns.tolist()]
        return [str(term) for term in words.convert_ids_to_tokens(columns.tolist())]

    def _encode(self, texts: Sequence[str], prompt: Prompt, task: str) -> csr_array:
        from scipy.sparse import csr_array

        encoded = self._call(texts, prompt, task, save_to_cpu=True).coalesce()
        places, weights = encoded.indices().numpy(), encoded.values().float().numpy()
        shape = len(texts), self.dim
        matrix = csr_array((weights, (places[0], places[1])), shape=shape, dtype=np.float32)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        if self.model.similarity_fn_name == COSINE:
            lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
            scale = np.repeat(np.where(lengths > 0, lengths, 1), np.diff(matrix.indptr))
            matrix.data = (matrix.data / scale).astype(np.float32)
        return matrix

    def _join(self, batches: Sequence[csr_array]) -> SparseRows:
        none = empty_rows(self.family, self.dim)
        assert isinstance(none, SparseRows)
        return concatenate([none, *(SparseRows(batch) for batch in batches)])


class LateEncoder(LibraryEncoder[TokenRows]):
    """A vector per token, compared by MaxSim.

    The tokens are those that the model scores: with the expansion of a query, without those that it
    skips in documents. A model that ranks by the mean has query vectors divided by their number.
    """

    family: Family = "tokens"

    @property
    def similarity(self) -> str:
        """See `LibraryEncoder`."""
        return str(self.model.similarity_fn_name)

    @cached_property
    def dim(self) -> int:
        """See `LibraryEncoder`."""
        encoded = self._call(["dimension"], Prompt(), "document", convert_to_numpy=True)
        return int(encoded[0].shape[1])

    def query_tokens(self, text: str) -> list[str]:
        """Return the tokens behind the vectors of a query, in their order."""
        return self._tokens(text, self.prompts.query, "query")

    def document_tokens(self, text: str) -> list[str]:
        """Return the tokens behind the vectors of a document, in their order."""
        return self._tokens(text, self.prompts.document, "document")

    def _tokens(self, text: str, prompt: Prompt, task: str) -> list[str]:
        features = self._call([text], prompt, task, output_value=None)[0]
        scored = features["attention_mask"].bool().cpu()
        if "input_ids" not in features or len(features["input_ids"]) != len(scored):
            return [f"#{i}" for i in range(int(scored.sum()))]  # pooled: no longer single tokens
        ids = features["input_ids"].cpu()[scored]
        return [str(token) for token in self.model.tokenizer.convert_ids_to_tokens(ids.tolist())]

    def _encode(self, texts: Sequence[str], prompt: Prompt, task: str) -> list[FloatArray]:
        mean = task == "query" and self.similarity == MEAN
        return [
            np.asarray(vectors / max(1, len(vectors)) if mean else vectors, np.float32)
            for vectors in self._call(texts, prompt, task, convert_to_numpy=True)
        ]

    def _join(self, batches: Sequence[list[FloatArray]]) -> TokenRows:
        return TokenRows.of([vectors for batch in batches for vectors in batch], self.dim)
