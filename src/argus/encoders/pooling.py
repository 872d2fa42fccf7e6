"""Another pooling of a model's token vectors than the one it was saved with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from argus.errors import InputError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TokenPooling = Literal["cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean"]
"""As sentence-transformers calls them."""


def set_pooling(model: SentenceTransformer, mode: TokenPooling, name: str) -> None:
    """Pool a loaded model's token vectors so. Raises InputError for a model that pools none."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    position = next((i for i, part in enumerate(model.children()) if isinstance(part, Pooling)), -1)
    if position < 0:
        raise InputError(
            f"--encoder-pooling {mode} for {name!r}, which makes its vectors itself",
            expected="a model with a module that pools token vectors",
            fix="Leave --encoder-pooling out.",
            where="--encoder-pooling",
        )
    own = model[position]
    assert isinstance(own, Pooling)
    model[position] = Pooling(own.embedding_dimension, mode, include_prompt=own.include_prompt)
