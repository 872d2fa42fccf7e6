"""Late interaction: ColBERT and its kin, through sentence-transformers' MultiVectorEncoder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from argus.data.types import FloatArray
from argus.encoders.library import LibraryEncoder
from argus.encoders.prompts import Prompt
from argus.encoders.rows import Family, TokenRows

MEAN = "meanmaxsim"
"""MaxSim over the number of the query's tokens: no rank differs, scores do."""


class LateEncoder(LibraryEncoder[TokenRows]):
    """A vector per token, compared by MaxSim.

    The tokens are those that the model scores: with the expansion of a query, without what it skips
    in documents. Where it ranks by the mean, query vectors are divided by their number.
    """

    family: Family = "tokens"

    @property
    def similarity(self) -> str:
        """See `LibraryEncoder`."""
        return str(self.model.similarity_fn_name)

    def query_tokens(self, text: str) -> list[str]:
        """Return the tokens behind the vectors of a query, in their order."""
        return self._tokens(text, self.prompts.query, "query")

    def document_tokens(self, text: str) -> list[str]:
        """Return the tokens behind the vectors of a document, in their order."""
        return self._tokens(text, self.prompts.document, "document")

    def _tokens(self, text: str, prompt: Prompt, task: str) -> list[str]:
        arguments = self._arguments(prompt, task, 1)
        features = self.model.encode([text], output_value=None, **arguments)[0]
        scored = features["attention_mask"].bool().cpu()
        if "input_ids" not in features or len(features["input_ids"]) != len(scored):
            return [f"#{i}" for i in range(int(scored.sum()))]  # pooled: no longer single tokens
        ids = features["input_ids"].cpu()[scored]
        return [str(token) for token in self.model.tokenizer.convert_ids_to_tokens(ids.tolist())]

    @cached_property
    def dim(self) -> int:
        """See `LibraryEncoder`."""
        arguments = self._arguments(Prompt(), "document", 1)
        return int(self.model.encode(["dimension"], convert_to_numpy=True, **arguments)[0].shape[1])

    def _encode(self, texts: Sequence[str], prompt: Prompt, task: str) -> list[FloatArray]:
        arguments = self._arguments(prompt, task, len(texts))
        encoded = self.model.encode(list(texts), convert_to_numpy=True, **arguments)
        mean = task == "query" and self.similarity == MEAN
        return [
            np.asarray(vectors / max(1, len(vectors)) if mean else vectors, np.float32)
            for vectors in encoded
        ]

    def _joined(self, batches: Sequence[list[FloatArray]]) -> TokenRows:
        return TokenRows.of([vectors for batch in batches for vectors in batch], self.dim)
