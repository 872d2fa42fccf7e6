"""Embed a text in other ways: with another prompt, pooling, window, or without its title."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.data.types import FloatArray
from argus.encoders import Encoder
from argus.encoders.protocol import directions, unit_rows
from argus.encoders.sentence_transformer import SentenceTransformerEncoder

if TYPE_CHECKING:
    import torch

CUTS = (512, 256, 128)
"""Tokens, and characters, at which texts are often cut."""
MAX_TITLE = 12
"""Words at the beginning that may have been a title."""
SLACK = 0.0005
"""Difference in cosine below which the variant with fewer changes is preferred."""
PROMPTS = {"query: ": "the prompt 'query: ' used", "passage: ": "the prompt 'passage: ' used"}
"""Of the E5 family. Tried where the model has no prompt of its own."""


def closest_variant(
    encoder: Encoder, text: str, title: str | None, stored: FloatArray
) -> tuple[list[str], float]:
    """Return the changes that bring the vector of a text closest to a stored one, and its cosine.

    The list is empty for the encoder's own way. title: None tries each beginning of up to 12 words
    as one. Only sentence-transformers models vary in prompt and pooling.
    """
    tried = list(_variants(encoder, text, title))
    cosines = [float(vector @ stored) for _, vector in tried]
    near = [i for i, cosine in enumerate(cosines) if cosine >= max(cosines) - SLACK]
    best = min(near, key=lambda i: (len(tried[i][0]), i))
    return tried[best][0], cosines[best]


def _variants(
    encoder: Encoder, text: str, title: str | None
) -> Iterator[tuple[list[str], FloatArray]]:
    """Yield changes and the unit vector that they make, the encoder's own way first."""
    texts = dict(_texts(text, title))
    if not isinstance(encoder, SentenceTransformerEncoder):
        rows = directions(encoder, encoder.encode_documents(list(texts.values())))
        for change, vector in zip(texts, rows, strict=True):
            yield [change] if change else [], vector
        yield ["embedded as a query"], directions(encoder, encoder.encode_queries([text]))[0]
        return
    before = encoder.model.max_seq_length
    try:
        for prompt, prompting in _prompts(encoder).items():
            for window, cut in _windows(encoder, text).items():
                encoder.model.max_seq_length = window
                for change, other in ({"": text} if cut else texts).items():
                    for pooling, vector in _poolings(encoder, other, prompt):
                        yield [c for c in (prompting, change, cut, pooling) if c], vector
    finally:
        encoder.model.max_seq_length = before


def _texts(text: str, title: str | None) -> Iterator[tuple[str, str]]:
    yield "", text
    if text.lower() != text:
        yield "text lower-cased", text.lower()
    if title:
        if (rest := text.removeprefix(title).strip()) and rest != text:
            yield f"title {title!r} left out", rest
    else:
        parts = text.split()
        for n in range(1, min(MAX_TITLE, len(parts) - 1) + 1):
            yield f"title left out (the first {n} words)", " ".join(parts[n:])
    for n in CUTS:
        if len(text) > n:
            yield f"text cut to {n} characters", text[:n]


def _prompts(encoder: SentenceTransformerEncoder) -> dict[str, str]:
    """Return prompts and the change that each makes, "" for the model's own document prompt."""
    own = encoder.prompts.document.text
    changes = {own: ""}
    if own:
        changes[""] = f"the document prompt {own!r} left out"
    for name, prompt in (encoder.model.prompts or {}).items():
        if prompt:
            changes.setdefault(prompt, f"the {name} prompt {prompt!r} used")
    return changes if len(changes) > 1 else changes | PROMPTS


def _windows(encoder: SentenceTransformerEncoder, text: str) -> dict[int | None, str]:
    """Return windows in tokens that read more or less of a text, and the change of each."""
    own = encoder.max_tokens
    tokens = int(encoder.count_tokens([text])[0])
    module = next(iter(encoder.model.children()), None)
    config = getattr(getattr(module, "auto_model", None), "config", None)
    longest = getattr(config, "max_position_embeddings", None) or own or tokens
    cuts = (n for n in CUTS if n <= longest and min(n, tokens) != min(tokens, own or tokens))
    return {own: "", **{n: f"text cut to {n} tokens" for n in cuts}}


def _poolings(
    encoder: SentenceTransformerEncoder, text: str, prompt: str
) -> Iterator[tuple[str, FloatArray]]:
    """Yield poolings and their vectors from one forward pass, "" for the model's own."""
    import torch

    def unit(embedding: torch.Tensor) -> FloatArray:
        vector = embedding[:, : encoder.dim].float().cpu().numpy()
        return unit_rows(np.asarray(vector, np.float32))[0]

    model = encoder.model
    modules: list[Any] = list(model.children())
    features = {
        name: value.to(model.device) if isinstance(value, torch.Tensor) else value
        for name, value in model.preprocess([text], prompt=prompt or None, task="document").items()
    }
    names = [type(module).__name__ for module in modules]
    with torch.inference_mode():
        out = model(features, task="document") if "Router" in names else model(features)
        yield "", unit(out["sentence_embedding"])
        if "Pooling" not in names or "token_embeddings" not in out:
            return
        at = names.index("Pooling")
        tokens = out["token_embeddings"][:, out["attention_mask"][0].bool()]  # (1, n_read, hidden)
        pooled = {
            "mean": tokens.mean(dim=1),
            "cls": tokens[:, 0],
            "max": tokens.max(dim=1).values,
            "lasttoken": tokens[:, -1],
        }
        pooled.pop(str(getattr(modules[at], "pooling_mode", "")), None)
        for pooling, vector in pooled.items():
            outputs = {"sentence_embedding": vector}
            for module in modules[at + 1 :]:
                outputs = module(outputs)
            yield f"{pooling} pooling", unit(outputs["sentence_embedding"])
