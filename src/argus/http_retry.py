"""Send HTTP requests to an endpoint, and retry them as long as that can help.

All HTTP clients share it: language models, embeddings, and retrievers at an address. A client sends
with `Service.post` and goes on with `persist`. It gets the body of an answer, a `Trouble` that may
pass, or a `Refusal` that will not, for this request or for all. `check_address` and `check_key`
refuse bad options before.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from argus.errors import InputError
from argus.hidden import LEAST_IN_MESSAGES, remember, scrub, secrets_of

T = TypeVar("T")

OPENAI_HOST = "api.openai.com"
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
MAY_CHARGE = frozenset({408, 500, 502, 504})  # the model may have worked, and gone on working
USELESS = frozenset({401, 402, 403, 404, 405})  # every other request would meet the same
# The header of each request that names allowed compressions of an answer.
ACCEPTED = {"accept-encoding": "gzip"}
LONGEST_WAIT_S = 120.0  # whatever Retry-After asks
MOST_BYTES = 16 * 2**20  # of one answer
SHOWN_CHARS = 300  # of the body of a refusal
HIGHEST_PORT = 65_535
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


def is_address(address: str) -> bool:
    """Return whether an address has a scheme, http or https, a host, and no odd port."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        return False
    is_whole = url.scheme in ("http", "https") and bool(url.host) and " " not in address
    return is_whole and (url.port or 0) <= HIGHEST_PORT


def check_address(address: str, *, where: str = "--base-url") -> None:
    """Raise InputError unless `is_address`."""
    if not is_address(address):
        shown = address.rpartition("@")[2].partition("?")[0]
        expected = "an address such as http://127.0.0.1:8000/v1"
        fix = f"Give scheme and host; a port is at most {HIGHEST_PORT}."
        raise InputError(f"{shown!r}", expected=expected, fix=fix, where=where)


def fits_header(value: str) -> bool:
    """Return whether an HTTP header can carry a value: printable ASCII, no space around it."""
    return value.isascii() and value.isprintable() and value == value.strip()


def check_key(api_key: str | None, *, where: str = "--api-key-env") -> None:
    """Raise InputError when no HTTP header can carry the key. The key itself is never shown."""
    if not fits_header(api_key or ""):
        got = "the API key holds characters that no HTTP header can, or has spaces around it"
        fix = "Check what the variable named by --api-key-env holds."
        raise InputError(got, expected="printable ASCII without them", fix=fix, where=where)


def check_one_credential(address: str, sent: object, *, where: str = "--base-url") -> None:
    """Raise InputError for a user in an address beside a key: httpx would send him in its place.

    sent: the key, or the header, that is sent as well. Without one nothing is refused.
    """
    if sent and httpx.URL(address).userinfo:
        got = "both an API key and a user in the address"
        expected = "one of them: they are sent in the same header"
        fix = "Take user:password out of the address, or give no key."
        raise InputError(got, expected=expected, fix=fix, where=where)


def endpoint(base_url: str, name: str) -> str:
    """Return the address of one endpoint, such as `embeddings`, below a base address."""
    url = httpx.URL(base_url)
    return str(url.copy_with(path=f"{url.path.rstrip('/')}/{name}"))


def without_secrets(address: str) -> str:
    """Return an address without user, password and query: it goes into files that are shared."""
    return str(httpx.URL(address).copy_with(userinfo=b"", query=None))


def retry_after_s(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, at most LONGEST_WAIT_S.

    It holds seconds or a date (RFC 9110, section 10.2.3). None for anything else, and the past.
    """
    if value is None:
        return None
    try:
        wait = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
            wait = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        except (ValueError, OverflowError):
            return None
    return min(wait, LONGEST_WAIT_S) if not math.isnan(wait) and wait >= 0 else None


@dataclass(frozen=True, slots=True)
class Trouble:
    """An attempt without an answer that may fare better later: after `wait_s` if the server says.

    may_charge: the server may have worked on it.
    """

    problem: str
    wait_s: float | None = None
    may_charge: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status that stays the same however often this request is sent.

    for_all: whatever else is asked there would meet it, too.
    """

    status: int
    text: str
    for_all: bool

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.text}"


class AnswerTooLong(Exception):
    """More bytes than any answer has. The rest was not read."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"the answer is longer than {most_bytes} bytes")


def is_answer(response: httpx.Response) -> bool:
    """Return whether a response is a success and whole: 206 brings a part, and none was asked."""
    return response.is_success and response.status_code != httpx.codes.PARTIAL_CONTENT


def meaning(status: int, text: str, retry_after: str | None = None) -> Trouble | Refusal:
    """Return the meaning of a status that brings no answer."""
    if status in RETRIED:
        wait_s = retry_after_s(retry_after)
        return Trouble(f"HTTP {status}: {text}", wait_s, may_charge=status in MAY_CHARGE)
    return Refusal(status, text, for_all=status in USELESS or 300 <= status < 400)


@dataclass(slots=True)
class Tries:
    """The attempts at one answer: allowed, made, and the outcome of the last."""

    attempts: int
    backoff_s: float
    n: int = 0
    problem: str = ""

    @property
    def left(self) -> bool:
        """Tell whether another one may be made."""
        return self.n < self.attempts

    async def wait(self, trouble: Trouble) -> None:
        """Count an attempt. Return when the next may be made, at once where there is none."""
        doubled = min(self.backoff_s * 2**self.n, LONGEST_WAIT_S)
        self.n, self.problem = self.n + 1, trouble.problem
        if self.left:
            await asyncio.sleep(trouble.wait_s or doubled)

    def __str__(self) -> str:
        return f"no answer in {self.n} attempts; last: {self.problem}"


async def persist(send: Callable[[], Awaitable[T | Trouble]], tries: Tries) -> T | None:
    """Send until something other than trouble comes back. None where no attempt is left."""
    while tries.left:
        result = await send()
        if not isinstance(result, Trouble):
            return result
        await tries.wait(result)
    return None


class Pace:
    """Spaces the requests of one run evenly. Without a rate they only wait for pauses.

    For one event loop, and one caller of `turn` at a time.
    """

    def __init__(self, requests_per_minute: float | None) -> None:
        self._interval_s = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._next = time.monotonic()

    @property
    def is_free(self) -> bool:
        """Tell whether a request may be sent now, regardless of the others."""
        return not self._interval_s and self._next <= time.monotonic()

    async def turn(self) -> None:
        """Return when a request may be sent."""
        while (wait := self._next - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        self._next = time.monotonic() + self._interval_s

    def pause(self, seconds: float) -> None:
        """Send nothing for so long: the server asked for it, and all requests are alike to it."""
        self._next = max(self._next, time.monotonic() + seconds)


class Service:
    """One endpoint of a server: sends requests there, and tells their outcomes.

    config: settings of a client: model, base_url, api_key, api_key_env, timeout_s (for the whole of
    one attempt, however slowly bytes keep coming).
    """

    def __init__(self, config: Any, name: str) -> None:
        self._config = config
        self._url = endpoint(config.base_url, name)
        self._secrets = {config.api_key or "", *secrets_of(config.base_url)}
        remember(keys=[config.api_key], addresses=[config.base_url])
        self.shown = without_secrets(self._url)

    def client(self, connections: int, connect_timeout_s: float | None = None) -> httpx.AsyncClient:
        """Return the client for `post`: so many connections, the key, and no limits of its own."""
        headers = {"Content-Type": "application/json"}
        if self._config.api_key:
            headers["Authorization"] = f"Bearer {self._config.api_key}"
        timeout = httpx.Timeout(None, connect=connect_timeout_s)
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        return httpx.AsyncClient(timeout=timeout, limits=limits, headers=ACCEPTED | headers)

    async def post(
        self, client: httpx.AsyncClient, payload: Mapping[str, Any], *, most_bytes: int = MOST_BYTES
    ) -> str | Trouble | Refusal:
        """Send a request once. Return the body of a success. Raises AnswerTooLong."""
        body = json.dumps(payload, ensure_ascii=False).encode()
        timeout_s = self._config.timeout_s
        try:
            async with (
                asyncio.timeout(timeout_s),
                client.stream("POST", self._url, content=body) as response,
            ):
                body, is_whole = await read_body(response, most_bytes)
                text = body.decode("utf-8", "replace")
        except TimeoutError:
            return Trouble(f"no whole answer within {timeout_s:g} s")
        except httpx.RequestError as error:
            root: BaseException = error  # such as "Connection refused"
            while root.__cause__ is not None and str(root.__cause__):
                root = root.__cause__
            problem = self.scrub(f"{type(error).__name__}: {root}")
            return Trouble(problem, may_charge=not isinstance(error, _NEVER_SENT))
        if not is_answer(response):
            retry_after = response.headers.get("retry-after")
            return meaning(response.status_code, self.scrub(text)[:SHOWN_CHARS], retry_after)
        if not is_whole:
            raise AnswerTooLong(most_bytes)
        return text

    def scrub(self, text: str, least: int = LEAST_IN_MESSAGES) -> str:
        """Hide the key and password where a server repeats them: texts go into shared files."""
        return scrub(text, self._secrets, least)

    def check_key_is_set(self) -> None:
        """Raise InputError where there is no key for OpenAI's own servers, which need one."""
        host = httpx.URL(self._config.base_url).host
        if self._lacks_key() and (host == OPENAI_HOST or host.endswith(f".{OPENAI_HOST}")):
            expected = f"a key for {host} in that environment variable"
            fix = "Set it, name another one, or give --base-url for an endpoint without a key."
            raise InputError(self._no_key(), expected=expected, fix=fix, where="--api-key-env")

    def why_useless(self, refusal: Refusal, done: str) -> str:
        """Return the message of a refusal for all. done: such as "answered"."""
        config = self._config
        is_keyless = refusal.status in (401, 403) and self._lacks_key()
        missing = f"{self._no_key()}. " if is_keyless else ""
        return (
            f"{self.shown} refused with {refusal}. {missing}Check the address, the key "
            f"({config.api_key_env}) and the model name ({config.model!r}). What was {done} so far "
            "is kept: run the same command again once that is mended, and it goes on from there."
        )

    def _lacks_key(self) -> bool:
        return not self._config.api_key and not httpx.URL(self._config.base_url).userinfo

    def _no_key(self) -> str:
        name = self._config.api_key_env
        return f"{name} is set but not sent" if os.environ.get(name) else f"{name} is not set"


async def read_body(response: httpx.Response, most_bytes: int) -> tuple[bytes, bool]:
    """Return the body, and whether that is all of it: reading ends beyond `most_bytes`.

    Raises httpx.DecodingError for a packing other than ACCEPTED: some blow up 30,000 times.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "x-gzip", *ACCEPTED.values()):
        raise httpx.DecodingError(f"an answer in {packing:.40}", request=response.request)
    parts, size = [], 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > most_bytes:
            break
    return b"".join(parts), size <= most_bytes
