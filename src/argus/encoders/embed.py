"""Embed many texts through a store: only missing ones, batch by batch, here or on an engine.

`on_engine` returns an encoder whose batches are embedded by the workers of an engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Generic, cast

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Span
from argus.encoders.config import COSINE, EncoderConfig
from argus.encoders.protocol import (
    Encoder,
    R,
    concatenate,
    empty_rows,
    family_of,
    pools_spans,
    similarity_of,
    unit_rows,
    usable,
)
from argus.encoders.store import Store
from argus.engine import Engine, Work
from argus.errors import ArgusError, EncodingError, EndpointRefusal
from argus.progress import progress

# Texts that a kill can lose. The encoder cuts them into its own batches.
BATCH_TEXTS = 256


class Role(StrEnum):
    """Role in which a text is embedded."""

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


# Items of one role, of similar length.
Batch = Sequence[Item]


@dataclass(frozen=True)
class Encoded(Generic[R]):
    """The result of encoding a batch.

    vectors: n_ok rows, in the order of the embedded items, as the encoder compares them.
    failures: position in the batch to the reason.
    """

    vectors: R
    failures: dict[int, str]


@dataclass(frozen=True)
class Embedded(Generic[R]):
    """The vectors of a list of items. Items that failed have a reason and no vector.

    vectors: n_ok rows, in the order of the items that were embedded; (n_ok, dim) unless sparse or
    of tokens. ok: bool, shape (n_items,). failures: item position to the reason. keys: in the
    store, of each item that was embedded.
    """

    vectors: R
    ok: np.ndarray
    failures: dict[int, str]
    keys: Sequence[bytes] = ()


def queries(texts: Sequence[str]) -> list[Item]:
    """Wrap texts as queries."""
    return [Item(text, Role.QUERY) for text in texts]


def documents(texts: Sequence[str]) -> list[Item]:
    """Wrap texts as documents."""
    return [Item(text, Role.DOCUMENT) for text in texts]


def embed(
    items: Sequence[Item], encoder: Encoder[R], store: Store[R], *, what: str = "texts"
) -> Embedded[R]:
    """Embed `items`, reading stored vectors from `store` and adding the others.

    An item that the encoder rejects, or whose vector is not finite, is reported in `failures`.
    An encoder that fails for every item of a first batch raises its EncodingError instead, and an
    endpoint that refuses all texts alike an EndpointRefusal whenever it does. Vectors are stored as
    they come, which with `SpreadEncoder` is in any order.
    """
    keys = [item.key for item in items]
    failed = {key: store.failures[key] for key in keys if key in store.failures}
    pairs = zip(keys, items, strict=True)
    missing = {key: item for key, item in pairs if key not in store and key not in failed}
    total, is_new, batches = len(set(keys)), not len(store), _batches(missing)
    of_items = ([item for _, item in batch] for batch in batches)
    if isinstance(encoder, SpreadEncoder) and batches:  # or workers would load a model for nothing
        results = encoder.engine.run(encoder.work, of_items)
    else:
        results = enumerate(encode_batch(encoder, batch) for batch in of_items)
    with progress(f"embedding {what}", total, done=total - len(missing)) as advance:
        for number, done in results:
            batch = batches[number]
            good = [key for i, (key, _) in enumerate(batch) if i not in done.failures]
            if not good and is_new and number == 0:
                raise EncodingError(
                    f"none of {len(batch):,} texts could be embedded; the first, "
                    f"{batch[0][1].text[:60]!r}: {done.failures[0]}. Check the model and what "
                    "serves it, then run the same command again.",
                    retryable=False,
                )
            store.append(good, done.vectors)
            failed.update({batch[i][0]: reason for i, reason in done.failures.items()})
            advance(len(batch))
    failures = {i: failed[key] for i, key in enumerate(keys) if key in failed}
    ok = np.array([key not in failed for key in keys], bool)
    stored = [key for key in keys if key not in failed]
    del keys, missing, batches  # of millions, before their vectors come
    return Embedded(store.gather(stored), ok, failures, stored)


def _batches(missing: Mapping[bytes, Item]) -> list[list[tuple[bytes, Item]]]:
    """Cut into batches of one role and similar length. All spans of one text come together."""
    batches: list[list[tuple[bytes, Item]]] = []
    texts: set[str] = set()
    for key, item in sorted(
        missing.items(), key=lambda kv: (kv[1].role, len(kv[1].text), kv[1].text)
    ):
        is_full = len(texts) == BATCH_TEXTS and item.text not in texts
        if not batches or is_full or item.role != batches[-1][0][1].role:
            batches.append([])
            texts = set()
        batches[-1].append((key, item))
        texts.add(item.text)
    return batches


def encode_batch(encoder: Encoder[R], items: Batch) -> Encoded[R]:
    """Encode one batch. Halve it on a rejection until the items at fault are found."""
    texts = [item.text for item in items]
    rows: Any
    try:
        if items[0].role is Role.QUERY:
            rows = encoder.encode_queries(texts)
        elif items[0].role is Role.DOCUMENT:
            rows = encoder.encode_documents(texts)
        elif pools_spans(encoder):
            spans = [item.span for item in items if item.span]
            rows = cast(Any, encoder).encode_spans(texts, spans)
        else:  # a mention has the vector of its text
            place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
            rows = encoder.encode_documents(list(place))[np.array([place[text] for text in texts])]
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
    reason = "the encoder returned a vector that is zero or not finite"
    rows = rows[good]
    if isinstance(rows, np.ndarray) and similarity_of(encoder) == COSINE:
        rows = unit_rows(rows)
    return Encoded(rows, {int(i): reason for i in np.flatnonzero(~good)})


def begin_encoding(
    source: tuple[Encoder[Any] | EncoderConfig, str],
) -> Callable[[Batch], Encoded[Any]]:
    """Load the encoder in a worker. Raises ArgusError if it is not the one of the driver.

    source: the encoder, or the config that loads it, and the fingerprint of the driver's.
    """
    encoder, fingerprint = source
    if isinstance(encoder, EncoderConfig):
        from argus.encoders.load import load_any_encoder

        encoder = load_any_encoder(encoder)
    if encoder.fingerprint != fingerprint:
        raise ArgusError(
            "A worker has another encoder than the one that runs the job; two encoders are never "
            f"mixed.\n  here:   {fingerprint}\n  worker: {encoder.fingerprint}\n"
            "Put the same model in the same place on every machine."
        )
    return partial(encode_batch, encoder)


class SpreadEncoder(Generic[R]):
    """An `Encoder` that has batches embedded on an engine, and answers single calls itself.

    config: loaded by workers. Without it they are sent the encoder itself. Vectors are those of the
    encoder: to the last bit if workers have as many threads, within 1e-6 in float32 otherwise.
    """

    def __init__(
        self, encoder: Encoder[R], engine: Engine, config: EncoderConfig | None = None
    ) -> None:
        self.encoder, self.engine = encoder, engine
        source: Encoder[R] | EncoderConfig = encoder
        if config is not None:  # for a process with another working directory
            is_place = config.is_python or Path(config.model).is_dir()
            place = os.path.abspath(config.model) if is_place else config.model  # noqa: PTH100
            source = replace(config, model=place)
        # The encoder uses all cores itself; an endpoint gets as many requests as its settings say.
        self.work: Work[Any, Batch, Encoded[R]] = Work(
            setup=begin_encoding,
            shared=(source, encoder.fingerprint),
            what="embedding",
            threaded=True,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)


def on_engine(
    encoder: Encoder[R], engine: Engine | None, config: EncoderConfig | None = None
) -> Encoder[R]:
    """Return the encoder, its batches embedded on `engine` if there is one.

    config: loads the same encoder again, precision included. None sends workers the encoder itself.
    The local engine leaves work that uses all cores to this process, whose encoder is loaded.
    """
    if engine is None or engine.name == "local":
        return encoder
    return cast(Encoder[R], SpreadEncoder(encoder, engine, config))
