"""Answers from any OpenAI-compatible chat endpoint: OpenAI, vLLM, Ollama, LiteLLM, ..."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from argus.http_retry import Service, without_secrets
from argus.llm.ask import Asker, BudgetSpent, Dialect
from argus.llm.background import Background, Deliver
from argus.llm.budget import Budget, Spending
from argus.llm.config import ChatConfig
from argus.llm.ledger import Entry, Ledger
from argus.llm.outcomes import outcome_of
from argus.llm.plan import Plan, make_plan
from argus.llm.protocol import M, Outcome, Prompt
from argus.progress import progress

if TYPE_CHECKING:
    from pydantic import BaseModel


class OpenAIModel:
    """`POST {base_url}/chat/completions`; every answer and failure goes into `ledger` at once.

    What the ledger holds as answered is never asked again. Passing troubles (time-outs, dropped
    connections, statuses 408, 409, 425, 429, 5xx) are tried again after doubling waits, or when
    Retry-After says, which then holds for all requests. A prompt that stays without a usable
    answer is FAILED with the reason. One whose first request might pass the budget is NOT_ASKED;
    smaller ones behind it are asked while they fit, and a later run goes on from there. Statuses
    401 to 405 and redirects, and `give_up_after` prompts in a row without any answer, raise
    LanguageModelError.
    """

    def __init__(self, config: ChatConfig, ledger: Ledger) -> None:
        self.config, self.ledger = config, ledger
        self._budget = Budget(config)
        self._dialect = Dialect()
        self._service = Service(config, "chat/completions")

    @property
    def name(self) -> str:
        """Model and address, without secrets."""
        return f"{self.config.model}@{without_secrets(self.config.base_url)}"

    @property
    def spent(self) -> Spending:
        """What all calls of this object spent; requests without a count stand at their bound."""
        return self._budget.spent

    @overload
    def complete(
        self, prompts: Sequence[Prompt], *, schema: None = None
    ) -> Iterator[Outcome[str]]: ...

    @overload
    def complete(self, prompts: Sequence[Prompt], *, schema: type[M]) -> Iterator[Outcome[M]]: ...

    def complete(
        self, prompts: Sequence[Prompt], *, schema: type[BaseModel] | None = None
    ) -> Iterator[Any]:
        """Yield one outcome per prompt, in the order of the prompts; equal prompts are asked once.

        Nothing is sent before the first outcome is taken. From then on requests run on their own,
        `concurrency` at a time, until all are answered or the iterator is closed, which cancels
        those under way. Raises LanguageModelError, InputError where there is no key for OpenAI's
        own servers and something is to be asked, and ArgusError when the ledger cannot be used.
        """
        plan = make_plan(prompts, self.ledger, self.config, schema)
        if plan.ask:
            self._service.check_key_is_set()
        run = _Run(self, plan, schema)
        distinct = len(set(plan.keys))
        with progress(f"asking {self.config.model}", distinct, done=distinct - len(plan.ask)) as on:
            work: Background[Entry | str] | None = None
            try:
                work = Background(run.work) if plan.ask else None
                for prompt, entry, cached in run.entries(prompts, work):
                    on(0 if cached else 1)
                    yield outcome_of(prompt, entry, schema, cached)
            finally:
                if work is not None:
                    work.stop()


class _Run:
    """The asking behind one call of `complete`."""

    def __init__(self, model: OpenAIModel, plan: Plan, schema: type[BaseModel] | None) -> None:
        self._model, self._plan, self._schema = model, plan, schema
        self._todo = iter(plan.ask.items())

    def entries(
        self, prompts: Sequence[Prompt], work: Background[Entry | str] | None
    ) -> Iterator[tuple[Prompt, Entry | str, bool]]:
        """Yield each prompt with its row, or why it was not asked, and whether it is cached."""
        left = Counter(self._plan.keys)
        again: dict[str, Entry | str] = {}
        for prompt, key in zip(prompts, self._plan.keys, strict=True):
            left[key] -= 1
            if work is None or key not in self._plan.ask:
                yield prompt, self._model.ledger.get(key) or "", True
                continue
            repeated = key in again
            entry = again.pop(key) if repeated else work.take(key) or ""
            if left[key]:
                again[key] = entry
            yield prompt, entry, repeated and isinstance(entry, Entry)

    async def work(self, deliver: Deliver[Entry | str]) -> None:
        """Ask all that is to be asked, `concurrency` at a time."""
        config = self._model.config
        n = min(config.concurrency, len(self._plan.ask))
        budget, dialect, service = self._model._budget, self._model._dialect, self._model._service
        async with service.client(n, config.connect_timeout_s) as client:
            asker = Asker(config, budget, self._schema, dialect, service, client)
            async with asyncio.TaskGroup() as group:
                for _ in range(n):
                    group.create_task(self._worker(asker, deliver))

    async def _worker(self, asker: Asker, deliver: Deliver[Entry | str]) -> None:
        for key, prompt in self._todo:
            try:
                entry = await asker.ask(key, prompt)
            except BudgetSpent as spent:
                deliver(key, str(spent))  # a smaller one behind it may still fit
                await asyncio.sleep(0)
                continue
            self._model.ledger.put(entry)
            asker.check_alive()  # before: whoever waits for this one is to get the error
            deliver(key, entry)
