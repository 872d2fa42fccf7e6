"""Ask prompts of an OpenAI-compatible chat endpoint: OpenAI, vLLM, Ollama, LiteLLM, ...

`OpenAIModel`: prompts -> outcomes, several at once, within a rate and a budget. Answers go into the
ledger as they come. `argus.llm.model` defines prompts and outcomes and parses the answers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
from anyio.from_thread import start_blocking_portal

from argus import http_retry
from argus.hidden import LEAST_IN_FILES
from argus.llm.config import ChatConfig
from argus.llm.ledger import Entry, Ledger
from argus.llm.model import (
    LanguageModelError,
    LedgerModel,
    Prompt,
    Reply,
    Schema,
    Spending,
    answer_bound,
    cost_of,
    instructed,
    most_tokens,
    read_reply,
    response_format,
    tokens_in,
)
from argus.progress import Advance
from argus.visible import without_half_pairs

POLL_S = 0.01
CONNECT_TIMEOUT_S = 10.0
Rows = Mapping[str, "Future[Entry | str]"]
Tokens = tuple[int, int]  # read and written


class BudgetSpent(Exception):
    """The next request might pass the budget. The message has the spending so far."""


class OpenAIModel(LedgerModel):
    """`POST {base_url}/chat/completions`. Every answer and failure goes into `ledger` at once.

    An answer that the ledger holds is never asked for again. Passing troubles (time-outs, dropped
    connections, statuses 408, 409, 425, 429, 5xx) are tried again after doubling waits, or when
    Retry-After says, which then holds for all requests. A prompt that stays without a usable answer
    is FAILED with the reason. One whose first request might pass the budget is NOT_ASKED. Smaller
    ones behind it are asked while they fit, and a later run goes on from there. Statuses 401 to 405
    and redirects, and `give_up_after` prompts in a row without any answer, raise
    LanguageModelError.

    used: tokens so far, at the endpoint's count, or at a request's bound where that is not known.
    under_way: bounds of the requests that are not settled. instructs: the endpoint refused
    `response_format` once. unanswered: prompts in a row without any answer.
    """

    config: ChatConfig

    def __init__(self, config: ChatConfig, ledger: Ledger) -> None:
        self.config, self.ledger = config, ledger
        self.service = http_retry.Service(config, "chat/completions")
        self.pace = http_retry.Pace(config.requests_per_minute)
        self.used: Tokens = (0, 0)
        self.under_way: list[Tokens] = []
        self.instructs, self.unanswered = False, 0

    @property
    def name(self) -> str:
        """Model and address, without secrets."""
        return f"{self.config.model}@{http_retry.without_secrets(self.config.base_url)}"

    @property
    def spent(self) -> Spending:
        """Spending of all calls of this object. Requests without a count stand at their bound."""
        return Spending(*self.used, cost_of(*self.used, self.config))

    def can_afford(self, bound: Tokens) -> bool:
        """Tell whether a request fits the budget, with all under way at their bounds."""
        budget, most = self.config.budget, self.config.max_total_tokens
        read, written = map(sum, zip(self.used, bound, *self.under_way, strict=True))
        cost = cost_of(read, written, self.config) or 0
        is_paid = budget is None or cost <= budget * (1 + 1e-12)
        return is_paid and (most is None or read + written <= most)

    @contextmanager
    def _answering(
        self, prompts: Mapping[str, Prompt], schema: Schema, advance: Advance
    ) -> Iterator[Iterator[Mapping[str, Entry | str]]]:
        """Ask in a thread with an event loop of its own: the caller may stand in one already."""
        rows: Rows = {key: Future() for key in prompts}

        def settle(task: Future[None]) -> None:
            error = None if task.cancelled() else task.exception()
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            for row in rows.values():
                if not row.done():
                    row.set_exception(error) if error else row.set_result("")

        def answered_rows() -> Iterator[Mapping[str, Entry | str]]:
            for key, row in rows.items():
                entry = row.result()
                advance(1)
                yield {key: entry}

        if not prompts:
            yield answered_rows()
            return
        self.service.check_key_is_set()
        with start_blocking_portal() as portal:
            task = portal.start_task_soon(self._ask_all, prompts, rows, schema)
            task.add_done_callback(settle)
            try:
                yield answered_rows()
            finally:
                task.cancel()

    async def _ask_all(self, prompts: Mapping[str, Prompt], rows: Rows, schema: Schema) -> None:
        """Ask `concurrency` prompts at a time."""
        todo, n = iter(prompts.items()), min(self.config.concurrency, len(prompts))
        self.unanswered = 0
        async with self.service.client(n, CONNECT_TIMEOUT_S) as client:

            async def work() -> None:
                for key, prompt in todo:
                    rows[key].set_result(await self._ask(client, key, prompt, schema))

            async with asyncio.TaskGroup() as group:
                for _ in range(n):
                    group.create_task(work())

    async def _ask(
        self, client: httpx.AsyncClient, key: str, prompt: Prompt, schema: Schema
    ) -> Entry | str:
        """Ask a prompt. Return its row of the ledger, or the reason why nothing was sent."""
        start, reply, why = time.monotonic(), None, ""
        tries = http_retry.Tries(self.config.attempts, self.config.backoff_s)
        try:
            reply = await http_retry.persist(lambda: self._attempt(client, prompt, schema), tries)
        except BudgetSpent as spent:
            if not tries.n:
                return str(spent)
            why = f", and {spent}"
        self.unanswered = 0 if reply else self.unanswered + 1
        reply = reply or Reply(reason=f"{tries}{why}", unanswered=True)
        text = self.service.scrub(reply.text, LEAST_IN_FILES)
        reply = replace(reply, text=text, reason=self.service.scrub(reply.reason))
        entry = self._entry(key, prompt, reply, schema, time.monotonic() - start)
        self.ledger.put(entry)
        if self.unanswered >= self.config.give_up_after:
            raise LanguageModelError(
                f"{self.service.shown} left {self.unanswered} prompts in a row without an answer, "
                f"each after {self.config.attempts} attempts (the ledger has the reasons). What "
                "was answered so far is kept: run the same command again when it is back."
            )
        return entry

    async def _attempt(
        self, client: httpx.AsyncClient, prompt: Prompt, schema: Schema
    ) -> Reply | http_retry.Trouble:
        """Send one request, when rate and budget allow it."""
        bound = tokens_in(prompt, schema, most_tokens), answer_bound(prompt, self.config)
        while not self.can_afford(bound):
            if not self.under_way:
                cost = "" if self.spent.cost is None else f", {self.spent.cost:.6g} in currency"
                tokens = f"spent {self.used[0]} tokens in, {self.used[1]} out{cost}"
                raise BudgetSpent(f"the next request might pass the budget: {tokens}")
            await asyncio.sleep(POLL_S)
        self.under_way.append(bound)
        used, formatted = (0, 0), schema is not None and not self.instructs
        try:
            await self.pace.turn()
            used = bound  # a request that is cut off may be charged
            answer = await self.service.post(client, self._payload(prompt, schema, formatted))
            if isinstance(answer, str):
                reply = read_reply(answer, max_tokens=bound[1])
                used = reply.tokens_in or bound[0], reply.tokens_out or bound[1]
                return reply
            if isinstance(answer, http_retry.Refusal) or not answer.may_charge:
                used = (0, 0)
        except http_retry.AnswerTooLong as error:
            return Reply(reason=str(error))
        finally:
            self.under_way.remove(bound)
            self.used = self.used[0] + used[0], self.used[1] + used[1]
        if isinstance(answer, http_retry.Trouble):
            self.pace.pause(answer.wait_s or 0)
            return answer
        if answer.for_all:
            raise LanguageModelError(self.service.why_useless(answer, "answered"))
        words = ("response_format", "json_schema", "guided", "structured")
        if formatted and any(word in answer.text.lower() for word in words):
            self.instructs = True
            return await self._attempt(client, prompt, schema)
        return Reply(reason=f"the endpoint rejected the prompt with {answer}")

    def _payload(self, prompt: Prompt, schema: Schema, formatted: bool) -> dict[str, Any]:
        config, system = self.config, prompt.system
        if schema and not formatted:
            system = instructed(system, schema)
        parts = (("system", system), ("user", prompt.text))
        messages = [
            {"role": role, "content": without_half_pairs(text)}
            for role, text in parts
            if text or role == "user"
        ]
        payload: dict[str, Any] = {**config.extra, "model": config.model, "messages": messages}
        payload[config.max_tokens_field] = answer_bound(prompt, config)
        if config.temperature is not None:
            payload["temperature"] = config.temperature
        if schema and formatted:
            payload["response_format"] = response_format(schema)
        return payload
