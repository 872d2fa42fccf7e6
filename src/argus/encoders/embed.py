"""Embed many texts through a store: only what is missing, batch by batch, resumable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import FloatArray, Span
from argus.encoders.protocol import Encoder
from argus.encoders.store import EmbeddingStore
from argus.errors import EncodingError
from argus.progress import progress

BATCH_TEXTS = 256  # what a kill can lose; the encoder cuts it into its own batches


class Role(StrEnum):
    """As what a text is embedded."""

    QUERY = "query"
    DOCUMENT = "document"
    SPAN = "span"


@dataclass(frozen=True, slots=True)
class Item:
    """One text to embed, in one role; `span` is the mention to pool over."""

    text: str
    role: Role
    span: Span | None = None

    @property
    def key(self) -> bytes:
        """Content key: equal items share it, whatever corpus they come from."""
        place = f"{self.span.start}:{self.span.end}" if self.span else ""
        return content_hash(self.role, place, self.text)


@dataclass(frozen=True)
class Embedded:
    """The vectors of a list of items. Items that failed have a reason and no vector."""

    vectors: FloatArray
    """Shape (n_ok, dim), unit rows, in the order of the items that were embedded."""
    ok: np.ndarray
    """Bool, shape (n_items,)."""
    failures: dict[int, str]
    """Item position to why it could not be embedded."""


def queries(texts: Sequence[str]) -> list[Item]:
    """Wrap texts as queries."""
    return [Item(text, Role.QUERY) for text in texts]


def documents(texts: Sequence[str]) -> list[Item]:
    """Wrap texts as documents."""
    return [Item(text, Role.DOCUMENT) for text in texts]


def embed(
    items: Sequence[Item], encoder: Encoder, store: EmbeddingStore, *, what: str = "texts"
) -> Embedded:
    """Embed `items`, reading from `store` what it has and adding what it lacks.

    An item that the encoder rejects, or whose vector is not finite, is reported in `failures`;
    an encoder that fails for every item of a first batch raises its EncodingError instead.
    """
    keys = [item.key for item in items]
    missing = {key: item for key, item in zip(keys, items, strict=True) if key not in store}
    failed: dict[bytes, str] = {}
    total = len(set(keys))
    with progress(f"embedding {what}", total, done=total - len(missing)) as advance:
        for batch in _batches(missing):
            vectors, reasons = _encode(encoder, [item for _, item in batch])
            good = [i for i in range(len(batch)) if i not in reasons]
            if not good and not len(store):
                raise EncodingError(next(iter(reasons.values())), retryable=False)
            store.append([batch[i][0] for i in good], vectors)
            failed.update({batch[i][0]: reason for i, reason in reasons.items()})
            advance(len(batch))
    failures = {i: failed[key] for i, key in enumerate(keys) if key in failed}
    ok = np.array([key not in failed for key in keys], bool)
    return Embedded(
        store.gather([k for k, good in zip(keys, ok, strict=True) if good]), ok, failures
    )


def _batches(missing: dict[bytes, Item]) -> Iterator[list[tuple[bytes, Item]]]:
    """Cut into batches of one role and similar length; all spans of one text come together."""
    order = sorted(missing.items(), key=lambda kv: (kv[1].role, len(kv[1].text), kv[1].text))
    batch: list[tuple[bytes, Item]] = []
    texts: set[str] = set()
    for key, item in order:
        full = len(texts) == BATCH_TEXTS and item.text not in texts
        if batch and (full or item.role != batch[0][1].role):
            yield batch
            batch, texts = [], set()
        batch.append((key, item))
        texts.add(item.text)
    if batch:
        yield batch


def _encode(encoder: Encoder, items: Sequence[Item]) -> tuple[FloatArray, dict[int, str]]:
    """Encode one batch; halve it on a rejection until the items at fault stand alone."""
    try:
        vectors = _call(encoder, items)
    except EncodingError as error:
        if error.retryable:  # the encoder itself is in trouble: no item is at fault
            raise
        if len(items) == 1:
            return np.zeros((0, encoder.dim), np.float32), {0: str(error)}
        half = len(items) // 2
        left, left_failures = _encode(encoder, items[:half])
        right, right_failures = _encode(encoder, items[half:])
        moved = {i + half: reason for i, reason in right_failures.items()}
        return np.concatenate([left, right]), left_failures | moved
    norms = np.linalg.norm(vectors, axis=1)
    good = np.isfinite(norms) & (norms > 0)
    reasons = {
        int(i): "the encoder returned a vector that is zero or not finite"
        for i in np.flatnonzero(~good)
    }
    return (vectors[good] / norms[good, None]).astype(np.float32), reasons


def _call(encoder: Encoder, items: Sequence[Item]) -> FloatArray:
    texts = [item.text for item in items]
    match items[0].role:
        case Role.QUERY:
            return encoder.encode_queries(texts)
        case Role.DOCUMENT:
            return encoder.encode_documents(texts)
        case Role.SPAN:
            return encoder.encode_spans(texts, [item.span for item in items if item.span])
