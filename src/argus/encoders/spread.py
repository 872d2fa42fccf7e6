"""An encoder whose batches are embedded by the workers of an engine."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol

from argus.data.types import IntArray, Span
from argus.encoders.config import EncoderConfig
from argus.encoders.embed import Batch, Encoded, encode_batch
from argus.encoders.load import load_any_encoder, to_send
from argus.encoders.protocol import Encoder, TokenCounter, similarity_of
from argus.encoders.rows import Family, R, family_of
from argus.engine import Engine, Work
from argus.errors import ArgusError, InputError


@dataclass(frozen=True)
class Encoding:
    """What a worker embeds with: an encoder, or what loads it, and the fingerprint to be had."""

    encoder: Encoder[Any] | EncoderConfig
    fingerprint: str


def begin_encoding(encoding: Encoding) -> Callable[[Batch], Encoded[Any]]:
    """Load the encoder in a worker. Raises ArgusError where it is not the one of the driver."""
    source = encoding.encoder
    encoder = load_any_encoder(source).encoder if isinstance(source, EncoderConfig) else source
    if encoder.fingerprint != encoding.fingerprint:
        raise ArgusError(
            "A worker has another encoder than the one that runs the job; two encoders are never "
            f"mixed.\n  here:   {encoding.fingerprint}\n  worker: {encoder.fingerprint}\n"
            "Put the same model in the same place on every machine."
        )
    return partial(encode_batch, encoder)


class SpreadEncoder(Generic[R]):
    """An `Encoder` that has batches embedded on an engine, and answers single calls itself.

    config: what workers load; without it they are sent the encoder itself. Raises InputError for
    one that cannot be pickled. Vectors are those of the encoder: to the last bit where workers have
    as many threads, within 1e-6 in float32 otherwise.
    """

    def __init__(
        self, encoder: Encoder[R], engine: Engine, config: EncoderConfig | None = None
    ) -> None:
        if config is None:
            _check_portable(encoder)
        self.encoder, self.engine = encoder, engine
        source = encoder if config is None else to_send(config)
        shared = Encoding(source, encoder.fingerprint)
        # The encoder uses all cores itself; an endpoint is pressed as hard as its settings say.
        self._work: Work[Encoding, Batch, Encoded[R]] = Work(
            setup=begin_encoding, shared=shared, what="embedding", threaded=True
        )

    @property
    def fingerprint(self) -> str:
        """That of the encoder: where it runs changes no vector."""
        return self.encoder.fingerprint

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.encoder.dim

    @property
    def pools_spans(self) -> bool:
        """As the encoder says."""
        return getattr(self.encoder, "pools_spans", True)

    @property
    def similarity(self) -> str:
        """As the encoder says."""
        return similarity_of(self.encoder)

    @property
    def family(self) -> Family:
        """As the encoder says."""
        return family_of(self.encoder)

    def encode_queries(self, texts: Sequence[str]) -> R:
        """Return n rows."""
        return self.encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> R:
        """Return n rows."""
        return self.encoder.encode_documents(texts)

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> R:
        """Return n rows."""
        return self.encoder.encode_spans(texts, spans)

    def encode_batches(self, batches: Iterable[Batch]) -> Iterator[tuple[int, Encoded[R]]]:
        """Yield (number of the batch, what `encode_batch` made of it) as workers are done."""
        yield from self.engine.run(self._work, batches)


class CountingEncoder(Encoder[Any], TokenCounter, Protocol):
    """An encoder that knows how much of a text it reads."""


class CountingSpreadEncoder(SpreadEncoder[R]):
    """A `SpreadEncoder` that knows so, too."""

    encoder: CountingEncoder

    def __init__(
        self, encoder: CountingEncoder, engine: Engine, config: EncoderConfig | None = None
    ) -> None:
        super().__init__(encoder, engine, config)

    @property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, special tokens included; None when unlimited."""
        return self.encoder.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> IntArray:
        """Return (n,) token counts, special tokens included, nothing cut."""
        return self.encoder.count_tokens(texts)


def on_engine(
    encoder: Encoder[R], engine: Engine | None, config: EncoderConfig | None = None
) -> Encoder[R]:
    """Return the encoder, its batches embedded on `engine` if there is one.

    config: loads the same encoder again, precision included; None sends workers the encoder itself.
    The local engine leaves work that uses all cores to this process, whose encoder is loaded.
    """
    if engine is None or engine.name == "local":
        return encoder
    if isinstance(encoder, TokenCounter):
        return CountingSpreadEncoder(encoder, engine, config)
    return SpreadEncoder(encoder, engine, config)


class _Nowhere:
    def write(self, data: object) -> int:
        return memoryview(data).nbytes  # type: ignore[arg-type]


def _check_portable(encoder: Encoder[Any]) -> None:
    try:
        pickle.Pickler(_Nowhere(), protocol=5).dump(encoder)
    except Exception as error:  # whatever its parts raise
        raise InputError(
            f"an encoder that cannot be sent to workers ({type(error).__name__}: {error})",
            expected="an EncoderConfig, or an encoder that can be pickled",
            fix="Say which model to load, or leave the engine out.",
            where="encoder",
        ) from error
