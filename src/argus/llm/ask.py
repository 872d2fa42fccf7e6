"""One prompt at a time: request, retries, and what a response means."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from argus.hidden import LEAST_IN_FILES
from argus.http_retry import (
    AnswerTooLong,
    Pace,
    Refusal,
    Service,
    Tries,
    Trouble,
    persist,
    without_half_pairs,
)
from argus.llm.budget import Budget, most_tokens
from argus.llm.config import ChatConfig
from argus.llm.ledger import Entry
from argus.llm.outcomes import entry_of
from argus.llm.plan import answer_bound, tokens_in
from argus.llm.protocol import LanguageModelError, Prompt
from argus.llm.reply import Reply, read_reply
from argus.llm.structured import instructed, response_format

if TYPE_CHECKING:
    from pydantic import BaseModel


_POLL_S = 0.01


class BudgetSpent(Exception):
    """The next request might pass the budget; the message says what was spent."""


@dataclass
class Dialect:
    """What was learnt of an endpoint: True once it refused `response_format`."""

    instructs: bool = False


class Asker:
    """Asks prompts of one run, any number at once, in one event loop."""

    def __init__(
        self,
        config: ChatConfig,
        budget: Budget,
        schema: type[BaseModel] | None,
        dialect: Dialect,
        service: Service,
        client: httpx.AsyncClient,
    ) -> None:
        self._config, self._budget, self._schema = config, budget, schema
        self._dialect, self._service, self._client = dialect, service, client
        self._pace = Pace(config.requests_per_minute)
        self._gate = asyncio.Lock()
        self._unanswered = 0

    async def ask(self, key: str, prompt: Prompt) -> Entry:
        """Return the row for the ledger.

        Raises BudgetSpent when nothing was sent, and LanguageModelError when going on is useless.
        """
        start = time.monotonic()
        tries = Tries(self._config.attempts, self._config.backoff_s)
        try:
            reply = await persist(lambda: self._attempt(prompt), tries)
        except BudgetSpent as spent:
            if not tries.n:
                raise
            reason = f"no answer in {tries.n} attempts, and {spent}; last: {tries.problem}"
            reply = Reply(reason=reason, unanswered=True)
        else:
            self._unanswered = 0 if reply else self._unanswered + 1
            reply = reply or Reply(reason=str(tries), unanswered=True)
        return self._entry(key, prompt, reply, time.monotonic() - start)

    def check_alive(self) -> None:
        """Raise LanguageModelError after too many prompts in a row without any answer."""
        if self._unanswered >= self._config.give_up_after:
            raise LanguageModelError(
                f"{self._service.shown} left {self._unanswered} prompts in a row without an "
                f"answer, each after {self._config.attempts} attempts (the ledger has the reasons)."
                " What was answered so far is kept: run the same command again when it is back."
            )

    async def _attempt(self, prompt: Prompt) -> Reply | Trouble:
        formatted = self._schema is not None and not self._dialect.instructs
        bound = (
            tokens_in(prompt, self._schema, most_tokens),
            answer_bound(prompt, self._config),
        )
        await self._admit(bound)
        used = bound  # a request that is cut off may be charged
        try:
            answer = await self._service.post(self._client, self._payload(prompt, formatted))
            if isinstance(answer, str):
                reply = read_reply(answer, max_tokens=bound[1])
                used = _used(reply, bound)
                return reply
            if isinstance(answer, Refusal) or not answer.may_charge:
                used = (0, 0)
        except AnswerTooLong as error:
            return Reply(reason=str(error))
        finally:
            self._budget.settle(bound, used)
        return await self._without_answer(prompt, answer, formatted)

    async def _without_answer(
        self, prompt: Prompt, answer: Trouble | Refusal, formatted: bool
    ) -> Reply | Trouble:
        if isinstance(answer, Trouble):
            if answer.wait_s:
                self._pace.pause(answer.wait_s)
            return answer
        if answer.for_all:
            raise LanguageModelError(self._service.why_useless(answer, "answered"))
        if formatted and _is_about_format(answer.text):
            self._dialect.instructs = True
            return await self._attempt(prompt)
        return Reply(reason=f"the endpoint rejected the prompt with {answer}")

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

    def _entry(self, key: str, prompt: Prompt, reply: Reply, seconds: float) -> Entry:
        text = self._service.scrub(reply.text, LEAST_IN_FILES)
        reply = replace(reply, text=text, reason=self._service.scrub(reply.reason))
        return entry_of(key, self._config.label, prompt, reply, self._schema, seconds)


def _used(reply: Reply, bound: tuple[int, int]) -> tuple[int, int]:
    """Return the tokens in and out that a reply is booked with: their bound where not counted."""
    used_in = bound[0] if reply.tokens_in is None else reply.tokens_in
    return used_in, bound[1] if reply.tokens_out is None else reply.tokens_out


def _is_about_format(text: str) -> bool:
    words = ("response_format", "json_schema", "guided", "structured")
    return any(word in text.lower() for word in words)
