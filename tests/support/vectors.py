"""Vectors of texts that several commands of a test embed: made once, by the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from argus.encoders.sentence_transformer import SentenceTransformerEncoder

KEPT: dict[tuple[str, ...], Any] = {}
"""Model and weights, precision, pooling, prompt and text: its vector."""


def make_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a text embedded only the first time; audits, which pool spans, are not concerned."""
    embed = SentenceTransformerEncoder._sentences

    def sentences(self: Any, texts: Sequence[str], prompt: Any, task: str) -> Any:
        of = (self.name, self._revision, self.precision, self._pooling_name(), prompt.text)
        keys = [(*of, text) for text in texts]
        new = list(dict.fromkeys(key for key in keys if key not in KEPT))
        if new:
            vectors = embed(self, [key[-1] for key in new], prompt, task)
            KEPT.update(zip(new, vectors, strict=True))
        return np.stack([KEPT[key] for key in keys]) if keys else embed(self, texts, prompt, task)

    monkeypatch.setattr(SentenceTransformerEncoder, "_sentences", sentences)


def fill_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the library's own model, which fills the stores of examples, embed a text once."""
    from sentence_transformers import SentenceTransformer

    embed = SentenceTransformer.encode

    def encode(self: Any, texts: Sequence[str], **options: Any) -> Any:
        model = str(self.tokenizer.name_or_path)
        keys = [("the library's", model, str(options), text) for text in texts]
        new = list(dict.fromkeys(key for key in keys if key not in KEPT))
        if new:
            vectors = embed(self, [key[-1] for key in new], **options)
            KEPT.update(zip(new, vectors, strict=True))
        return np.stack([KEPT[key] for key in keys])

    monkeypatch.setattr(SentenceTransformer, "encode", encode)
