"""One prompt at a time: request, retries, and what a response means."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from argus.http_retry import (
    RETRIED,
    endpoint,
    retry_after_s,
    without_half_pairs,
    without_secrets,
)
from argus.llm.budget import Budget, most_tokens
from argus.llm.config import ChatConfig
from argus.llm.ledger import Entry
from argus.llm.outcomes import entry_of
from argus.llm.pace import Pace
from argus.llm.plan import answer_bound, tokens_in
from argus.llm.protocol import LanguageModelError, Prompt
from argus.llm.reply import Reply, read_reply
from argus.llm.structured import instructed, response_format

if TYPE_CHECKING:
    from pydantic import BaseModel

USELESS = frozenset({401, 402, 403, 404, 405})  # every other prompt would meet the same
MAY_CHARGE = frozenset({408, 500, 502, 504})  # the model may have worked, and gone on working
MOST_BYTES = 16 * 2**20  # of one response
SECRET_CHARS = 16  # a shorter key ("EMPTY", "ollama") is none, and may be a word of an answer
_POLL_S = 0.01
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


class BudgetSpent(Exception):
    """The next request might pass the budget; the message says what was spent."""


@dataclass
class Dialect:
    """What was learnt of an endpoint: True once it refused `response_format`."""

    instructs: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one request led to: a reply, or a problem that may pass, after `wait_s` if known.

    used: tokens in and out that it is booked with.
    """

    used: tuple[int, int]
    reply: Reply | None = None
    problem: str = ""
    wait_s: float | None = None
    again_at_once: bool = False


class Asker:
    """Asks prompts of one run, any number at once, in one event loop."""

    def __init__(
        self,
        config: ChatConfig,
        budget: Budget,
        schema: type[BaseModel] | None,
        dialect: Dialect,
        client: httpx.AsyncClient,
    ) -> None:
        self._config, self._budget, self._schema = config, budget, schema
        self._dialect, self._client = dialect, client
        self._url = endpoint(config.base_url, "chat/completions")
        self._shown = without_secrets(self._url)
        self._pace = Pace(config.requests_per_minute)
        self._gate = asyncio.Lock()
        self._unanswered = 0

    async def ask(self, key: str, prompt: Prompt) -> Entry:
        """Return the row for the ledger.

        Raises BudgetSpent when nothing was sent, and LanguageModelError when going on is useless.
        """
        start = time.monotonic()
        reply, problem = Reply(), ""
        attempt = 0
        while attempt < self._config.attempts:
            try:
                result = await self._attempt(prompt)
            except BudgetSpent as spent:
                if not attempt:
                    raise
                reason = f"no answer in {attempt} attempts, and {spent}; last: {problem}"
                reply = Reply(reason=reason, unanswered=True)
                break
            if result.again_at_once:
                continue
            if result.reply:
                reply = result.reply
                self._unanswered = 0
                break
            attempt, problem = attempt + 1, result.problem
            if attempt < self._config.attempts:
                await asyncio.sleep(result.wait_s or self._config.backoff_s * 2 ** (attempt - 1))
        else:
            self._unanswered += 1
            reason = f"no answer in {attempt} attempts; last: {problem}"
            reply = Reply(reason=reason, unanswered=True)
        return self._entry(key, prompt, reply, time.monotonic() - start)

    def check_alive(self) -> None:
        """Raise LanguageModelError after too many prompts in a row without any answer."""
        if self._unanswered >= self._config.give_up_after:
            raise LanguageModelError(
                f"{self._shown} left {self._unanswered} prompts in a row without an answer, each "
                f"after {self._config.attempts} attempts (the ledger has the reasons). What was "
                "answered so far is kept: run the same command again when it is back."
            )

    async def _attempt(self, prompt: Prompt) -> Attempt:
        bound = (
            tokens_in(prompt, self._schema, most_tokens),
            answer_bound(prompt, self._config),
        )
        await self._admit(bound)
        used = bound  # a request that is cut off may be charged
        try:
            result = await self._request(prompt, bound)
            used = result.used
        finally:
            self._budget.settle(bound, used)
        return result

    async def _admit(self, bound: tuple[int, int]) -> None:
        """Return when rate and budget allow a request; first come, first served."""
        async with self._gate:
            while not self._budget.reserve(*bound):
                if self._budget.idle:
                    raise BudgetSpent(f"the next request might pass the budget: {self._budget}")
                await asyncio.sleep(_POLL_S)
            try:
                await self._pace.turn()
            except asyncio.CancelledError:
                self._budget.settle(bound, (0, 0))
                raise

    async def _request(self, prompt: Prompt, bound: tuple[int, int]) -> Attempt:
        formatted = self._schema is not None and not self._dialect.instructs
        body = json.dumps(self._payload(prompt, formatted), ensure_ascii=False).encode()
        try:
            async with (
                asyncio.timeout(self._config.timeout_s),
                self._client.stream("POST", self._url, content=body) as response,
            ):
                text = await _read(response)
        except TimeoutError:
            return Attempt(bound, problem=f"no whole answer within {self._config.timeout_s:g} s")
        except httpx.RequestError as error:
            used = (0, 0) if isinstance(error, _NEVER_SENT) else bound
            return Attempt(used, problem=self._scrub(f"{type(error).__name__}: {error}"))
        if response.status_code == 200:
            if text is None:
                return Attempt(bound, Reply(reason=f"the answer is longer than {MOST_BYTES} bytes"))
            return self._answered(text, bound)
        return self._refused(response, self._scrub((text or "")[:300]), bound, formatted)

    def _payload(self, prompt: Prompt, formatted: bool) -> dict[str, Any]:
        config, system = self._config, prompt.system
        if self._schema and not formatted:
            system = instructed(system, self._schema)
        messages = [{"role": "user", "content": without_half_pairs(prompt.text)}]
        if system:
            messages.insert(0, {"role": "system", "content": without_half_pairs(system)})
        payload: dict[str, Any] = {"model": config.model, "messages": messages, **config.extra}
        payload[config.max_tokens_field] = answer_bound(prompt, config)
        if config.temperature is not None:
            payload["temperature"] = config.temperature
        if self._schema and formatted:
            payload["response_format"] = response_format(self._schema)
        return payload

    def _answered(self, text: str, bound: tuple[int, int]) -> Attempt:
        reply = read_reply(text, max_tokens=bound[1])
        used_in = bound[0] if reply.tokens_in is None else reply.tokens_in
        used_out = bound[1] if reply.tokens_out is None else reply.tokens_out
        return Attempt((used_in, used_out), reply)

    def _refused(
        self, response: httpx.Response, text: str, bound: tuple[int, int], formatted: bool
    ) -> Attempt:
        status, problem = response.status_code, f"HTTP {response.status_code}: {text}"
        if status in RETRIED:
            wait = retry_after_s(response.headers.get("retry-after"))
            if wait:
                self._pace.pause(wait)
            used = bound if status in MAY_CHARGE else (0, 0)
            return Attempt(used, problem=problem, wait_s=wait)
        if status in USELESS or response.is_redirect:
            raise LanguageModelError(
                f"{self._shown} refused with {problem}. Check address, key and model name "
                f"({self._config.model!r}). What was answered so far is kept: run the same command "
                "again once that is mended."
            )
        if formatted and _is_about_format(text):
            self._dialect.instructs = True
            return Attempt((0, 0), again_at_once=True)
        return Attempt((0, 0), Reply(reason=f"the endpoint rejected the prompt with {problem}"))

    def _entry(self, key: str, prompt: Prompt, reply: Reply, seconds: float) -> Entry:
        reply = replace(reply, text=self._scrub(reply.text), reason=self._scrub(reply.reason))
        return entry_of(key, self._config.label, prompt, reply, self._schema, seconds)

    def _scrub(self, text: str) -> str:
        """Hide the key and password where a server repeats them: texts go into shared files."""
        for secret in (self._config.api_key, httpx.URL(self._config.base_url).password):
            if secret and len(secret) >= SECRET_CHARS:
                text = text.replace(secret, "***")
        return text


async def _read(response: httpx.Response) -> str | None:
    """Return the body as text; None where it is longer than MOST_BYTES."""
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


def _is_about_format(text: str) -> bool:
    words = ("response_format", "json_schema", "guided", "structured")
    return any(word in text.lower() for word in words)
