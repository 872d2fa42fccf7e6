"""Ask prompts of any OpenAI-compatible chat endpoint: OpenAI, vLLM, Ollama, LiteLLM, ..."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import httpx

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

POLL_S = 0.01
Rows = Mapping[str, "Future[Entry | str]"]
Tokens = tuple[int, int]  # read and written


class BudgetSpent(Exception):
    """The next request might pass the budget. The message has the spending so far."""


class Budget:
    """Spent tokens, and those that requests under way may still spend, never above the budget.

    A request is reserved at its bound before it is sent, and settled at the endpoint's count, or at
    its bound where that is not known. All in the thread of the event loop.
    """

    def __init__(self, config: ChatConfig) -> None:
        self._config = config
        self.used: Tokens = (0, 0)
        self.under_way: list[Tokens] = []  # bounds of the requests that are not settled

    @property
    def spent(self) -> Spending:
        """Tokens and money so far."""
        return Spending(*self.used, cost_of(*self.used, self._config))

    def reserve(self, bound: Tokens) -> bool:
        """Set so many tokens aside, unless that might pass the budget. Return whether it did."""
        budget, most = self._config.budget, self._config.max_total_tokens
        read, written = map(sum, zip(self.used, bound, *self.under_way, strict=True))
        cost = cost_of(read, written, self._config) or 0
        if budget is not None and cost > budget * (1 + 1e-12):
            return False
        if most is not None and read + written > most:
            return False
        self.under_way.append(bound)
        return True

    def settle(self, bound: Tokens, used: Tokens) -> None:
        """Give back the reserve of one request, and book the tokens that it used."""
        self.under_way.remove(bound)
        self.used = self.used[0] + used[0], self.used[1] + used[1]

    def __str__(self) -> str:
        spent = self.spent
        cost = "" if spent.cost is None else f", {spent.cost:.6g} in currency"
        return f"spent {spent.tokens_in} tokens in, {spent.tokens_out} out{cost}"


class OpenAIModel(LedgerModel):
    """`POST {base_url}/chat/completions`. Every answer and failure goes into `ledger` at once.

    An answer that the ledger holds is never asked for again. Passing troubles (time-outs, dropped
    connections, statuses 408, 409, 425, 429, 5xx) are tried again after doubling waits, or when
    Retry-After says, which then holds for all requests. A prompt that stays without a usable answer
    is FAILED with the reason. One whose first request might pass the budget is NOT_ASKED. Smaller
    ones behind it are asked while they fit, and a later run goes on from there. Statuses 401 to 405
    and redirects, and `give_up_after` prompts in a row without any answer, raise
    LanguageModelError. instructs: the endpoint refused `response_format` once.
    """

    config: ChatConfig

    def __init__(self, config: ChatConfig, ledger: Ledger) -> None:
        self.config, self.ledger = config, ledger
        self.budget = Budget(config)
        self.service = http_retry.Service(config, "chat/completions")
        self.instructs = False

    @property
    def name(self) -> str:
        """Model and address, without secrets."""
        return f"{self.config.model}@{http_retry.without_secrets(self.config.base_url)}"

    @property
    def spent(self) -> Spending:
        """Spending of all calls of this object. Requests without a count stand at their bound."""
        return self.budget.spent

    @contextmanager
    def _answering(
        self, prompts: Mapping[str, Prompt], schema: Schema, advance: Advance
    ) -> Iterator[Iterator[Mapping[str, Entry | str]]]:
        """Ask in a thread with an event loop of its own: the caller may stand in one already."""
        rows: Rows = {key: Future() for key in prompts}

        def answered_rows() -> Iterator[Mapping[str, Entry | str]]:
            for key, row in rows.items():
                entry = row.result()
                advance(1)
                yield {key: entry}

        if not prompts:
            yield answered_rows()
            return
        self.service.check_key_is_set()
        loop = asyncio.new_event_loop()
        task = loop.create_task(self._ask_all(prompts, rows, schema))
        thread = threading.Thread(target=_run, args=(loop, task, rows), daemon=True)
        thread.start()
        try:
            yield answered_rows()
        finally:
            with suppress(RuntimeError):  # the loop is closed: all is answered
                loop.call_soon_threadsafe(task.cancel)
            thread.join()

    async def _ask_all(self, prompts: Mapping[str, Prompt], rows: Rows, schema: Schema) -> None:
        """Ask `concurrency` prompts at a time."""
        todo, n = iter(prompts.items()), min(self.config.concurrency, len(prompts))
        async with self.service.client(n, self.config.connect_timeout_s) as client:
            asker = Asker(self, schema, client)

            async def work() -> None:
                for key, prompt in todo:
                    try:
                        entry = await asker.ask(key, prompt)
                    except BudgetSpent as spent:
                        rows[key].set_result(str(spent))  # a smaller one behind it may still fit
                        await asyncio.sleep(0)
                        continue
                    self.ledger.put(entry)
                    asker.check_alive()  # before: whoever waits for this one is to get the error
                    rows[key].set_result(entry)

            async with asyncio.TaskGroup() as group:
                for _ in range(n):
                    group.create_task(work())


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None], rows: Rows) -> None:
    """Run a task to its end. Rows that it left get its error, or "" where it was cancelled."""
    error: BaseException | None = None
    try:
        loop.run_until_complete(task)
    except asyncio.CancelledError:
        pass
    except BaseException as raised:
        error = raised
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        for row in rows.values():
            if not row.done():
                row.set_exception(error) if error else row.set_result("")


class Asker:
    """Asks prompts of one run, any number at once, in one event loop."""

    def __init__(self, model: OpenAIModel, schema: Schema, client: httpx.AsyncClient) -> None:
        self._model, self._schema, self._client = model, schema, client
        self._config, self._budget, self._service = model.config, model.budget, model.service
        self._pace = http_retry.Pace(self._config.requests_per_minute)
        self._gate = asyncio.Lock()
        self._unanswered = 0

    async def ask(self, key: str, prompt: Prompt) -> Entry:
        """Return the row for the ledger.

        Raises BudgetSpent when nothing was sent, and LanguageModelError when going on is useless.
        """
        start = time.monotonic()
        tries = http_retry.Tries(self._config.attempts, self._config.backoff_s)
        try:
            reply = await http_retry.persist(lambda: self._attempt(prompt), tries)
        except BudgetSpent as spent:
            if not tries.n:
                raise
            reason = f"no answer in {tries.n} attempts, and {spent}; last: {tries.problem}"
            reply = Reply(reason=reason, unanswered=True)
        else:
            self._unanswered = 0 if reply else self._unanswered + 1
            reply = reply or Reply(reason=str(tries), unanswered=True)
        text = self._service.scrub(reply.text, LEAST_IN_FILES)
        reply = replace(reply, text=text, reason=self._service.scrub(reply.reason))
        return self._model._entry(key, prompt, reply, self._schema, time.monotonic() - start)

    def check_alive(self) -> None:
        """Raise LanguageModelError after too many prompts in a row without any answer."""
        if self._unanswered >= self._config.give_up_after:
            raise LanguageModelError(
                f"{self._service.shown} left {self._unanswered} prompts in a row without an "
                f"answer, each after {self._config.attempts} attempts (the ledger has the reasons)."
                " What was answered so far is kept: run the same command again when it is back."
            )

    async def _attempt(self, prompt: Prompt) -> Reply | http_retry.Trouble:
        formatted = self._schema is not None and not self._model.instructs
        bound = tokens_in(prompt, self._schema, most_tokens), answer_bound(prompt, self._config)
        await self._admit(bound)
        used = bound  # a request that is cut off may be charged
        try:
            answer = await self._service.post(self._client, self._payload(prompt, formatted))
            if isinstance(answer, str):
                reply = read_reply(answer, max_tokens=bound[1])
                counts = reply.tokens_in, reply.tokens_out
                read, written = (bound[i] if n is None else n for i, n in enumerate(counts))
                used = read, written
                return reply
            if isinstance(answer, http_retry.Refusal) or not answer.may_charge:
                used = (0, 0)
        except http_retry.AnswerTooLong as error:
            return Reply(reason=str(error))
        finally:
            self._budget.settle(bound, used)
        if isinstance(answer, http_retry.Trouble):
            if answer.wait_s:
                self._pace.pause(answer.wait_s)
            return answer
        if answer.for_all:
            raise LanguageModelError(self._service.why_useless(answer, "answered"))
        words = ("response_format", "json_schema", "guided", "structured")
        if formatted and any(word in answer.text.lower() for word in words):
            self._model.instructs = True
            return await self._attempt(prompt)
        return Reply(reason=f"the endpoint rejected the prompt with {answer}")

    async def _admit(self, bound: Tokens) -> None:
        """Wait until rate and budget allow a request. First come, first served."""
        async with self._gate:
            while not self._budget.reserve(bound):
                if not self._budget.under_way:
                    raise BudgetSpent(f"the next request might pass the budget: {self._budget}")
                await asyncio.sleep(POLL_S)
            try:
                await self._pace.turn()
            except asyncio.CancelledError:
                self._budget.settle(bound, (0, 0))
                raise

    def _payload(self, prompt: Prompt, formatted: bool) -> dict[str, Any]:
        config, system = self._config, prompt.system
        if self._schema and not formatted:
            system = instructed(system, self._schema)
        messages = [{"role": "user", "content": http_retry.without_half_pairs(prompt.text)}]
        if system:
            messages.insert(0, {"role": "system", "content": http_retry.without_half_pairs(system)})
        payload: dict[str, Any] = {**config.extra, "model": config.model, "messages": messages}
        payload[config.max_tokens_field] = answer_bound(prompt, config)
        if config.temperature is not None:
            payload["temperature"] = config.temperature
        if self._schema and formatted:
            payload["response_format"] = response_format(self._schema)
        return payload
