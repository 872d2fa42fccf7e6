"""Other ways in which a document's vector may have been made: prompt, pooling, text, window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argus.data.types import FloatArray
from argus.encoders import Encoder
from argus.encoders.protocol import directions, unit_rows
from argus.encoders.sentence_transformer import SentenceTransformerEncoder

if TYPE_CHECKING:
    import torch

CUTS = (512, 256, 128)
"""Tokens, and characters, at which texts are often cut."""
LONGEST_TITLE = 12
"""Words at the beginning that may have been a title."""
POOLINGS = ("mean", "cls", "max", "lasttoken")
PROMPTS = {"query: ": "the prompt 'query: '", "passage: ": "the prompt 'passage: '"}
"""Of the E5 family; tried where the model has none of its own."""


@dataclass(frozen=True)
class Variant:
    """One way to make the vector: the changes against the index's encoder, none for its own way."""

    changes: tuple[str, ...]
    vector: FloatArray
    """Shape (dim,), unit."""


def variants(encoder: Encoder, text: str, title: str | None) -> Iterator[Variant]:
    """Yield the vectors of one document as it may have been embedded, the encoder's own way first.

    title: where it is known; else every beginning of up to 12 words is tried as one. Prompts and
    poolings can be varied for sentence-transformers models only.
    """
    texts = dict(_texts(text, title))
    if isinstance(encoder, SentenceTransformerEncoder):
        yield from _of_sentence_transformer(encoder, texts)
        return
    rows = directions(encoder, encoder.encode_documents(list(texts.values())))
    for change, vector in zip(texts, rows, strict=True):
        yield Variant((change,) if change else (), vector)
    yield Variant(("embedded as a query",), directions(encoder, encoder.encode_queries([text]))[0])


def _texts(text: str, title: str | None) -> Iterator[tuple[str, str]]:
    yield "", text
    if text.lower() != text:
        yield "text lower-cased", text.lower()
    if title:
        if (rest := text.removeprefix(title).strip()) and rest != text:
            yield f"title {title!r} left out", rest
    else:
        parts = text.split()
        for n in range(1, min(LONGEST_TITLE, len(parts) - 1) + 1):
            yield f"title left out (the first {n} words)", " ".join(parts[n:])
    for n in CUTS:
        if len(text) > n:
            yield f"text cut to {n} characters", text[:n]


def _of_sentence_transformer(
    encoder: SentenceTransformerEncoder, texts: dict[str, str]
) -> Iterator[Variant]:
    for prompt, prompting in _prompts(encoder).items():
        for window, cut in _windows(encoder, texts[""]).items():
            changes = texts if not cut else {"": texts[""]}
            with _reading(encoder, window):
                for change, text in changes.items():
                    for pooling, vector in _poolings(encoder, text, prompt):
                        every = (prompting, change, cut, pooling)
                        yield Variant(tuple(c for c in every if c), vector)


def _prompts(encoder: SentenceTransformerEncoder) -> dict[str, str]:
    """Return prompt -> what using it changes, "" for the model's own document prompt."""
    own = document_prompt(encoder)
    changes = {own: ""}
    if own:
        changes[""] = f"the document prompt {own!r} left out"
    for name, prompt in (encoder.model.prompts or {}).items():
        if prompt:
            changes.setdefault(prompt, f"the {name} prompt {prompt!r} used")
    if len(changes) == 1:
        changes |= {prompt: f"{name} used" for prompt, name in PROMPTS.items()}
    return changes


def document_prompt(encoder: SentenceTransformerEncoder) -> str:
    """Return what the encoder puts in front of documents, as its fingerprint says."""
    return encoder.prompts.document.text


def _windows(encoder: SentenceTransformerEncoder, text: str) -> dict[int | None, str]:
    """Return window in tokens -> what it changes, for windows that read more or less of `text`."""
    own = encoder.max_tokens
    tokens = int(encoder.count_tokens([text])[0])
    reads = min(tokens, own or tokens)
    longest = _positions(encoder) or own or tokens
    changes: dict[int | None, str] = {own: ""}
    for n in CUTS:
        if n <= longest and min(n, tokens) != reads:
            changes[n] = f"text cut to {n} tokens"
    return changes


def _positions(encoder: SentenceTransformerEncoder) -> int | None:
    module = next(iter(encoder.model.children()), None)
    config = getattr(getattr(module, "auto_model", None), "config", None)
    longest = getattr(config, "max_position_embeddings", None)
    return int(longest) if longest else None


@contextmanager
def _reading(encoder: SentenceTransformerEncoder, window: int | None) -> Iterator[None]:
    """Read texts up to another length for a while."""
    before = encoder.model.max_seq_length
    encoder.model.max_seq_length = window
    try:
        yield
    finally:
        encoder.model.max_seq_length = before


def _poolings(
    encoder: SentenceTransformerEncoder, text: str, prompt: str
) -> Iterator[tuple[str, FloatArray]]:
    """Yield what another pooling changes and its vector, the model's own first, from one pass."""
    import torch

    model = encoder.model
    modules = list(model.children())
    inputs = model.preprocess([text], prompt=prompt or None, task="document")
    features = {
        name: value.to(model.device) if isinstance(value, torch.Tensor) else value
        for name, value in inputs.items()
    }
    routed = any(type(module).__name__ == "Router" for module in modules)
    with torch.inference_mode():
        out = model(features, task="document") if routed else model(features)
        yield "", _unit(out["sentence_embedding"][:, : encoder.dim])
        at = next((i for i, m in enumerate(modules) if type(m).__name__ == "Pooling"), None)
        if at is None or "token_embeddings" not in out:
            return
        own = str(getattr(modules[at], "pooling_mode", ""))
        for pooling, pooled in _pooled(out["token_embeddings"], out["attention_mask"]).items():
            if pooling != own:
                outputs = {"sentence_embedding": pooled}
                for module in modules[at + 1 :]:
                    outputs = module(outputs)
                yield f"{pooling} pooling", _unit(outputs["sentence_embedding"][:, : encoder.dim])


def _pooled(tokens: torch.Tensor, mask: torch.Tensor) -> dict[str, torch.Tensor]:
    """Pool one text's token vectors (1, n_tokens, hidden) in every way."""
    read = tokens[:, mask[0].bool()]  # (1, n_read, hidden)
    ways = (read.mean(dim=1), read[:, 0], read.max(dim=1).values, read[:, -1])
    return dict(zip(POOLINGS, ways, strict=True))


def _unit(embedding: torch.Tensor) -> FloatArray:
    rows = unit_rows(np.asarray(embedding.float().cpu().numpy(), np.float32))
    vector: FloatArray = rows[0]
    return vector


def closest(variants: Sequence[Variant], stored: FloatArray, slack: float) -> tuple[Variant, float]:
    """Return the variant nearest to the stored vector and its cosine.

    Of those within `slack` of the best cosine, the one with the fewest changes, in order.
    """
    cosines = [float(v.vector @ stored) for v in variants]
    near = [i for i, cosine in enumerate(cosines) if cosine >= max(cosines) - slack]
    best = min(near, key=lambda i: (len(variants[i].changes), i))
    return variants[best], cosines[best]
