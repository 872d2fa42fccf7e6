"""Embeddings from any OpenAI-compatible endpoint: OpenAI, vLLM, TEI, Ollama, LiteLLM, ..."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx
import numpy as np

from argus.data.types import FloatArray, Span
from argus.encoders.protocol import Fingerprint, unit_rows
from argus.errors import EncodingError
from argus.http_retry import (
    RETRIED,
    check_address,
    check_key,
    endpoint,
    retry_after_s,
    without_half_pairs,
    without_secrets,
)


@dataclass(frozen=True, kw_only=True)
class OpenAIConfig:
    """Where the endpoint is and how hard it may be pressed."""

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = None
    batch_size: int = 64
    concurrency: int = 4
    timeout_s: float = 60.0
    attempts: int = 5
    backoff_s: float = 1.0
    query_prompt: str = ""
    document_prompt: str = ""

    def __post_init__(self) -> None:
        check_address(self.base_url)
        check_key(self.api_key)


class OpenAIEncoder:
    """`POST {base_url}/embeddings`. No token vectors: a span has the vector of its text.

    Retries time-outs, dropped connections and statuses 408, 409, 425, 429 and 5xx with doubling
    waits (or what Retry-After asks); raises EncodingError, retryable, when they do not pass, and
    not retryable when the endpoint rejects the input.
    """

    pools_spans = False

    def __init__(self, config: OpenAIConfig) -> None:
        self.config = config
        headers = {"Authorization": f"Bearer {config.api_key}"} if config.api_key else {}
        self._client = httpx.Client(timeout=config.timeout_s, headers=headers)
        self._url = endpoint(config.base_url, "embeddings")
        self._shown = without_secrets(self._url)

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to a worker as settings: a connection cannot."""
        return OpenAIEncoder, (self.config,)

    @cached_property
    def dim(self) -> int:
        """Length of a vector, learnt by embedding one word."""
        return int(self._request(["dimension"]).shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Model and endpoint; the provider tells nothing of the weights."""
        return str(
            Fingerprint(
                model=f"openai:{self.config.model}",
                revision=without_secrets(self.config.base_url),
                dim=self.dim,
                max_tokens=None,
                precision="provider",
                pooling="provider",
                query_prompt=self.config.query_prompt,
                document_prompt=self.config.document_prompt,
            )
        )

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._encode([self.config.query_prompt + text for text in texts])

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._encode([self.config.document_prompt + text for text in texts])

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> FloatArray:
        """Return (n, dim), unit rows: the endpoint has no token vectors, so the text's own."""
        distinct = list(dict.fromkeys(texts))
        row = {text: i for i, text in enumerate(distinct)}
        return self.encode_documents(distinct)[[row[text] for text in texts]]

    def _encode(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        size = self.config.batch_size
        batches = [texts[i : i + size] for i in range(0, len(texts), size)]
        with ThreadPoolExecutor(self.config.concurrency) as pool:
            parts = list(pool.map(self._request, batches))
        return unit_rows(np.concatenate(parts))

    def _request(self, texts: Sequence[str]) -> FloatArray:
        problem, wait = "no attempt was made", 0.0
        for attempt in range(self.config.attempts):
            if attempt:
                time.sleep(wait)
            wait = self.config.backoff_s * 2**attempt
            try:
                response = self._client.post(
                    self._url,
                    json={
                        "model": self.config.model,
                        "input": [without_half_pairs(text) for text in texts],
                        "encoding_format": "float",
                    },
                )
            except httpx.RequestError as error:
                problem = f"{type(error).__name__}: {error}"
                continue
            if response.status_code in RETRIED:
                problem = f"HTTP {response.status_code}: {response.text[:200]}"
                wait = retry_after_s(response.headers.get("retry-after")) or wait
                continue
            if response.is_error:
                raise EncodingError(
                    f"{self._shown} rejected a batch of {len(texts)} texts with HTTP "
                    f"{response.status_code}: {response.text[:300]}",
                    retryable=response.status_code in (401, 403, 404),
                )
            return _parse(response, len(texts), self._shown)
        raise EncodingError(
            f"{self._shown} did not answer in {self.config.attempts} attempts; last: {problem}. "
            "What was embedded so far is kept: run the same command again when it is back."
        )


def _parse(response: httpx.Response, n: int, url: str) -> FloatArray:
    try:
        data: list[dict[str, Any]] = sorted(response.json()["data"], key=lambda d: d["index"])
        if [d["index"] for d in data] != list(range(n)):
            raise ValueError(f"indices {[d['index'] for d in data][:10]} for {n} texts")
        vectors = np.array([d["embedding"] for d in data], np.float32)
        if vectors.ndim != 2 or len(vectors) != n:
            raise ValueError(f"shape {vectors.shape} for {n} texts")
    except (ValueError, KeyError, TypeError) as error:
        raise EncodingError(
            f"{url} gave an answer that is no embeddings response ({error}): "
            f"{response.text[:200]!r}; expected {{'data': [{{'index', 'embedding'}}, ...]}}.",
        ) from error
    return vectors
