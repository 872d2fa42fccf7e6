"""Models through sentence-transformers' own classes for rows that are no single vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Generic

import numpy as np

from argus.data.types import IntArray, Span
from argus.encoders.batches import batches_of
from argus.encoders.prompts import Prompt, Prompts
from argus.encoders.protocol import Fingerprint
from argus.encoders.rows import Family, R
from argus.encoders.sentence_transformer import token_counts, weights_digest


class LibraryEncoder(ABC, Generic[R]):
    """What encoders on a SparseEncoder or a MultiVectorEncoder share.

    There are no vectors of mentions: a span has the rows of its text.
    """

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
        """How rows are compared, for the fingerprint."""

    @cached_property
    @abstractmethod
    def dim(self) -> int:
        """Terms of the vocabulary, or length of a token vector: seen by embedding a word.

        What the model says of itself is the width of an earlier module where nothing was embedded.
        """

    @abstractmethod
    def _encode(self, texts: Sequence[str], prompt: Prompt, task: str) -> Any:
        """Return what the model makes of one batch."""

    @abstractmethod
    def _joined(self, batches: Sequence[Any]) -> R:
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
        """Return n rows; the query prompt is put in front."""
        return self._rows(texts, self.prompts.query, "query")

    def encode_documents(self, texts: Sequence[str]) -> R:
        """Return n rows; texts beyond the window are cut, as in any index."""
        return self._rows(texts, self.prompts.document, "document")

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> R:
        """Return n rows: those of the texts."""
        return self.encode_documents(texts)

    def _rows(self, texts: Sequence[str], prompt: Prompt, task: str) -> R:
        order: list[int] = []
        batches = []
        for batch in self._batches(texts):
            batches.append(self._encode([texts[i] for i in batch], prompt, task))
            order += batch
        rows: Any = self._joined(batches)
        back: R = rows[np.argsort(np.array(order, np.int64))]
        return back

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        counts = np.minimum(self.count_tokens(texts), self.max_tokens or 1 << 30)
        yield from batches_of(counts.tolist())

    def _arguments(self, prompt: Prompt, task: str, n: int) -> dict[str, Any]:
        """Return the arguments of `encode` that every batch has."""
        return {
            "prompt": prompt.text,
            "task": task,
            "batch_size": n,
            "show_progress_bar": False,
        }
