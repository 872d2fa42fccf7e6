"""Encode at any OpenAI-compatible endpoint: OpenAI, vLLM, TEI, Ollama, LiteLLM, ..."""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx
import numpy as np
from anyio.from_thread import BlockingPortal, start_blocking_portal

from argus import http_retry
from argus.data.types import FloatArray
from argus.encoders.config import EncoderConfig
from argus.encoders.protocol import make_fingerprint, unit_rows
from argus.errors import EncodingError, EndpointRefusal
from argus.visible import without_half_pairs

# An answer may have MOST_BYTES for this many texts or fewer: 256 KiB per vector.
TEXTS_PER_BOUND = 64


@dataclass(frozen=True, kw_only=True)
class OpenAIConfig(EncoderConfig):
    """An endpoint, its key, and limits on its requests.

    model: as the endpoint knows it. timeout_s: for the whole of one attempt, even while bytes keep
    coming slowly.
    """

    base_url: str = field(default=EncoderConfig.base_url, repr=False)
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0
    attempts: int = 5
    backoff_s: float = 1.0

    def __post_init__(self) -> None:
        http_retry.check_address(self.base_url)
        http_retry.check_key(self.api_key)
        http_retry.check_one_credential(self.base_url, self.api_key)


class OpenAIEncoder:
    """`POST {base_url}/embeddings`.

    Time-outs, dropped connections and statuses that may pass (`http_retry.RETRIED`) are tried again
    after doubling waits, or when Retry-After says. Raises EncodingError: retryable when they do not
    pass or the answer is none, not retryable when the endpoint rejects the input, EndpointRefusal
    when it would reject any; and InputError where there is no key for OpenAI's own servers.
    """

    def __init__(self, config: OpenAIConfig) -> None:
        self.config = config
        self._service = http_retry.Service(config, "embeddings")
        self._service.check_key_is_set()

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to a worker as settings: a connection cannot."""
        return OpenAIEncoder, (self.config,)

    @cached_property
    def dim(self) -> int:
        """Length of a vector, learnt by embedding one word."""
        return int(self._encode(["dimension"]).shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Model and endpoint. The provider does not identify the weights."""
        config = self.config
        of = {"precision": "provider", "pooling": "provider", "normalize": "l2"}
        prompts = {"query_prompt": config.query_prompt, "document_prompt": config.document_prompt}
        texts = {key: repr(text or "") for key, text in prompts.items()}
        name = f"openai:{config.model}@{http_retry.without_secrets(config.base_url)}"
        return make_fingerprint(name, dim=self.dim, max_tokens=None, **of, **texts)

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._encode([(self.config.query_prompt or "") + text for text in texts])

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._encode([(self.config.document_prompt or "") + text for text in texts])

    @cached_property
    def _connections(self) -> tuple[BlockingPortal, httpx.AsyncClient]:
        """An event loop in a thread of its own, and a client. They end with the encoder.

        The caller may stand in an event loop already (a notebook). One for all calls, because
        connections are worth keeping.
        """
        opened = ExitStack()
        portal = opened.enter_context(start_blocking_portal())
        client = self._service.client(self.config.concurrency)
        opened.enter_context(portal.wrap_async_context_manager(client))
        weakref.finalize(self, opened.close)
        return portal, client

    def _encode(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        portal, client = self._connections
        parts = portal.call(self._all, client, texts)
        known = {self.dim} if "dim" in self.__dict__ else set()
        lengths = sorted(known | {part.shape[1] for part in parts})
        if len(lengths) > 1:
            raise EncodingError(f"{self._service.shown} gave vectors of {lengths} numbers")
        return unit_rows(np.concatenate(parts))

    async def _all(self, client: httpx.AsyncClient, texts: Sequence[str]) -> list[FloatArray]:
        """Embed batches, `concurrency` at a time. The first error cancels the others."""
        gate, size = asyncio.Semaphore(self.config.concurrency), self.config.batch_size

        async def embed(start: int) -> FloatArray:
            async with gate:
                return await self._request(client, texts[start : start + size])

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(embed(start)) for start in range(0, len(texts), size)]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _request(self, client: httpx.AsyncClient, texts: Sequence[str]) -> FloatArray:
        service, n = self._service, len(texts)
        inputs = [without_half_pairs(text) for text in texts]
        payload = {"model": self.config.model, "input": inputs, "encoding_format": "float"}
        most_bytes = http_retry.MOST_BYTES * -(-n // TEXTS_PER_BOUND)
        tries = http_retry.Tries(self.config.attempts, self.config.backoff_s)
        try:
            answer: str | http_retry.Refusal | None = await http_retry.persist(
                lambda: service.post(client, payload, most_bytes=most_bytes), tries
            )
        except http_retry.AnswerTooLong as error:
            reason = f"{service.shown}, asked for {n} vectors: {error}"
            raise EncodingError(reason) from None
        if answer is None:
            raise EncodingError(
                f"{service.shown} gave {tries}. "
                "What was embedded so far is kept: run the same command again when it is back."
            )
        if isinstance(answer, http_retry.Refusal):
            if answer.for_all:
                raise EndpointRefusal(service.why_useless(answer, "embedded"))
            reason = f"{service.shown} rejected a batch of {n} texts with {answer}"
            raise EncodingError(reason, retryable=False)
        return _parse(answer, n, service.shown)


def _parse(body: str, n: int, url: str) -> FloatArray:
    """Return (n, dim), in the order of the texts. Raises EncodingError for any other answer."""
    try:
        data: list[dict[str, Any]] = sorted(json.loads(body)["data"], key=lambda d: d["index"])
        if [d["index"] for d in data] != list(range(n)):
            raise ValueError(f"indices {[d['index'] for d in data][:10]} for {n} texts")
        with np.errstate(over="ignore"):  # the row of an infinite number is refused later
            vectors = np.array([d["embedding"] for d in data], np.float32)
        if vectors.ndim != 2 or len(vectors) != n or not vectors.shape[1]:
            raise ValueError(f"shape {vectors.shape} for {n} texts")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise EncodingError(
            f"{url} gave an answer that is no embeddings response ({type(error).__name__}: "
            f"{str(error)[:200]}): {body[:200]!r}; expected "
            "{'data': [{'index', 'embedding'}, ...]}."
        ) from error
    return vectors
