"""Ask an endpoint: a request per query, its pages, and again where that may help."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np

from argus.encoders import Encoder
from argus.errors import ArgusError, EncodingError, EndpointRefusal, InputError, Location
from argus.hidden import remember, scrub
from argus.http_retry import (
    ACCEPTED,
    MOST_BYTES,
    SHOWN_CHARS,
    Refusal,
    Tries,
    Trouble,
    check_one_credential,
    is_answer,
    meaning,
    persist,
    read_body,
    without_half_pairs,
    without_secrets,
)
from argus.indexes.correction import QueryCorrection
from argus.retrievers.http.keys import KEY_CHARS, keys_of
from argus.retrievers.http.spec import (
    PAGE,
    QUERY,
    QUOTED,
    VECTOR,
    EndpointSpec,
    K,
    filled,
)
from argus.retrievers.protocol import AskLater, RetrievalError
from argus.retrievers.results import Known, ranked
from argus.retrievers.session import Answer, in_a_thread, raised

ATTEMPTS, BACKOFF_S = 3, 0.5
"""Of one request."""
MESSAGE_CHARS = 2 * SHOWN_CHARS
AUTHORIZATION = "authorization"
SECRET_CHARS = 4
"""A shorter value of a variable may be a word of an answer."""


@dataclass
class HttpRetriever:
    """An endpoint. What it refuses for one query fails that query; for all, it stops the job."""

    spec: EndpointSpec
    name: str
    known: Known = field(default_factory=Known, repr=False)
    encoder: Encoder | None = None
    """What makes {vector} of a query."""
    correction: QueryCorrection | None = None
    """What changes it before it is sent."""
    _client: httpx.AsyncClient | None = field(default=None, repr=False)
    _encoding: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _request: EndpointSpec | None = field(default=None, repr=False)
    """The description with the variables' values, while a session lasts."""
    _keys: tuple[str, ...] = field(default=(), repr=False)
    """Those of the session's request that are no id's part by chance."""

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Hold the connections of one job; redirects are not followed: they are told."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        request = self._request = self.spec.resolved()
        sent = next((v for name, v in request.headers.items() if name.lower() == AUTHORIZATION), "")
        check_one_credential(request.url, sent, where=self.name)
        remember(keys=self._secrets(), addresses=[request.url])
        self._keys = tuple(key for key in keys_of(request) if len(key) >= KEY_CHARS)
        timeout = httpx.Timeout(None, connect=10)
        async with httpx.AsyncClient(
            headers=ACCEPTED | request.headers, timeout=timeout, limits=limits
        ) as client:
            self._client = client
            yield

    async def answer(self, text: str, k: int) -> Answer:
        """Return documents with falling scores; raises RetrievalError, and ArgusError to stop.

        No message holds the value of a variable: whatever is raised has its text scrubbed here.
        """
        try:
            return await self._answer(text, k)
        except ArgusError as error:
            raise ArgusError(self._scrubbed(str(error))) from None
        except AskLater as error:
            raise AskLater(self._scrubbed(str(error))[:MESSAGE_CHARS], error.wait_s) from None
        except RetrievalError as error:
            raise RetrievalError(self._scrubbed(str(error))[:MESSAGE_CHARS]) from None
        except Exception as error:  # whatever a strange answer leads to
            raise RetrievalError(self._scrubbed(raised(error))[:MESSAGE_CHARS]) from None

    async def _answer(self, text: str, k: int) -> Answer:
        most = min(k, self.spec.most or k)
        text = without_half_pairs(text)
        values: dict[str, Any] = {
            QUERY: text,
            QUOTED: json.dumps(text, ensure_ascii=False),
            K: most,
        }
        if self.encoder is not None:
            values[VECTOR] = await self._vector_of(text, self.encoder)
        hits: list[tuple[str, float | None]] = []
        async for page in self._pages(values, most):
            hits += page
        scored = [hit if hit[1] is not None else hit[0] for hit in hits]
        return ranked(scored, k, self.known)

    async def _vector_of(self, text: str, encoder: Encoder) -> list[float]:
        """Return {vector}. What the encoder rejects is this query's failure, no end of the job."""
        try:
            return await in_a_thread(partial(self._vector, encoder, text))
        except EndpointRefusal:
            raise
        except EncodingError as error:
            raise RetrievalError(str(error)) from error

    def _vector(self, encoder: Encoder, text: str) -> list[float]:
        with self._encoding:
            vectors = np.asarray(encoder.encode_queries([text]), np.float32)
        if self.correction is not None:
            vectors = self.correction.apply(vectors)
        return [float(x) for x in vectors[0]]

    async def _pages(
        self, values: dict[str, Any], most: int
    ) -> AsyncIterator[list[tuple[str, float | None]]]:
        paging, seen, n = self.spec.paging, set[str](), 0
        if paging is not None:
            values = values | {K: min(most, paging.size), PAGE: None}
        while True:
            content = await self._send(values)
            hits = self._hits(content)
            yield hits
            n += len(hits)
            token = self._one(paging.next, content) if paging else None
            if not hits or n >= most or token is None:
                return
            if str(token) in seen:
                raise RetrievalError(f"pages in circles: {token!r} came a second time")
            seen.add(str(token))
            values = values | {PAGE: token}

    def _hits(self, content: Mapping[str, Any]) -> list[tuple[str, float | None]]:
        answer = self.spec.answer
        if answer.errors and (errors := self._values(answer.errors, content)):
            raise RetrievalError(f"answered with an error: {_shown(errors[0])}")
        if not answer.results.is_in(content) and not answer.may_be_absent:
            raise RetrievalError(f"answered without {answer.results.text!r}: {_shown(content)}")
        hits = []
        for item in self._values(answer.results, content):
            id_ = self._one(answer.id, item)
            if id_ is None:
                raise RetrievalError(f"answered with a result without {answer.id.text!r}")
            score = self._one(answer.score, item) if answer.score else None
            hits.append((_id(id_), _number(score)))
        self._refuse_keys(id_ for id_, _ in hits)
        return hits

    def _refuse_keys(self, ids: Iterable[str]) -> None:
        """Raise RetrievalError for an id that holds a key: ids are printed, and stored."""
        if any(key in id_ for id_ in ids for key in self._keys):
            raise RetrievalError("the answer repeats a key of the request in an id")

    async def _send(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send one request, again where that may help; return the object of the answer."""
        tries = Tries(ATTEMPTS, BACKOFF_S)
        result: bytes | Refusal | None = await persist(lambda: self._attempt(values), tries)
        if result is None:
            raise RetrievalError(str(tries))
        if isinstance(result, Refusal):
            refusal = f"{self.name} refused with {result}"
            if result.for_all:
                raise ArgusError(
                    f"{refusal}. Check address, method and headers. What was answered so far is "
                    "kept: the same command asks only the rest."
                )
            raise RetrievalError(refusal)
        try:
            content = json.loads(result)
        except (ValueError, RecursionError) as error:
            shown = self._scrubbed(result.decode("utf-8", "replace"))[:60]
            raise RetrievalError(f"answered with no JSON: {shown!r}") from error
        if isinstance(content, list):
            return {"$": content}
        if not isinstance(content, dict):
            raise RetrievalError(f"answered with {type(content).__name__}, not an object")
        return content

    async def _attempt(self, values: Mapping[str, Any]) -> bytes | Refusal | Trouble:
        assert self._client is not None and self._request, "asked outside of a session"
        request = self._request
        quoted = {name: quote(str(value), safe="") for name, value in values.items()}
        url = filled(request.url, quoted)
        parameters = _without_none(filled(request.parameters, values))
        body = _without_none(filled(request.body, values))
        try:
            async with self._client.stream(
                self.spec.method, url, params=parameters or None,
                json=body if self.spec.body is not None else None,
            ) as response:  # fmt: skip
                content = await _read(response)
        except httpx.RequestError as error:
            return Trouble(f"{type(error).__name__}: {error}")
        except (httpx.InvalidURL, ValueError) as error:  # such as one that is too long
            raise RetrievalError(f"cannot be asked: {error}") from error
        if response.is_redirect:
            to = without_secrets(str(response.url.join(response.headers.get("location", ""))))
            return Refusal(response.status_code, f"a redirect to {to}", for_all=True)
        if not is_answer(response):
            text = self._scrubbed(content.decode("utf-8", "replace"))[:SHOWN_CHARS]
            result = meaning(response.status_code, text, response.headers.get("retry-after"))
            if isinstance(result, Trouble) and result.wait_s:
                raise AskLater(result.problem, result.wait_s)
            return result
        return content

    def _one(self, path: Any, item: Any) -> Any:
        values = self._values(path, item)
        return values[0] if values else None

    def _values(self, path: Any, item: Any) -> list[Any]:
        try:
            values: list[Any] = path.find(item, lambda at: Location(Path("answer"), field=at))
        except (InputError, AttributeError, TypeError) as error:
            reason = (
                f"{error.got} at {error.where}" if isinstance(error, InputError) else str(error)
            )
            raise RetrievalError(f"answered in another shape: {reason}") from error
        return values

    def _scrubbed(self, text: str) -> str:
        """Hide keys that a server repeats: values of the environment, and what is named as one."""
        return scrub(text, self._secrets(), SECRET_CHARS)

    def _secrets(self) -> set[str]:
        variables = {os.environ.get(name, "") for name in self.spec.variables()}
        return variables | keys_of(self._described())

    def _described(self) -> EndpointSpec:
        return self._request if self._request is not None else self.spec


def _id(value: Any) -> str:
    """Return an id; a list, an object, a truth value or nothing names no document."""
    if (isinstance(value, str) and value) or type(value) is int:
        return str(value)
    raise RetrievalError(f"answered with the id {_shown(value)}, neither text nor a whole number")


def _number(score: Any) -> float | None:
    """Return a score; some servers write it as text."""
    if score is None:
        return None
    try:
        return float(score)
    except (TypeError, ValueError, OverflowError) as error:
        raise RetrievalError(f"answered with the score {score!r}") from error


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


async def _read(response: httpx.Response) -> bytes:
    body, is_whole = await read_body(response, MOST_BYTES)
    if not is_whole:
        raise RetrievalError(f"answered with more than {MOST_BYTES:,} bytes")
    return body


def _without_none(value: Any) -> Any:
    """Leave out keys that have no value, such as the page of a first request."""
    if isinstance(value, Mapping):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    return [_without_none(v) for v in value] if isinstance(value, list) else value
