"""Embed many texts through a store: only what is missing, batch by batch, resumable."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, cast, runtime_checkable

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Span
from argus.encoders.protocol import COSINE, Encoder, similarity_of
from argus.encoders.rows import R, concatenate, empty_rows, family_of, usable
from argus.encoders.store import Store
from argus.errors import EncodingError, EndpointRefusal
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


Batch = Sequence[Item]
"""Items of one role, of similar length."""


@dataclass(frozen=True)
class Encoded(Generic[R]):
    """What an encoder made of a batch."""

    vectors: R
    """Of n_ok rows, in the order of the items that were embedded; as the encoder compares them."""
    failures: dict[int, str]
    """Position in the batch to why it could not be embedded."""


@runtime_checkable
class EncodesBatches(Protocol):
    """An encoder that has batches embedded elsewhere (see `argus.encoders.spread`)."""

    def encode_batches(self, batches: Iterable[Batch]) -> Iterator[tuple[int, Encoded[Any]]]:
        """Yield (number of the batch, what `encode_batch` made of it) as they are done."""


@dataclass(frozen=True)
class Embedded(Generic[R]):
    """The vectors of a list of items. Items that failed have a reason and no vector."""

    vectors: R
    """Of n_ok rows, in the order of the items that were embedded; (n_ok, dim) unless sparse or of
    tokens."""
    ok: np.ndarray
    """Bool, shape (n_items,)."""
    failures: dict[int, str]
    """Item position to why it could not be embedded."""
    keys: Sequence[bytes] = ()
    """Key in the store of each item that was embedded."""


def queries(texts: Sequence[str]) -> list[Item]:
    """Wrap texts as queries."""
    return [Item(text, Role.QUERY) for text in texts]


def documents(texts: Sequence[str]) -> list[Item]:
    """Wrap texts as documents."""
    return [Item(text, Role.DOCUMENT) for text in texts]


def embed(
    items: Sequence[Item], encoder: Encoder[R], store: Store[R], *, what: str = "texts"
) -> Embedded[R]:
    """Embed `items`, reading from `store` what it has and adding what it lacks.

    An item that the encoder rejects, or whose vector is not finite, is reported in `failures`;
    an encoder that fails for every item of a first batch raises its EncodingError instead, and an
    endpoint that refuses all texts alike an EndpointRefusal whenever it does. Vectors are stored as
    they come, which with `EncodesBatches` is in any order; damaged ones are embedded again, with a
    warning. Very many of them are gathered on the disk (see `EmbeddingStore.gather`).
    """
    keys = [item.key for item in items]
    _forget_broken(store, keys, encoder)
    failed = {key: why for key in keys if (why := store.failure(key)) is not None}
    missing = {
        key: item
        for key, item in zip(keys, items, strict=True)
        if key not in store and key not in failed
    }
    total = len(set(keys))
    with progress(f"embedding {what}", total, done=total - len(missing)) as advance:
        is_new = not len(store)
        for number, batch, done in _encoded(encoder, missing):
            good = [key for i, (key, _) in enumerate(batch) if i not in done.failures]
            if not good and is_new and number == 0:
                raise _none_of(batch, done.failures)
            store.append(good, done.vectors)
            failed.update({batch[i][0]: reason for i, reason in done.failures.items()})
            advance(len(batch))
    failures = {i: failed[key] for i, key in enumerate(keys) if key in failed}
    ok = np.array([key not in failed for key in keys], bool)
    stored = [key for key in keys if key not in failed]
    del keys, missing  # of millions, before their vectors come
    return Embedded(store.gather(stored), ok, failures, stored)


def _none_of(batch: Sequence[tuple[bytes, Item]], failures: Mapping[int, str]) -> EncodingError:
    """Return an error about a batch none of whose texts has a vector."""
    (_, item), why = batch[0], failures[0]
    return EncodingError(
        f"none of {len(batch):,} texts could be embedded; the first, {item.text[:60]!r}: {why}. "
        "Check the model and what serves it, then run the same command again.",
        retryable=False,
    )


def _forget_broken(store: Store[R], keys: Sequence[bytes], encoder: Encoder[R]) -> None:
    """Have rows that were damaged on the disk embedded again; the log says how many."""
    broken = store.forget_broken(keys, unit=similarity_of(encoder) == COSINE)
    if broken:
        logging.getLogger("argus").warning(
            f"argus: {store.path}: {broken:,} of the stored vectors are damaged (zeros, no "
            "numbers, or not of the length that was written); they are embedded again"
        )


def _encoded(
    encoder: Encoder[R], missing: dict[bytes, Item]
) -> Iterator[tuple[int, list[tuple[bytes, Item]], Encoded[R]]]:
    """Yield number, keys and items of each batch, and what became of it."""
    batches = enumerate(_batches(missing))
    if not isinstance(encoder, EncodesBatches):
        for number, batch in batches:
            yield number, batch, encode_batch(encoder, [item for _, item in batch])
        return
    under_way: dict[int, list[tuple[bytes, Item]]] = {}

    def feed() -> Iterator[Batch]:
        for number, batch in batches:
            under_way[number] = batch
            yield [item for _, item in batch]

    if missing:  # or workers would load a model for nothing
        for number, done in encoder.encode_batches(feed()):
            yield number, under_way.pop(number), done


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


def encode_batch(encoder: Encoder[R], items: Batch) -> Encoded[R]:
    """Encode one batch; halve it on a rejection until the items at fault stand alone."""
    try:
        rows = _call(encoder, items)
    except EndpointRefusal:
        raise
    except EncodingError as error:
        if error.retryable:  # the encoder itself is in trouble: no item is at fault
            raise
        if len(items) == 1:
            none = cast(R, empty_rows(family_of(encoder), encoder.dim))
            return Encoded(none, {0: str(error)})
        half = len(items) // 2
        left, right = encode_batch(encoder, items[:half]), encode_batch(encoder, items[half:])
        moved = {i + half: reason for i, reason in right.failures.items()}
        return Encoded(concatenate([left.vectors, right.vectors]), left.failures | moved)
    good = usable(rows)
    reasons = {
        int(i): "the encoder returned a vector that is zero or not finite"
        for i in np.flatnonzero(~good)
    }
    return Encoded(_scaled(encoder, rows[good]), reasons)


def _scaled(encoder: Encoder[R], rows: Any) -> R:
    """Return rows of length 1 where these are what the encoder compares."""
    if isinstance(rows, np.ndarray) and similarity_of(encoder) == COSINE:
        rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    return cast(R, rows)


def _call(encoder: Encoder[R], items: Batch) -> R:
    texts = [item.text for item in items]
    match items[0].role:
        case Role.QUERY:
            return encoder.encode_queries(texts)
        case Role.DOCUMENT:
            return encoder.encode_documents(texts)
        case Role.SPAN:
            return encoder.encode_spans(texts, [item.span for item in items if item.span])
